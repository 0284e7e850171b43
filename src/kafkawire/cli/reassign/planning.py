"""``kafkawire reassign plan``: new brokers for replicas, written as a file that ``run`` and Kafka's own tool read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from kafkawire.admin import BlockingAdminClient, TopicPartition
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.existing_topics import existing_topics
from kafkawire.cli.items import FromOption, given_names
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.reassign.assignment_file import write_assignment
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.tables.formats import STANDARD_OUTPUT
from kafkawire.column_roles import ColumnRole
from kafkawire.model.placement import Assignment, PlacementError, PlacementGoal, new_assignment


class MoveRow(Row, frozen=True):
    """A partition whose replicas are to move.

    Attributes:
        topic, partition: which.
        replicas: its brokers now, the preferred leader first.
        new_replicas: its brokers after.
        adding: brokers that get a copy.
        removing: brokers that lose theirs.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    new_replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]

    ROLES: ClassVar = {"partition": ColumnRole.KEY}

    @property
    def row_name(self) -> str:
        """Topic and number."""
        return f"{self.topic}-{self.partition}"


TopicsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="TOPIC...", help="Topics; by default all except Kafka's own.")
]
BrokersOption = Annotated[
    list[int] | None,
    typer.Option("--broker", metavar="ID", help="Place replicas on this broker; repeatable; by default all live ones."),
]
WithoutOption = Annotated[
    list[int] | None,
    typer.Option("--without-broker", metavar="ID", help="Leave this broker empty, such as before it goes; repeatable."),
]
FactorOption = Annotated[int | None, typer.Option(metavar="N", help="Replicas of each partition after.", min=1)]
RebalanceOption = Annotated[
    bool, typer.Option("--rebalance", help="Also move replicas and preferred leaders to spread each topic evenly.")
]
OutOption = Annotated[
    Path | None, typer.Option(help="File for the new assignment of all these partitions; - is standard output.")
]


@cluster_command
def run(
    cluster: Cluster,
    topics: TopicsArgument = None,
    file: FromOption = None,
    broker: BrokersOption = None,
    without_broker: WithoutOption = None,
    replication_factor: FactorOption = None,
    rebalance: RebalanceOption = False,
    out: OutOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Propose new brokers for the replicas of topics; nothing is changed.

    As few replicas move as the options allow, onto as many racks as there are.
    """
    timeout = cluster.options.timeout
    wanted = given_names("topic", topics, file, "name") if topics or file else None
    with cluster.connected() as client:
        current = current_assignment(client, wanted, timeout)
        racks = live_racks(client, timeout)
    try:
        goal = PlacementGoal(
            racks=_allowed(racks, broker or (), without_broker or ()),
            replication_factor=replication_factor,
            rebalance=rebalance,
        )
        planned = new_assignment(current, goal)
    except PlacementError as error:
        raise CommandError(
            f"{error}; choose other --broker, --without-broker or --replication-factor", ExitCode.USAGE
        ) from None
    changed = {each: replicas for each, replicas in planned.items() if tuple(current[each]) != replicas}
    if out is None:
        print_rows(move_rows(current, changed), MoveRow, output, empty="no replica needs to move")
    else:
        write_assignment(None if out == STANDARD_OUTPUT else out, changed)


def _allowed(racks: Mapping[int, str | None], brokers: Iterable[int], without: Iterable[int]) -> dict[int, str | None]:
    unknown = sorted({*brokers, *without} - racks.keys() - (set(without)))
    if unknown:
        known = ", ".join(map(str, sorted(racks)))
        raise CommandError(f"--broker {unknown[0]}: no such broker is live; there are {known}", ExitCode.USAGE)
    wanted = set(brokers or racks) - set(without)
    return {each: rack for each, rack in racks.items() if each in wanted}


def live_racks(client: BlockingAdminClient, timeout: float) -> dict[int, str | None]:
    """Id of each live broker to its rack."""
    members = client.describe_cluster(timeout=timeout).nodes
    return {each.node.id: each.node.rack for each in members if not each.is_fenced}


def current_assignment(
    client: BlockingAdminClient, topics: Iterable[str] | None, timeout: float
) -> dict[TopicPartition, tuple[int, ...]]:
    """The brokers of each partition of topics; None for all topics except Kafka's own.

    Raises:
        CommandError: a topic cannot be described.
    """
    names = list(topics or client.list_topics(timeout=timeout))
    described = existing_topics(client, names, timeout)
    return {
        TopicPartition(topic.name, partition.partition): partition.replicas
        for topic in described.values()
        for partition in topic.partitions
    }


def move_rows(current: Assignment, changed: Mapping[TopicPartition, Sequence[int]]) -> list[MoveRow]:
    """The partitions that change."""
    rows = []
    for partition, replicas in sorted(changed.items()):
        before = tuple(current.get(partition, ()))
        rows.append(
            MoveRow(
                topic=partition.topic,
                partition=partition.partition,
                replicas=before,
                new_replicas=tuple(replicas),
                adding=tuple(each for each in replicas if each not in before),
                removing=tuple(each for each in before if each not in replicas),
            )
        )
    return rows
