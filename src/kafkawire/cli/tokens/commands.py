"""``kafkawire tokens list`` and ``create``."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, ClassVar, Final

import typer

from kafkawire.admin import DelegationToken
from kafkawire.cli.access.changes import ChangeOptions, OutcomeRow, Status, confirm, print_outcomes
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.argument_texts import milliseconds_of
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.times import time_of
from kafkawire.cli.tables.formats import STANDARD_OUTPUT
from kafkawire.column_roles import ColumnRole

_ONLY_OWNER: Final = 0o600


class TokenRow(Row, frozen=True):
    """A delegation token, without its secret.

    Attributes:
        token_id: its id, the user name of a login.
        owner: the principal of clients with the token.
        expires: until when it is valid unless it is renewed.
        renewable_until: until when it can be renewed at most.
        renewers: who may renew it, beside the owner.
        issued: when it was created.
        requester: who has created it; None from brokers before 3.3.
    """

    token_id: str
    owner: str
    expires: datetime | None
    renewable_until: datetime | None
    renewers: tuple[str, ...]
    issued: datetime | None
    requester: str | None

    ROLES: ClassVar = {"issued": ColumnRole.DETAIL, "requester": ColumnRole.DETAIL}


OwnersOption = Annotated[
    list[str] | None, typer.Option("--owner", metavar="PRINCIPAL", help="Tokens of this owner; repeatable.")
]
OwnerOption = Annotated[
    str | None, typer.Option(metavar="PRINCIPAL", help="Owner of the token, such as User:alice; by default you.")
]
RenewersOption = Annotated[
    list[str] | None, typer.Option("--renewer", metavar="PRINCIPAL", help="Who else may renew it; repeatable.")
]
LifetimeOption = Annotated[
    str | None, typer.Option(metavar="DURATION", help="Longest lifetime, such as 7d; by default that of the brokers.")
]
SecretOption = Annotated[
    Path,
    typer.Option(metavar="FILE", help="File for the HMAC, the password of a login; only you can read it. - prints it."),
]


@cluster_command
def list_(cluster: Cluster, owner: OwnersOption = None, output: FormatOption = RowFormat.TABLE) -> None:
    """List the tokens that you own, may renew or may describe."""
    with cluster.connected() as client:
        found = client.describe_delegation_token(owner or None, timeout=cluster.options.timeout)
    print_rows([_row(each) for each in found], TokenRow, output, empty="no tokens")


@cluster_command
def create(
    cluster: Cluster,
    hmac_out: SecretOption,
    owner: OwnerOption = None,
    renewer: RenewersOption = None,
    max_lifetime: LifetimeOption = None,
    *,
    options: ChangeOptions,
) -> None:
    """Create a token; its secret, the HMAC, is written to a file.

    --dry-run is simulated: the names and the file are checked, and whether the brokers have tokens for this login.
    """
    dry_run, yes, output = options
    lifetime = None if max_lifetime is None else milliseconds_of(max_lifetime, "--max-lifetime")
    to_output = hmac_out == STANDARD_OUTPUT
    _check_file(hmac_out)
    _check_principals("--owner", () if owner is None else (owner,))
    _check_principals("--renewer", renewer or ())
    if dry_run:
        with cluster.connected() as client:
            client.describe_delegation_token([], timeout=cluster.options.timeout)
        reason = f"simulated: its secret would be in {'standard output' if to_output else hmac_out}"
        item = f"of {owner or 'this login'}"
        print_outcomes([OutcomeRow(item, "token", "create", Status.WOULD_BE_DONE, reason=reason)], output)
        return
    confirm(cluster, "create a token", yes=yes, destructive=False)
    with cluster.connected() as client:
        token = client.create_delegation_token(
            owner=owner, renewers=renewer or (), max_lifetime_ms=lifetime, timeout=cluster.options.timeout
        )
    text = base64.b64encode(token.hmac).decode()
    if to_output:
        print(text)
        print(f"created token {token.token_id}", file=sys.stderr)
        return
    with open(hmac_out, "x", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, _ONLY_OWNER)) as file:
        file.write(f"{text}\n")
    print_rows([_row(token)], TokenRow, output)


def _check_file(path: Path) -> None:
    if path == STANDARD_OUTPUT:
        return
    if path.exists() or path.is_symlink():
        raise CommandError(f"--hmac-out: {path} exists; give the name of a new file", ExitCode.USAGE)
    if not os.access(path.parent, os.W_OK):
        message = f"--hmac-out: {path.parent} is no folder that you can write to; name a file in another one"
        raise CommandError(message, ExitCode.USAGE)


def _check_principals(option: str, principals: Iterable[str]) -> None:
    for each in principals:
        kind, _, name = each.partition(":")
        if not kind or not name:
            raise CommandError(f"{option}: {each!r}: write TYPE:NAME, such as User:alice", ExitCode.USAGE)


def _row(token: DelegationToken) -> TokenRow:
    return TokenRow(
        token_id=token.token_id,
        owner=token.owner,
        expires=time_of(token.expiry_timestamp_ms),
        renewable_until=time_of(token.max_timestamp_ms),
        renewers=token.renewers,
        issued=time_of(token.issue_timestamp_ms),
        requester=token.requester,
    )
