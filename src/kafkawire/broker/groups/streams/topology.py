"""What the topology of a Kafka Streams application means with the topics that exist: its tasks and internal topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from msgspec import field

from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.partition_counts import (
    Counts,
    IncorrectlyPartitionedError,
    PartitionsOf,
    Subtopology,
    count_of,
    partition_counts,
    unexpected,
)
from kafkawire.broker.groups.streams.statuses import StreamsStatus
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.topic_names import check_topic_name
from kafkawire.model.java_order import in_java_order, java_rank
from kafkawire.protocol import StreamsGroupHeartbeatRequest, StreamsGroupTopologyValue
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.message import Struct

V = TypeVar("V")

MOST_TASKS: Final = 10_000
"""The most tasks of a group: a topology of a few bytes can have any number, and all members must name theirs."""

_SHOWN: Final = 3
_LARGE: Final = 1000
"""How many names of a topology may be read at once, at some microseconds each."""


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
    def tasks(self) -> int:
        """How many tasks it has, without standby tasks."""
        return sum(each.tasks for each in self.subtopologies.values())

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
    by_id = _unique((each.subtopology_id, each) for each in topology.subtopologies)
    subtopologies = [by_id[each] for each in in_java_order(by_id)]
    groups = [_copartition_group(each, group) for each in subtopologies for group in each.copartition_groups]
    missing = {name for each in subtopologies for name in each.source_topics if partitions_of(name) is None}
    if missing:
        names = _first_of(sorted(missing, key=java_rank))
        return _with_problem(StreamsStatus.MISSING_SOURCE_TOPICS, f"Source topics {names} are missing.")
    try:
        counts = partition_counts(subtopologies, groups, partitions_of)
        configured = {each.subtopology_id: _configured(each, counts, partitions_of) for each in subtopologies}
        in_order = {each: configured[each] for each in sorted(configured, key=java_rank)}
        _check_tasks(in_order.values())
        internal = _missing_topics(subtopologies, in_order, partitions_of)
    except IncorrectlyPartitionedError as error:
        return _with_problem(StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS, str(error))
    if not internal:
        return ConfiguredTopology(in_order)
    detail = f"Internal topics are missing: {_first_of([*internal])}"
    return ConfiguredTopology(in_order, internal, Problem(StreamsStatus.MISSING_INTERNAL_TOPICS, detail))


def _check_tasks(subtopologies: Iterable[ConfiguredSubtopology]) -> None:
    if sum(each.tasks for each in subtopologies) > MOST_TASKS:
        reason = f"The topology has more than {MOST_TASKS} tasks, the limit of this broker."
        raise GroupError(ErrorCode.STREAMS_INVALID_TOPOLOGY, reason)


def configured_by_counts(topology: StreamsGroupTopologyValue, counts: Counts) -> ConfiguredTopology:
    """``configured_topology`` with the partition counts of the topics that exist."""
    return configured_topology(topology, counts.get)


def is_large(topology: StreamsGroupTopologyValue | StreamsGroupHeartbeatRequest.Topology) -> bool:
    """Whether it takes long to find out what a topology means: it has many topics, configurations or groups."""
    most = _LARGE
    for each in topology.subtopologies:
        topics = (*each.repartition_source_topics, *each.state_changelog_topics)
        most -= 1 + len(each.source_topics) + len(each.repartition_sink_topics)
        most -= sum(1 + len(topic.topic_configs) for topic in topics)
        most -= sum(1 + len(one.source_topics) + len(one.repartition_source_topics) for one in each.copartition_groups)
        if most < 0:
            return True
    return False


def required_topics(topology: StreamsGroupTopologyValue) -> Iterable[str]:
    """The topics that a topology needs."""
    return {
        name
        for each in topology.subtopologies
        for name in (
            *each.source_topics,
            *(topic.name for topic in (*each.repartition_source_topics, *each.state_changelog_topics)),
        )
    }


def _copartition_group(subtopology: Subtopology, group: StreamsGroupTopologyValue.CopartitionGroup) -> Sequence[str]:
    """The topics of a group, which has their positions."""
    sources = _at(subtopology.source_topics, group.source_topics)
    repartition = _at(subtopology.repartition_source_topics, group.repartition_source_topics)
    return in_java_order(dict.fromkeys([*sources, *(topic.name for topic in repartition)]))


def _configured(subtopology: Subtopology, counts: Counts, partitions_of: PartitionsOf) -> ConfiguredSubtopology:
    names = [*subtopology.source_topics, *(topic.name for topic in subtopology.repartition_source_topics)]
    return ConfiguredSubtopology(
        max(count_of(name, counts, partitions_of) for name in names),
        frozenset(subtopology.source_topics),
        _internal_topics(subtopology.repartition_source_topics, counts),
        frozenset(subtopology.repartition_sink_topics),
        _internal_topics(subtopology.state_changelog_topics, counts),
    )


def _internal_topics(
    topics: Iterable[StreamsGroupTopologyValue.TopicInfo], counts: Counts
) -> Mapping[str, InternalTopic]:
    by_name = _unique((topic.name, _internal_topic(topic, counts)) for topic in topics)
    return {name: by_name[name] for name in in_java_order(by_name)}


def _internal_topic(topic: StreamsGroupTopologyValue.TopicInfo, counts: Counts) -> InternalTopic:
    configs = _unique((each.key, each.value) for each in topic.topic_configs)
    try:
        check_topic_name(topic.name)
    except ItemError as error:
        raise GroupError(ErrorCode(error.code), error.message) from None
    count = topic.partitions or counts[topic.name]
    if count < 1:
        raise unexpected()
    in_order = {key: configs[key] for key in in_java_order(configs)}
    return InternalTopic(topic.name, count, topic.replication_factor, in_order)


def _missing_topics(
    subtopologies: Iterable[Subtopology],
    configured: Mapping[str, ConfiguredSubtopology],
    partitions_of: PartitionsOf,
) -> Mapping[str, InternalTopic]:
    """The internal topics that do not exist, in Kafka's order.

    Raises:
        IncorrectlyPartitionedError: if one exists with another number of partitions.
    """
    wanted: dict[str, InternalTopic] = {}
    for each in configured.values():
        wanted |= each.repartition_sources
        wanted |= each.changelogs
    in_order = {name: wanted[name] for name in in_java_order(wanted)}
    for name in in_java_order(dict.fromkeys(name for each in subtopologies for name in _required_topics(each))):
        count, expected = partitions_of(name), wanted.get(name)
        if count is None or expected is None:
            continue
        if count != expected.partitions:
            raise IncorrectlyPartitionedError(
                f"Existing topic {name} has different number of partitions: expected {expected.partitions},"
                f" found {count}"
            )
        del in_order[name]
    return in_order


def _required_topics(subtopology: Subtopology) -> Iterable[str]:
    yield from subtopology.source_topics
    yield from (topic.name for topic in subtopology.repartition_source_topics)
    yield from (topic.name for topic in subtopology.state_changelog_topics)


def _with_problem(status: StreamsStatus, detail: str) -> ConfiguredTopology:
    return ConfiguredTopology(problem=Problem(status, detail))


def _first_of(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} additional topics" if more > 0 else "")


def _unique(pairs: Iterable[tuple[str, V]]) -> Mapping[str, V]:
    found: dict[str, V] = {}
    for name, value in pairs:
        if name in found:
            raise unexpected()
        found[name] = value
    return found


def _at(items: Sequence[V], positions: Sequence[int]) -> Sequence[V]:
    if any(not 0 <= position < len(items) for position in positions):
        raise unexpected()
    return [items[position] for position in positions]
