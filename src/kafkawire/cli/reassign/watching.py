"""``kafkawire reassign list``, ``watch`` and ``cancel``: replicas that are moving."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Final

import typer
from rich.console import Console

from kafkawire.admin import BlockingAdminClient, PartitionReassignment, TopicPartition
from kafkawire.cli.access.changes import ChangeOptions, confirm, outcome_rows, print_outcomes
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.existing_topics import existing_topics
from kafkawire.cli.progress import progress_bar
from kafkawire.cli.reassign.throttle import remove_throttle
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.watching import WatchOption, print_watched
from kafkawire.column_roles import ColumnRole

_PAUSE: Final = 1.0
"""Seconds between two looks at the cluster."""


class MovingRow(Row, frozen=True):
    """A partition whose replicas are moving.

    Attributes:
        topic, partition: which.
        replicas: brokers that hold it now, those included that it is being copied to.
        adding: brokers that it is being copied to.
        removing: brokers that it will leave.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]

    ROLES: ClassVar = {"partition": ColumnRole.KEY}

    @property
    def row_name(self) -> str:
        """Topic and number."""
        return f"{self.topic}-{self.partition}"


TopicsArgument = Annotated[list[str] | None, typer.Argument(metavar="TOPIC...", help="Topics; by default all.")]
RemoveOption = Annotated[
    bool, typer.Option("--remove-throttle", help="Remove the limits of brokers and topics when all have moved.")
]


@cluster_command
def list_(
    cluster: Cluster,
    topics: TopicsArgument = None,
    watch: WatchOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """List the partitions whose replicas are moving."""
    with cluster.connected() as client:

        def rows() -> Iterable[MovingRow]:
            moving = client.list_partition_reassignments(timeout=cluster.options.timeout)
            return _rows(moving, _chosen(client, moving, topics, cluster.options.timeout))

        print_watched(rows, MovingRow, output, watch, empty="no replica is moving")


@cluster_command
def watch(cluster: Cluster, topics: TopicsArgument = None, remove_throttle: RemoveOption = False) -> None:
    """Wait until no replica is moving. Ctrl-C ends the command, not the move."""
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        moving = client.list_partition_reassignments(timeout=timeout)
        wanted = _chosen(client, moving, topics, timeout)
        wait_until_moved(client, wanted, timeout, remove_limits=remove_throttle, topics=topics or ())


@cluster_command
def cancel(
    cluster: Cluster,
    topics: TopicsArgument = None,
    *,
    options: ChangeOptions,
) -> None:
    """Stop moving replicas: partitions keep the brokers that they had before."""
    dry_run, yes, output = options
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        moving = client.list_partition_reassignments(timeout=timeout)
        wanted = _chosen(client, moving, topics, timeout)
        if dry_run or not wanted:
            print_rows(_rows(moving, wanted), MovingRow, output, empty="no replica is moving")
            return
        confirm(cluster, f"stop moving {len(wanted)} partitions", yes=yes)
        results = client.alter_partition_reassignments(dict.fromkeys(wanted), timeout=timeout)
    print_outcomes(outcome_rows(results, "partition", "cancel"), output)


def _chosen(
    client: BlockingAdminClient, moving: Iterable[TopicPartition], topics: Sequence[str] | None, timeout: float
) -> list[TopicPartition]:
    """Those of some topics, or all; a topic of which nothing is moving must exist."""
    if not topics:
        return sorted(moving)
    existing_topics(client, set(topics) - {each.topic for each in moving}, timeout)
    return sorted(each for each in moving if each.topic in topics)


def _rows(
    moving: Mapping[TopicPartition, PartitionReassignment], partitions: Iterable[TopicPartition]
) -> Iterator[MovingRow]:
    for each in partitions:
        move = moving[each]
        yield MovingRow(each.topic, each.partition, move.replicas, move.adding, move.removing)


def wait_until_moved(
    client: BlockingAdminClient,
    partitions: Collection[TopicPartition],
    timeout: float,
    *,
    remove_limits: bool,
    topics: Sequence[str] = (),
) -> None:
    """Return when none of the partitions is moving, with a progress bar on a terminal.

    Args:
        client: of the cluster.
        partitions: those to wait for.
        timeout: seconds of a call; the wait has no limit.
        remove_limits: whether the limits of bytes are removed then.
        topics: further topics whose limits are removed.
    """
    total = len(partitions)
    remaining = total
    with progress_bar(Console(stderr=True)) as report:
        while remaining:
            moving = client.list_partition_reassignments(timeout=timeout)
            remaining = sum(partition in moving for partition in partitions)
            report("moving partitions", total - remaining, total)
            if remaining:
                time.sleep(_PAUSE)
    print(f"{total} partitions have moved" if total else "no replica is moving", file=sys.stderr)
    if remove_limits:
        names = sorted({*topics, *(partition.topic for partition in partitions)} or client.list_topics(timeout=timeout))
        brokers = [member.node.id for member in client.describe_cluster(timeout=timeout).nodes]
        freed = remove_throttle(client, names, brokers, timeout)
        print(f"removed the limits of {len(freed)} topics and brokers", file=sys.stderr)
