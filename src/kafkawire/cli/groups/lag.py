"""``kafkawire groups lag``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

import typer

from kafkawire.admin import GroupLag, IsolationLevel, Results
from kafkawire.cli.access.changes import WatchedFailures, failures_printed, unless_failed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.groups.describing import known_groups
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.watching import WatchOption, print_watched
from kafkawire.column_roles import ColumnRole
from kafkawire.wire.kafka_errors import KafkaError


class PartitionLagRow(Row, frozen=True):
    """How far a group is from the end of a partition.

    Attributes:
        group: its id.
        topic, partition: which.
        offset: of the next record that the group reads; None if it has committed nothing.
        end: offset of the next record to be written.
        lag: offsets between the two.
        lost: offsets of the lag whose records are deleted already.
        start: offset of the first record that there is.
        members: ids of the members that have the partition.
        error: why it is not known.
    """

    group: str
    topic: str
    partition: int
    offset: int | None
    end: int | None
    lag: int | None
    lost: int | None
    start: int | None
    members: tuple[str, ...] = ()
    error: str | None = None

    ROLES: ClassVar = {
        "topic": ColumnRole.KEY,
        "partition": ColumnRole.KEY,
        "start": ColumnRole.DETAIL,
        "members": ColumnRole.DETAIL,
        "error": ColumnRole.ERROR,
    }


class GroupLagRow(Row, frozen=True):
    """How far a group is from the ends of its partitions.

    Attributes:
        group: its id.
        type: of the group.
        state: of the group.
        partitions: how many it reads.
        lag: the sum of the lags that are known.
        lost: offsets of the lag whose records are deleted already.
    """

    group: str
    type: str
    state: str
    partitions: int
    lag: int
    lost: int


GroupsArgument = Annotated[list[str] | None, typer.Argument(metavar="GROUP...", help="Ids of the groups.")]
AllOption = Annotated[bool, typer.Option("--all", help="All groups.")]
TotalOption = Annotated[bool, typer.Option("--total", help="A row for each group, with sums.")]
CommittedOption = Annotated[
    bool, typer.Option("--read-committed", help="A partition ends where its first open transaction begins.")
]


@cluster_command
def run(
    cluster: Cluster,
    groups: GroupsArgument = None,
    all_groups: AllOption = False,
    total: TotalOption = False,
    read_committed: CommittedOption = False,
    watch: WatchOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Show how far groups of any type are from the ends of their partitions."""
    if bool(groups) == all_groups:
        raise CommandError("name groups, or give --all", ExitCode.USAGE)
    timeout = cluster.options.timeout
    isolation = IsolationLevel.READ_COMMITTED if read_committed else IsolationLevel.READ_UNCOMMITTED
    with cluster.connected() as client:

        def read() -> Results[str, GroupLag]:
            names = groups or sorted(each.group_id for each in client.list_groups(timeout=timeout).values())
            return client.group_lag(names, isolation=isolation, timeout=timeout)

        failures = WatchedFailures()
        if watch is not None and total:
            print_watched(
                lambda: _totals(failures.checked(read()).values()), GroupLagRow, output, watch,
                empty="no groups", failures=failures.lines,
            )  # fmt: skip
        elif watch is not None:
            print_watched(
                lambda: _partitions(failures.checked(read()).values()), PartitionLagRow, output, watch,
                empty="no offsets", failures=failures.lines,
            )  # fmt: skip
        found = read()
        known = known_groups(client, found.errors(), timeout)
    with failures_printed(found, known):
        if total:
            print_rows(_totals(found.values()), GroupLagRow, output, empty=unless_failed(found, "no groups"))
        else:
            print_rows(
                _partitions(found.values()),
                PartitionLagRow,
                output,
                empty=unless_failed(found, "no offsets are committed"),
            )


def _totals(found: Mapping[str, GroupLag]) -> Iterator[GroupLagRow]:
    for name, each in found.items():
        lost = sum(partition.lost for partition in each.partitions.values().values())
        yield GroupLagRow(name, each.type, each.state, len(each.partitions), each.total, lost)


def _partitions(found: Mapping[str, GroupLag]) -> Iterator[PartitionLagRow]:
    for name, group in found.items():
        for where, lag in sorted(group.partitions.items(), key=lambda item: item[0]):
            if isinstance(lag, KafkaError):
                yield PartitionLagRow(name, where.topic, where.partition, None, None, None, None, None, (), str(lag))
            else:
                yield PartitionLagRow(
                    name, where.topic, where.partition, lag.current_offset, lag.log_end_offset, lag.lag, lag.lost,
                    lag.log_start_offset, lag.member_ids,
                )  # fmt: skip
