"""Which partitions the instances of an application have, for queries between them (``application.server``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kafkawire.broker.groups.assignors.tasks import Partitions
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.partition_counts import PartitionsOf
from kafkawire.broker.groups.streams.topology import ConfiguredSubtopology
from kafkawire.model.java_order import in_java_order
from kafkawire.protocol import StreamsGroupHeartbeatResponse
from kafkawire.protocol.error_codes import ErrorCode

Subtopologies = Mapping[str, ConfiguredSubtopology]
_Endpoint = StreamsGroupHeartbeatResponse.Endpoint
_Partitions = StreamsGroupHeartbeatResponse.TopicPartition
_OfEndpoint = StreamsGroupHeartbeatResponse.EndpointToPartitions


def by_endpoint(
    members: Iterable[StreamsMember], subtopologies: Subtopologies, partitions_of: PartitionsOf, *, is_later: bool
) -> tuple[_OfEndpoint, ...]:
    """The partitions of the members that have an endpoint.

    Args:
        members: in the order of the answer.
        subtopologies: of the group; empty if its topology is not ready.
        partitions_of: the topics that exist.
        is_later: whether the rules are those of Apache Kafka 4.4: a topic has the partitions that exist, else it has as
            many of the first ones.

    Raises:
        GroupError: a member has an endpoint while the topology is not ready, which Kafka does not expect.
    """
    return tuple(_of_members(members, subtopologies, partitions_of, is_later=is_later))


def _of_members(
    members: Iterable[StreamsMember], subtopologies: Subtopologies, partitions_of: PartitionsOf, *, is_later: bool
) -> Iterator[_OfEndpoint]:
    for member in members:
        if member.endpoint is None:
            continue
        if not subtopologies:
            raise GroupError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
        tasks = member.assigned.tasks
        active, standby = (
            tuple(_of_topics(each, subtopologies, partitions_of, is_later=is_later))
            for each in (tasks.active, tasks.standby)
        )
        yield _OfEndpoint(_Endpoint(*member.endpoint), active, standby)


def _of_topics(
    tasks: Partitions, subtopologies: Subtopologies, partitions_of: PartitionsOf, *, is_later: bool
) -> Iterator[_Partitions]:
    for subtopology in in_java_order(tasks):
        configured, partitions = subtopologies[subtopology], tasks[subtopology]
        for topic in in_java_order([*configured.source_topics, *configured.repartition_sources]):
            count = partitions_of(topic)
            if count is None:
                raise GroupError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
            there = tuple(one for one in partitions if one < count) if is_later else partitions[:count]
            if there or not is_later:
                yield _Partitions(topic, there)
