"""``kafkawire cluster log-dirs``: what is on the disks of brokers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, ClassVar

import typer

from kafkawire.admin import LogDir, Results
from kafkawire.cli.access.changes import failures_printed, unless_failed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.access.live_nodes import check_live, live_nodes
from kafkawire.cli.cluster.versions import NodesOption
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.visible import visible
from kafkawire.column_roles import ColumnRole


class LogDirRow(Row, frozen=True):
    """A log directory of a broker.

    Attributes:
        node: id of the broker.
        path: of the directory.
        replicas: how many it has.
        bytes: their size together.
        total_bytes, usable_bytes: the size and the free space of its volume; None from older brokers.
        is_cordoned: whether no new replica is placed there.
        error: its error, such as a disk that is offline.
    """

    node: int
    path: str
    replicas: int
    bytes: int
    total_bytes: int | None
    usable_bytes: int | None
    is_cordoned: bool
    error: str | None

    ROLES: ClassVar = {"path": ColumnRole.KEY, "error": ColumnRole.ERROR}


class ReplicaRow(Row, frozen=True):
    """A replica in a log directory.

    Attributes:
        topic: of the partition.
        partition: its number.
        node: id of the broker.
        path: of the directory.
        bytes: its size.
        offset_lag: how many records it still lacks.
        is_future: whether it is being copied here from another directory.
    """

    topic: str
    partition: int
    node: int
    path: str
    bytes: int
    offset_lag: int
    is_future: bool

    ROLES: ClassVar = dict.fromkeys(("partition", "node", "path"), ColumnRole.KEY)


ReplicasOption = Annotated[bool, typer.Option("--replicas", help="A row for each replica, not for each directory.")]
TopicsOption = Annotated[
    list[str] | None, typer.Option("--topic", metavar="NAME", help="Only replicas of this topic; repeatable.")
]


@cluster_command
def run(
    cluster: Cluster,
    node: NodesOption = None,
    topic: TopicsOption = None,
    replicas: ReplicasOption = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """List the log directories of brokers: replicas, bytes, free space, and disks that are offline."""
    with cluster.connected() as client:
        if node:
            check_live("--node", node, live_nodes(client, cluster.options.timeout))
        found = client.describe_log_dirs(node or None, timeout=cluster.options.timeout)
    wanted = frozenset(topic or ())
    with failures_printed(found):
        if replicas:
            rows = sorted(_replicas(found.values(), wanted), key=lambda row: (row.topic, row.partition, row.node))
            print_rows(rows, ReplicaRow, output, empty=unless_failed(found, "no replicas"))
        else:
            print_rows(
                _directories(found.values(), wanted),
                LogDirRow,
                output,
                empty=unless_failed(found, "no log directories"),
            )
        _remark_on_absent(found, wanted)


def _remark_on_absent(found: Results[int, Mapping[str, LogDir]], topics: frozenset[str]) -> None:
    """Topics without a replica are a result too; those with a mistake in the name would look the same."""
    if found.errors():
        return
    directories = (each for of_node in found.values().values() for each in of_node.values())
    for name in sorted(topics - {where.topic for each in directories for where in each.replicas}):
        print(f"kafkawire: there is no replica of the topic {visible(name)}", file=sys.stderr)


def _directories(found: Mapping[int, Mapping[str, LogDir]], topics: Iterable[str]) -> Iterator[LogDirRow]:
    for node, directories in sorted(found.items()):
        for path, each in sorted(directories.items()):
            sizes = [info.size_bytes for where, info in each.replicas.items() if not topics or where.topic in topics]
            error = None if each.error is None else str(each.error)
            yield LogDirRow(
                node, path, len(sizes), sum(sizes), each.total_bytes, each.usable_bytes, each.is_cordoned, error
            )


def _replicas(found: Mapping[int, Mapping[str, LogDir]], topics: Iterable[str]) -> Iterator[ReplicaRow]:
    for node, directories in found.items():
        for path, directory in directories.items():
            for where, info in directory.replicas.items():
                if not topics or where.topic in topics:
                    yield ReplicaRow(
                        where.topic, where.partition, node, path, info.size_bytes, info.offset_lag, info.is_future
                    )
