"""States of partitions that an operator looks for, and the options that ask for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Final, NamedTuple

import typer

from kafkawire.admin import (
    BlockingAdminClient,
    ConfigResource,
    PartitionDescription,
    TopicDescription,
    TopicPartition,
)
from kafkawire.wire.kafka_errors import KafkaError

PANEL: Final = "Only topics and partitions that are"

UnderReplicatedOption = Annotated[
    bool, typer.Option("--under-replicated", help="With replicas that are not in sync.", rich_help_panel=PANEL)
]
UnavailableOption = Annotated[bool, typer.Option("--unavailable", help="Without a leader.", rich_help_panel=PANEL)]
UnderMinIsrOption = Annotated[
    bool,
    typer.Option(
        "--under-min-isr", help="With fewer replicas in sync than min.insync.replicas.", rich_help_panel=PANEL
    ),
]
AtMinIsrOption = Annotated[
    bool,
    typer.Option("--at-min-isr", help="With just min.insync.replicas replicas in sync.", rich_help_panel=PANEL),
]

MIN_ISR: Final = "min.insync.replicas"


class StateOptions(NamedTuple):
    """The options that request states; a partition in one of them is wanted.

    Attributes:
        under_replicated, unavailable, under_min_isr, at_min_isr: see the options.
    """

    under_replicated: UnderReplicatedOption = False
    unavailable: UnavailableOption = False
    under_min_isr: UnderMinIsrOption = False
    at_min_isr: AtMinIsrOption = False

    @property
    def need_min_isr(self) -> bool:
        """Whether they depend on ``min.insync.replicas``."""
        return self.under_min_isr or self.at_min_isr


class TopicStates:
    """What partitions are judged by.

    Args:
        client: of the cluster.
        topics: the topics.
        wanted: the requested states.
        timeout: of each call.

    Raises:
        ExceptionGroup: ``min.insync.replicas`` is needed and cannot be read.
    """

    def __init__(
        self, client: BlockingAdminClient, topics: Iterable[TopicDescription], wanted: StateOptions, timeout: float
    ) -> None:
        listed = list(topics)
        self._wanted = wanted
        self._adding = _adding(client, listed, timeout)
        self._min_isr = _min_isr(client, [each.name for each in listed], timeout) if wanted.need_min_isr else {}

    def is_under_replicated(self, topic: str, partition: PartitionDescription) -> bool:
        """Whether replicas are not in sync; those that it is being copied to do not count."""
        return _lacks_replicas(partition, self._adding.get(TopicPartition(topic, partition.partition), ()))

    def are_wanted(self, topic: str, partition: PartitionDescription) -> bool:
        """Whether it is in one of the requested states, or none is requested."""
        wanted = self._wanted
        spare = len(partition.isr) - self._min_isr.get(topic, 0)
        return not any(wanted) or (
            (wanted.under_replicated and self.is_under_replicated(topic, partition))
            or (wanted.unavailable and partition.leader is None)
            or (wanted.under_min_isr and spare < 0)
            or (wanted.at_min_isr and spare == 0)
        )


def _lacks_replicas(partition: PartitionDescription, adding: Collection[int]) -> bool:
    return not {*partition.replicas} - {*adding} <= {*partition.isr}


def _adding(
    client: BlockingAdminClient, topics: Iterable[TopicDescription], timeout: float
) -> Mapping[TopicPartition, Collection[int]]:
    """The replicas that are being made, of partitions that lack some; none to a user who may not know."""
    candidates = [
        TopicPartition(topic.name, partition.partition)
        for topic in topics
        for partition in topic.partitions
        if _lacks_replicas(partition, ())
    ]
    if not candidates:
        return {}
    try:
        moves = client.list_partition_reassignments(candidates, timeout=timeout)
    except KafkaError:
        return {}
    return {partition: move.adding for partition, move in moves.items()}


def _min_isr(client: BlockingAdminClient, names: Collection[str], timeout: float) -> Mapping[str, int]:
    resources = [ConfigResource.topic(name) for name in names]
    described = client.describe_configs(resources, keys=[MIN_ISR], timeout=timeout).all()
    return {resource.name: int(configs[MIN_ISR].value or 0) for resource, configs in described.items()}
