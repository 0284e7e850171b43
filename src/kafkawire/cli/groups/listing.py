"""``kafkawire groups list``."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from kafkawire.admin import Gathered, GroupListing, GroupState, GroupType
from kafkawire.cli.access.changes import WatchedFailures, failures_printed, unless_failed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.watching import WatchOption, print_watched


class GroupRow(Row, frozen=True):
    """A group in a list.

    Attributes:
        group: its id.
        type: classic, consumer, share or streams; None from brokers before 3.8.
        state: its state.
        protocol_type: consumer, share, connect ...; empty for a group that only keeps offsets.
    """

    group: str
    type: str | None
    state: str | None
    protocol_type: str


PatternsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATTERN...", help="Names, with * and ? for any letters; by default all."),
]
StatesOption = Annotated[
    list[GroupState] | None,
    typer.Option("--state", help="Only groups in this state; repeatable.", case_sensitive=False),
]
TypesOption = Annotated[
    list[GroupType] | None, typer.Option("--type", help="Only groups of this type; repeatable.", case_sensitive=False)
]


@cluster_command
def run(
    cluster: Cluster,
    patterns: PatternsArgument = None,
    state: StatesOption = None,
    type: TypesOption = None,  # noqa: A002 the name of the option
    watch: WatchOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """List groups of every type."""
    with cluster.connected() as client:

        def read() -> Gathered[GroupListing]:
            return client.list_groups(states=state or (), types=type or (), timeout=cluster.options.timeout)

        if watch is not None:
            failures = WatchedFailures()

            def rows() -> Iterator[GroupRow]:
                found = read()
                failures.checked(found.by_node)
                return _rows(found, patterns)

            print_watched(rows, GroupRow, output, watch, empty="no groups", failures=failures.lines)
        found = read()
    with failures_printed(found.by_node):
        print_rows(_rows(found, patterns), GroupRow, output, empty=unless_failed(found.by_node, "no groups"))


def _rows(found: Gathered[GroupListing], patterns: Sequence[str] | None) -> Iterator[GroupRow]:
    for each in sorted(found.values(), key=lambda group: group.group_id):
        if not patterns or any(fnmatch.fnmatchcase(each.group_id, pattern) for pattern in patterns):
            yield GroupRow(each.group_id, each.type, each.state, each.protocol_type)
