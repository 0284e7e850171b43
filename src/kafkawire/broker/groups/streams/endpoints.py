"""Which partitions the instances of an application have, for queries between them (``application.server``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from kafkawire.broker.groups.assignors.tasks import Partitions
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.partition_counts import PartitionsOf
from kafkawire.broker.groups.streams.topology import ConfiguredSubtopology
from kafkawire.model.java_order import in_java_order
from kafkawire.protocol import StreamsGroupHeartbeatResponse
from kafkawire.protocol.error_codes import ErrorCode

MOST_TOPICS: Final = 30_000
"""The most topics of all instances together in an answer."""

Subtopologies = Mapping[str, ConfiguredSubtopology]
_Endpoint = StreamsGroupHeartbeatResponse.Endpoint
_Partitions = StreamsGroupHeartbeatResponse.TopicPartition
_OfEndpoint = StreamsGroupHeartbeatResponse.EndpointToPartitions


def by_endpoint(
    members: Iterable[StreamsMember], subtopologies: Subtopologies, partitions_of: PartitionsOf, *, is_later: bool
) -> tuple[_OfEndpoint, ...]:
    """The partitions of the members that have an endpoint; none if they have too many topics together.

    Args:
        members: in the order of the answer.
        subtopologies: of the group; empty if its topology is not ready.
        partitions_of: the topics that exist.
        is_later: whether the rules are those of Apache Kafka 4.4: a topic has the partitions that exist, else it has as
            many of the first ones.

    Raises:
        GroupError: a member has an endpoint while the topology is not ready, which Kafka does not expect.
    """
    shown = [member for member in members if member.endpoint is not None]
    if shown and not subtopologies:
        raise GroupError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    topics: dict[str, Sequence[str]] = {}
    total = 0
    for member in shown:
        for subtopology in (*member.assigned.active, *member.assigned.standby):
            if subtopology not in topics:
                configured = subtopologies[subtopology]
                topics[subtopology] = in_java_order([*configured.source_topics, *configured.repartition_sources])
            total += len(topics[subtopology])
        if total > MOST_TOPICS:
            return ()
    return tuple(_of_members(shown, topics, partitions_of, is_later=is_later))


def _of_members(
    members: Iterable[StreamsMember],
    topics: Mapping[str, Sequence[str]],
    partitions_of: PartitionsOf,
    *,
    is_later: bool,
) -> Iterator[_OfEndpoint]:
    for member in members:
        tasks = member.assigned.tasks
        active, standby = (
            tuple(_of_topics(each, topics, partitions_of, is_later=is_later)) for each in (tasks.active, tasks.standby)
        )
        if member.endpoint is not None:
            yield _OfEndpoint(_Endpoint(*member.endpoint), active, standby)


def _of_topics(
    tasks: Partitions, topics: Mapping[str, Sequence[str]], partitions_of: PartitionsOf, *, is_later: bool
) -> Iterator[_Partitions]:
    for subtopology in in_java_order(tasks):
        partitions = tasks[subtopology]
        for topic in topics[subtopology]:
            count = partitions_of(topic)
            if count is None:
                raise GroupError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
            there = tuple(one for one in partitions if one < count) if is_later else partitions[:count]
            if there or not is_later:
                yield _Partitions(topic, there)
