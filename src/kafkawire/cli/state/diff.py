"""``kafkawire diff``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Final

import typer

from kafkawire.admin import acl_effects
from kafkawire.cli.access.cluster_command import GivenOptions, clusters_command
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FindingFormat, FindingFormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.state.comparison_sarif import sarif_of
from kafkawire.cli.state.comparison_text import comparison_lines, print_lines
from kafkawire.cli.state.reading_cluster import print_unread
from kafkawire.cli.state.selection_options import OnlyOption, PrincipalOption, TopicPrefixOption, selected
from kafkawire.cli.state.sides import (
    SIDES_HELP,
    GivenClusterSide,
    ReadSide,
    Side,
    dates_of_log,
    read_sides,
    side_of,
)
from kafkawire.column_roles import ColumnRole
from kafkawire.declared.comparison import Difference, DifferingItem, compare_states
from kafkawire.declared.planned import Kind
from kafkawire.declared.unread import Unread, without_unread
from kafkawire.declared.wording import item_in_words

_DATES: Final = "Two dates of a log"


class DifferenceRow(Row, frozen=True):
    """A value in which two states differ; an item without values, such as an ACL, has one row.

    Attributes:
        kind: of the item.
        item: its name, or the ACL in words.
        change: whether it was added, removed or changed from the left side to the right one.
        name: of the value.
        left: None if it is not set there.
        right: likewise.
    """

    kind: Kind
    item: str
    change: Difference
    name: str | None = None
    left: str | None = None
    right: str | None = None

    ROLES: ClassVar = {"item": ColumnRole.KEY}

    @property
    def row_name(self) -> str:
        """The item."""
        return self.item


@clusters_command
def run(
    options: GivenOptions,
    left: Annotated[
        str | None, typer.Argument(metavar="LEFT", help=f"The first side: {SIDES_HELP}. Left out with --log.")
    ] = None,
    right: Annotated[
        str | None,
        typer.Argument(metavar="RIGHT", help="The second side, the same; by default the cluster of the options."),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="A metadata log that is compared at two dates: short for log:DIR@FROM log:DIR@TO.",
            rich_help_panel=_DATES,
        ),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option("--from", metavar="DATE", help="The first date of --log.", rich_help_panel=_DATES),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="DATE", help="The second date of --log; by default its end.", rich_help_panel=_DATES
        ),
    ] = None,
    only: OnlyOption = None,
    topic_prefix: TopicPrefixOption = None,
    principal: PrincipalOption = None,
    internal: Annotated[bool, typer.Option("--internal", help="Topics of Kafka itself too.")] = False,
    assignments: Annotated[
        bool, typer.Option("--assignments", help="Compare which brokers have the partitions of topics too.")
    ] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 4 if the sides differ.")] = False,
    output: FindingFormatOption = FindingFormat.TABLE,
) -> None:
    """Compare two clusters, documents, or dates of a cluster's metadata log.

    Says what the right side has more, less and otherwise than the left one. What a document does not say differs from
    nothing. Secrets are not compared. What differing ACLs mean is said of ACLs alone: without super.users, and with
    allow.everyone.if.no.acl.found as false. The form "table" is a text by kind and item; "wide" is a table of all
    values. SARIF has a result for each item that differs, at its line if a document declares it.

    Exit code: 0, whether the sides differ or not; with --exit-code 4 if they differ; 1 if a side cannot be read.
    """
    selection = selected(only, topic_prefix, principal, internal=internal)
    if log is None and (begin or end):
        raise CommandError("--from and --to are dates of --log; give it too", ExitCode.USAGE)
    first, second = _sides(left, right, options) if log is None else _dates(log, begin, end, left, options)
    one, other = read_sides(first, second, options, selection, whole=only is not None)
    unread = _said_unread(one, other)
    states = [without_unread(side.state, unread) if unread else side.state for side in (one, other)]
    items = compare_states(*states, with_assignments=assignments)
    if output is FindingFormat.SARIF:
        sys.stdout.write(sarif_of(one, other, items))
    elif output is FindingFormat.TABLE and items:
        # The rights of a principal follow from the ACLs of all principals.
        effects = () if principal else acl_effects(*(state.acls for state in states)).sentences()
        print_lines(comparison_lines(one.name, other.name, items, effects))
    else:
        form = output.of_rows
        print_rows(_rows(items, form), DifferenceRow, form, empty="no differences")
    if exit_code and items:
        raise typer.Exit(ExitCode.CHANGES)


def _sides(left: str | None, right: str | None, options: GivenOptions) -> tuple[tuple[str, Side], tuple[str, Side]]:
    if left is None:
        raise CommandError("there is nothing to compare; give a side, or --log with --from", ExitCode.USAGE)
    return (left, side_of(left)), _second(right, options)


def _dates(
    log: str, begin: str | None, end: str | None, left: str | None, options: GivenOptions
) -> tuple[tuple[str, Side], tuple[str, Side]]:
    if left is not None:
        raise CommandError("--log with --from and --to is both sides; leave out LEFT and RIGHT", ExitCode.USAGE)
    if _name_a_cluster(options):
        message = "--log with --from and --to is both sides; leave out the options that name a cluster"
        raise CommandError(message, ExitCode.USAGE)
    return dates_of_log(log, begin, end)


def _second(right: str | None, options: GivenOptions) -> tuple[str, Side]:
    if right is None:
        named = options.bootstrap_server or options.bootstrap_controller or options.context
        return named or "the cluster", GivenClusterSide()
    if _name_a_cluster(options):
        message = "the options name a cluster, which is the right side where RIGHT is not given; give one of both"
        raise CommandError(message, ExitCode.USAGE)
    return right, side_of(right)


def _name_a_cluster(options: GivenOptions) -> bool:
    return any((options.bootstrap_server, options.bootstrap_controller, options.context))


def _said_unread(*sides: ReadSide) -> tuple[Unread, ...]:
    """What could not be read of one of the sides, after it is said on standard error."""
    for side in sides:
        print_unread(side.unread, side.name)
    return tuple(unread for side in sides for unread in side.unread)


def _rows(items: Sequence[DifferingItem], form: RowFormat) -> Iterator[DifferenceRow]:
    for item in items:
        words = item_in_words(item.item)
        values: list[tuple[str | None, str | None, str | None]]
        values = [(value.name, value.before, value.after) for value in item.values]
        if not values or form is RowFormat.NAME:
            values = [(None, None, None)]
        for name, before, after in values:
            yield DifferenceRow(item.kind, words, item.difference, name, before, after)
