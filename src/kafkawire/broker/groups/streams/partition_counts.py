"""How many partitions the internal topics of a topology shall have: the rules of Kafka's ``InternalTopicManager``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from kafkawire.broker.groups.errors import GroupError
from kafkawire.model.java_order import in_java_order, java_rank
from kafkawire.protocol import StreamsGroupTopologyValue
from kafkawire.protocol.error_codes import ErrorCode

Subtopology: TypeAlias = StreamsGroupTopologyValue.Subtopology

PartitionsOf: TypeAlias = Callable[[str], int | None]
"""The partition count of a topic; None if there is no such topic."""

Counts: TypeAlias = Mapping[str, int]
"""Topic to partition count."""


class IncorrectlyPartitionedError(Exception):
    """Topics do not have the partition counts that the topology needs; the message is for people."""


def unexpected() -> GroupError:
    """A topology that no Kafka Streams application has, at which Kafka fails."""
    return GroupError(ErrorCode.UNKNOWN_SERVER_ERROR, None)


def partition_counts(
    subtopologies: Sequence[Subtopology], copartition_groups: Iterable[Sequence[str]], partitions_of: PartitionsOf
) -> Counts:
    """The partition counts that internal topics shall have.

    Args:
        subtopologies: in Kafka's order. Their source topics exist.
        copartition_groups: topics that shall have the same number of partitions, each group in Kafka's order.
        partitions_of: the topics that exist.

    Raises:
        IncorrectlyPartitionedError: if a group of topics cannot have the same number of partitions.
        GroupError: if the topology cannot be right with any topics.
    """
    counts = _repartition_counts(subtopologies, partitions_of)
    repartition = [topic for each in subtopologies for topic in each.repartition_source_topics]
    fixed = dict.fromkeys(in_java_order(dict.fromkeys(topic.name for topic in repartition if topic.partitions)))
    flexible = {topic.name for topic in repartition if not topic.partitions}
    # Groups do not change these counts: one that would is refused.
    counts_of_fixed = dict.fromkeys(count_of(name, counts, partitions_of) for name in fixed)
    for group in copartition_groups:
        known = {name: count_of(name, counts, partitions_of) for name in group}
        counts.update(_copartitioned(known, fixed.keys(), flexible, counts_of_fixed))
    return {**counts, **_changelog_counts(subtopologies, counts, partitions_of)}


def count_of(name: str, counts: Counts, partitions_of: PartitionsOf) -> int:
    """How many partitions a topic has; if it does not exist, how many it shall have."""
    count = partitions_of(name)
    if count is None:
        count = counts.get(name)
    if count is None:
        raise unexpected()
    return count


def _repartition_counts(subtopologies: Sequence[Subtopology], partitions_of: PartitionsOf) -> dict[str, int]:
    """Those of the topology; other topics get that of the largest topic from which a subtopology writes them."""
    repartition = [topic for each in subtopologies for topic in each.repartition_source_topics]
    counts = {topic.name: topic.partitions for topic in repartition if topic.partitions}
    _count_sinks(subtopologies, counts, partitions_of)
    if any(sink not in counts for each in subtopologies for sink in each.repartition_sink_topics):
        raise _invalid(
            "Failed to compute number of partitions for all repartition topics. There may be loops in the topology"
            " that cannot be resolved."
        )
    if any(topic.name not in counts for topic in repartition):
        raise _invalid(
            "Failed to compute number of partitions for all repartition topics, because a repartition source topic is"
            " never used as a sink topic."
        )
    return counts


def _count_sinks(subtopologies: Sequence[Subtopology], counts: dict[str, int], partitions_of: PartitionsOf) -> None:
    """Give sinks their counts as Kafka does, which visits the subtopologies in rounds until all counts are known.

    What a subtopology writes has the count of the largest of those of its sources that are known at its first visit
    with such a source; visits without one change nothing and are left out.
    """
    visits = list[tuple[int, int]]()
    waiting: dict[str, list[int]] = {}
    for position, each in enumerate(subtopologies):
        if _largest_source(each, counts, partitions_of) is not None:
            visits.append((0, position))
        else:
            for topic in each.repartition_source_topics:
                waiting.setdefault(topic.name, []).append(position)
    heapify(visits)
    while visits:
        number, position = heappop(visits)
        subtopology = subtopologies[position]
        new = [sink for sink in subtopology.repartition_sink_topics if sink not in counts]
        largest = _largest_source(subtopology, counts, partitions_of)
        if largest is None:
            continue
        for sink in new:
            counts[sink] = largest
            for waits in waiting.pop(sink, ()):
                heappush(visits, (number + (waits < position), waits))


def _largest_source(subtopology: Subtopology, counts: Counts, partitions_of: PartitionsOf) -> int | None:
    repartition = (counts.get(topic.name) for topic in subtopology.repartition_source_topics)
    found = [*repartition, *map(partitions_of, subtopology.source_topics)]
    return max((each for each in found if each is not None), default=None)


def _copartitioned(
    group: Counts, fixed: Set[str], flexible: Set[str], counts_of_fixed: Iterable[int]
) -> Mapping[str, int]:
    """The count of the repartition topics of a group: that of its other topics, of all fixed ones, or the largest."""
    repartition = {name: each for name, each in group.items() if name in fixed or name in flexible}
    others = {name: each for name, each in group.items() if name not in repartition}
    if not group:
        return {}
    if others:
        shared = _same(others.values(), others)
    elif fixed:
        shared = _same(counts_of_fixed, repartition)
    else:
        shared = max(repartition.values())
    for name in in_java_order(repartition):
        if name in fixed and repartition[name] != shared:
            raise IncorrectlyPartitionedError(
                f"Number of partitions [{repartition[name]}] of repartition topic [{name}] doesn't match number of"
                f" partitions [{shared}] of the source topic."
            )
    return dict.fromkeys(repartition, shared)


def _same(counts: Iterable[int], shown: Counts) -> int:
    first, *others = counts
    if any(each != first for each in others):
        topics = ", ".join(f"{name}={shown[name]}" for name in sorted(shown, key=java_rank))
        raise IncorrectlyPartitionedError(f"Following topics do not have the same number of partitions: [{{{topics}}}]")
    return first


def _changelog_counts(subtopologies: Iterable[Subtopology], counts: Counts, partitions_of: PartitionsOf) -> Counts:
    found: dict[str, int] = {}
    for each in subtopologies:
        sources = [*each.source_topics, *(topic.name for topic in each.repartition_source_topics)]
        if not sources:
            raise _invalid(f"No source topics found for subtopology {each.subtopology_id}")
        largest = max(count_of(name, counts, partitions_of) for name in sources)
        found.update(dict.fromkeys((topic.name for topic in each.state_changelog_topics), largest))
    return found


def _invalid(reason: str) -> GroupError:
    return GroupError(ErrorCode.STREAMS_INVALID_TOPOLOGY, reason)
