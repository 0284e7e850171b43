"""``kafkawire acls who-could``."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated, ClassVar, Final

import typer

from kafkawire.cli.acls.asking import OperationArgument, ResourceArgument, acl_in_words, operation_named
from kafkawire.cli.acls.selecting import PANEL, resource_named
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.principals import check_principals
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.tables.table_batches import command_errors
from kafkawire.column_roles import ColumnRole
from kafkawire.logs.option_records import TIME, value_of
from kafkawire.logs.past_acls import read_past_acls
from kafkawire.model.acls.past_rights import PastRight, who_could

_TIMES: Final = "Times"


class PastRightRow(Row, frozen=True):
    """A time during which a principal could do an operation on a resource, or was denied what an ACL allowed it.

    Attributes:
        principal: ``User:alice``; ``User:*`` for all that have no row and are not in ``excepted``.
        host: from which address; ``*`` for all that have no row of the principal and are not in ``excepted_hosts``.
        valid_from: since when; null if already when the log begins, or for a super user.
        valid_to: until when, excluded; null if still when the log ends, or for a super user.
        allowed: whether it could; false only with ``--denied``.
        reason: the reason of the decision.
        acl: the ACL that allows it, in words.
        denied_by: the ACL that denied it all the same, in words.
        excepted: principals that could not, for all of this time or a part of it, where it is about all.
        excepted_hosts: hosts of which this does not hold, where it is about all.
    """

    principal: str
    host: str
    valid_from: datetime | None
    valid_to: datetime | None
    allowed: bool
    reason: str
    acl: str | None
    denied_by: str | None
    excepted: tuple[str, ...] = ()
    excepted_hosts: tuple[str, ...] = ()

    ROLES: ClassVar = {
        "host": ColumnRole.KEY,
        "valid_from": ColumnRole.KEY,
        "valid_to": ColumnRole.KEY,
        "reason": ColumnRole.DETAIL,
        "excepted": ColumnRole.DETAIL,
        "excepted_hosts": ColumnRole.DETAIL,
    }
    OPTIONAL: ClassVar = frozenset({"denied_by"})

    @classmethod
    def of(cls, right: PastRight) -> PastRightRow:
        """The row of a right."""
        return cls(
            right.principal,
            right.host,
            right.valid_from,
            right.valid_to,
            right.allowed,
            right.reason.value,
            acl_in_words(right.acl),
            acl_in_words(right.denied_by),
            right.excepted,
            right.excepted_hosts,
        )


def run(
    operation: OperationArgument,
    resource: ResourceArgument,
    *,
    log: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="The metadata log: the folder __cluster_metadata-0, a folder with it, or a URI."
        ),
    ],
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help="Who could at this time, such as 2026-03-01T12:30Z. By default at any time of the log.",
            rich_help_panel=_TIMES,
        ),
    ] = None,
    from_time: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Who could at some time from this one on.", rich_help_panel=_TIMES),
    ] = None,
    until_time: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Who could at some time before this one.", rich_help_panel=_TIMES),
    ] = None,
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address of the client; by default rows name the addresses.")
    ] = None,
    denied: Annotated[
        bool, typer.Option("--denied", help="Also list when an ACL allowed it and another one denied it.")
    ] = False,
    super_user: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE:NAME",
            help="A principal of the brokers' super.users, which needs no ACLs; repeatable.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    everyone: Annotated[
        bool,
        typer.Option(
            "--allow-everyone-if-no-acl/--deny-everyone-if-no-acl",
            help="The brokers' allow.everyone.if.no.acl.found.",
            rich_help_panel=PANEL,
        ),
    ] = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """List who could do an operation on a resource at a date or between two, since when, until when, and by which ACL.

    It reads a copy of the cluster's metadata log, and needs no broker. The resource need not have existed. A row of
    User:* is about every principal without a row of its own. The log does not have super.users, so name them.

    Exit code: 0, whether someone could or not; 1 if the log is damaged or cannot be read; 2 for wrong usage, and for a
    time of which the log does not know all ACLs.
    """
    resource_type, name = resource_named(resource)
    wanted = operation_named(operation, resource_type)
    check_principals("--super-user", super_user)
    with command_errors():
        since, until = _asked_time(as_of, from_time, until_time)
        history = read_past_acls(log, since)
    if super_user is None:
        print("kafkawire: a log does not have super.users; give --super-user, or rows leave them out", file=sys.stderr)
    rights = who_could(
        history,
        wanted,
        resource_type,
        name,
        since=since,
        until=until,
        host=host,
        super_users=super_user or (),
        allow_everyone_if_no_acl=everyone,
    )
    rows = [PastRightRow.of(each) for each in rights if each.allowed or denied]
    print_rows(rows, PastRightRow, output, empty="no principal could do it")


def _asked_time(
    as_of: str | None, from_time: str | None, until_time: str | None
) -> tuple[datetime | None, datetime | None]:
    """The first and the last time of the question; equal for one moment.

    Raises:
        CommandError: the options exclude each other, or are in the wrong order.
        OptionError: a time is malformed.
    """
    given = {"as_of": as_of, "from_time": from_time, "until_time": until_time}
    times = {option: value_of(text, TIME, option) for option, text in given.items() if text is not None}
    if as_of is not None and len(times) > 1:
        raise CommandError("--as-of is one time; give it, or --from-time and --until-time", ExitCode.USAGE)
    since, until = times.get("as_of", times.get("from_time")), times.get("as_of", times.get("until_time"))
    if since is not None and until is not None and until < since:
        raise CommandError("--until-time is before --from-time; give the earlier one to --from-time", ExitCode.USAGE)
    return since, until
