"""What the topology of a Kafka Streams application means with the topics that exist: its tasks and internal topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import field

from kafkawire.broker.groups.streams.statuses import StreamsStatus
from kafkawire.protocol import StreamsGroupTopologyValue
from kafkawire.wire.message import Struct

PartitionsOf: TypeAlias = Callable[[str], int | None]
"""The partition count of a topic; None if there is no such topic."""


class InternalTopic(Struct, frozen=True):
    """A repartition topic or a changelog topic.

    Attributes:
        name: of the topic.
        partitions: that it has or shall have.
        replication_factor: 0 for the broker's default; a request that creates the topic has -1 for it.
        configs: of the topic.
    """

    name: str
    partitions: int
    replication_factor: int = 0
    configs: Mapping[str, str] = field(default_factory=dict)


class ConfiguredSubtopology(Struct, frozen=True):
    """A subtopology with partition counts.

    Attributes:
        tasks: how many there are.
        source_topics: that it reads.
        repartition_sources: the repartition topics that it reads, by name.
        repartition_sinks: the repartition topics that it writes.
        changelogs: of its state stores, by name.
    """

    tasks: int
    source_topics: frozenset[str] = frozenset()
    repartition_sources: Mapping[str, InternalTopic] = field(default_factory=dict)
    repartition_sinks: frozenset[str] = frozenset()
    changelogs: Mapping[str, InternalTopic] = field(default_factory=dict)

    @property
    def is_stateful(self) -> bool:
        """Whether its tasks have state, and may have standby tasks."""
        return bool(self.changelogs)


class Problem(Struct, frozen=True):
    """Why a group with a topology has no tasks.

    Attributes:
        status: the condition.
        detail: for people.
    """

    status: StreamsStatus
    detail: str


class ConfiguredTopology(Struct, frozen=True):
    """A topology with partition counts.

    Attributes:
        subtopologies: by id, in the order of ids; empty if partition counts are missing or contradict each other.
        internal_topics: those that are to be created, by name, in Kafka's order.
        problem: why members get no tasks; None if they get them.
    """

    subtopologies: Mapping[str, ConfiguredSubtopology] = field(default_factory=dict)
    internal_topics: Mapping[str, InternalTopic] = field(default_factory=dict)
    problem: Problem | None = None

    @property
    def is_ready(self) -> bool:
        """Whether its tasks can be assigned."""
        return self.problem is None


def configured_topology(topology: StreamsGroupTopologyValue, partitions_of: PartitionsOf) -> ConfiguredTopology:
    """The tasks of a topology and its internal topics, or the problem with it.

    Args:
        topology: of a group.
        partitions_of: the topics that exist.

    Raises:
        GroupError: if the topology cannot be right with any topics.
    """
    raise NotImplementedError
