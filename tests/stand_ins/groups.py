"""Groups of every kind and logs with offsets for a `StandInCluster`; a test sets their content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.stand_ins.cluster import NodeHandler
from tests.stand_ins.coordinators import coordinators

from kafkawire.layout import Uuid
from kafkawire.model.partitions import IsolationLevel, OffsetSpec, TopicPartition
from kafkawire.protocol import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerProtocolAssignment,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.consumer_protocol import encode_assignment
from kafkawire.rpc import Request
from kafkawire.wire import Message

NOT_FOUND = ErrorCode.GROUP_ID_NOT_FOUND
_NOT_FOUND_SINCE = 6
"""Older versions of DescribeGroups call a group dead that does not exist."""


@dataclass
class Group:
    """A group.

    Attributes:
        kind: ``classic``, ``consumer``, ``share`` or ``streams``; or another protocol type of a classic group.
        state: what it is doing.
        members: member id to the partitions that it has; of streams groups to their tasks of subtopology 0.
        offsets: where it goes on.
        lags: partition of a share group to what the broker counts.
        source_topics: topics of subtopology 0.
        refuses: error code of all changes of its offsets.
    """

    kind: str = "classic"
    state: str = "Empty"
    members: Mapping[str, tuple[TopicPartition, ...]] = field(default_factory=dict)
    offsets: dict[TopicPartition, int] = field(default_factory=dict)
    lags: Mapping[TopicPartition, int] = field(default_factory=dict)
    source_topics: tuple[str, ...] = ()
    refuses: int = 0

    @property
    def protocol_type(self) -> str:
        return {"classic": "consumer"}.get(self.kind, self.kind)


@dataclass
class Log:
    """What a partition has.

    Attributes:
        start, end: its first offset, and the next one.
        stable: its last stable offset; ``end`` by default.
        times: time in milliseconds to the first offset that is not older.
        error: error code of every question.
    """

    start: int = 0
    end: int = 0
    stable: int | None = None
    times: Mapping[int, int] = field(default_factory=dict)
    error: int = 0

    def offset(self, wanted: int, isolation: int) -> int:
        stable = self.end if self.stable is None or isolation == IsolationLevel.READ_UNCOMMITTED else self.stable
        return {OffsetSpec.LATEST: stable, OffsetSpec.EARLIEST: self.start, **self.times}.get(wanted, -1)


class StandInGroups:
    """The handlers of all requests about groups and offsets.

    Args:
        groups: group id to group.
        logs: partition to what it has.
    """

    def __init__(self, groups: Mapping[str, Group], logs: Mapping[TopicPartition, Log]) -> None:
        self.groups = groups
        self.logs = logs

    def handlers(self, *, homes: Mapping[str, int] | None = None) -> dict[type[Message], NodeHandler]:
        """All of them, with coordinators."""
        return {
            ConsumerGroupDescribeRequest: self._consumer,
            DescribeGroupsRequest: self._classic,
            ShareGroupDescribeRequest: self._share,
            StreamsGroupDescribeRequest: self._streams,
            OffsetFetchRequest: self._fetch,
            OffsetCommitRequest: self._commit,
            DescribeShareGroupOffsetsRequest: self._share_offsets,
            AlterShareGroupOffsetsRequest: self._alter_share,
            ListOffsetsRequest: self._list_offsets,
            **coordinators(homes or {}),
        }

    def _of_kind(self, name: str, *kinds: str) -> Group | None:
        group = self.groups.get(name)
        return group if group is not None and group.kind in kinds else None

    def _consumer(self, _: int, request: Request) -> Message:
        response = ConsumerGroupDescribeResponse
        assert isinstance(request.body, ConsumerGroupDescribeRequest)
        described = []
        for name in request.body.group_ids:
            group = self._of_kind(name, "consumer")
            if group is None:
                described.append(response.DescribedGroup(NOT_FOUND, "no consumer group", name))
                continue
            members = tuple(
                response.Member(
                    member_id=member,
                    client_id="c",
                    client_host="/h",
                    assignment=response.Assignment(
                        tuple(response.TopicPartitions(Uuid(), at.topic, (at.partition,)) for at in partitions)
                    ),
                )
                for member, partitions in group.members.items()
            )
            described.append(response.DescribedGroup(group_id=name, group_state=group.state, members=members))
        return response(groups=tuple(described))

    def _classic(self, _: int, request: Request) -> Message:
        response = DescribeGroupsResponse
        assert isinstance(request.body, DescribeGroupsRequest)
        described = []
        for name in request.body.groups:
            group = self.groups.get(name)
            if group is None or group.kind in {"consumer", "share", "streams"}:
                described.append(
                    response.DescribedGroup(NOT_FOUND, "no classic group", name)
                    if request.header.request_api_version >= _NOT_FOUND_SINCE
                    else response.DescribedGroup(group_id=name, group_state="Dead")
                )
                continue
            members = tuple(
                response.DescribedGroupMember(member, None, "c", "/h", b"", _assignment(partitions))
                for member, partitions in group.members.items()
            )
            described.append(
                response.DescribedGroup(
                    group_id=name, group_state=group.state, protocol_type=group.protocol_type, members=members
                )
            )
        return response(groups=tuple(described))

    def _share(self, _: int, request: Request) -> Message:
        response = ShareGroupDescribeResponse
        assert isinstance(request.body, ShareGroupDescribeRequest)
        described = []
        for name in request.body.group_ids:
            group = self._of_kind(name, "share")
            if group is None:
                described.append(response.DescribedGroup(NOT_FOUND, "no share group", name))
                continue
            members = tuple(
                response.Member(
                    member_id=member,
                    client_id="c",
                    client_host="/h",
                    assignment=response.Assignment(
                        tuple(response.TopicPartitions(Uuid(), at.topic, (at.partition,)) for at in partitions)
                    ),
                )
                for member, partitions in group.members.items()
            )
            described.append(response.DescribedGroup(group_id=name, group_state=group.state, members=members))
        return response(groups=tuple(described))

    def _streams(self, _: int, request: Request) -> Message:
        response = StreamsGroupDescribeResponse
        assert isinstance(request.body, StreamsGroupDescribeRequest)
        described = []
        for name in request.body.group_ids:
            group = self._of_kind(name, "streams")
            if group is None:
                described.append(response.DescribedGroup(NOT_FOUND, "no streams group", name, "", 0, 0, None, (), 0))
                continue
            members = tuple(
                response.Member(
                    member_id=member,
                    client_id="c",
                    client_host="/h",
                    process_id="p",
                    assignment=response.Assignment(
                        (response.TaskIds("0", tuple(at.partition for at in partitions)),), (), ()
                    ),
                    target_assignment=response.Assignment((), (), ()),
                )
                for member, partitions in group.members.items()
            )
            topology = response.Topology(1, (response.Subtopology("0", group.source_topics, (), (), ()),))
            described.append(
                response.DescribedGroup(group_id=name, group_state=group.state, topology=topology, members=members)
            )
        return response(groups=tuple(described))

    def _fetch(self, _: int, request: Request) -> Message:
        response = OffsetFetchResponse
        assert isinstance(request.body, OffsetFetchRequest)
        answered = []
        for wanted in request.body.groups:
            offsets = self.groups[wanted.group_id].offsets if wanted.group_id in self.groups else {}
            partitions = (
                list(offsets)
                if wanted.topics is None
                else [TopicPartition(topic.name, n) for topic in wanted.topics for n in topic.partition_indexes]
            )
            topics = tuple(
                response.OffsetFetchResponseTopics(
                    name=at.topic,
                    partitions=(response.OffsetFetchResponsePartitions(at.partition, offsets.get(at, -1), -1, "", 0),),
                )
                for at in partitions
            )
            answered.append(response.OffsetFetchResponseGroup(wanted.group_id, topics))
        return response(groups=tuple(answered))

    def _commit(self, _: int, request: Request) -> Message:
        response = OffsetCommitResponse
        assert isinstance(request.body, OffsetCommitRequest)
        group = self.groups.get(request.body.group_id, Group())
        topics = []
        for topic in request.body.topics:
            results = []
            for each in topic.partitions:
                if not group.refuses:
                    group.offsets[TopicPartition(topic.name, each.partition_index)] = each.committed_offset
                results.append(response.OffsetCommitResponsePartition(each.partition_index, group.refuses))
            topics.append(response.OffsetCommitResponseTopic(name=topic.name, partitions=tuple(results)))
        return response(topics=tuple(topics))

    def _share_offsets(self, _: int, request: Request) -> Message:
        response = DescribeShareGroupOffsetsResponse
        assert isinstance(request.body, DescribeShareGroupOffsetsRequest)
        answered = []
        for wanted in request.body.groups:
            group = self.groups[wanted.group_id]
            partitions = (
                list(group.offsets)
                if wanted.topics is None
                else [TopicPartition(topic.topic_name, n) for topic in wanted.topics for n in topic.partitions]
            )
            topics = tuple(
                response.DescribeShareGroupOffsetsResponseTopic(
                    at.topic,
                    Uuid(),
                    (
                        response.DescribeShareGroupOffsetsResponsePartition(
                            at.partition, group.offsets.get(at, -1), -1, group.lags.get(at, -1)
                        ),
                    ),
                )
                for at in partitions
            )
            answered.append(response.DescribeShareGroupOffsetsResponseGroup(wanted.group_id, topics))
        return response(groups=tuple(answered))

    def _alter_share(self, _: int, request: Request) -> Message:
        response = AlterShareGroupOffsetsResponse
        assert isinstance(request.body, AlterShareGroupOffsetsRequest)
        group = self.groups[request.body.group_id]
        topics = []
        for topic in request.body.topics:
            for each in topic.partitions:
                group.offsets[TopicPartition(topic.topic_name, each.partition_index)] = each.start_offset
            topics.append(
                response.AlterShareGroupOffsetsResponseTopic(
                    topic.topic_name,
                    Uuid(),
                    tuple(
                        response.AlterShareGroupOffsetsResponsePartition(each.partition_index, 0, None)
                        for each in topic.partitions
                    ),
                )
            )
        return response(responses=tuple(topics))

    def _list_offsets(self, _: int, request: Request) -> Message:
        response = ListOffsetsResponse
        body = request.body
        assert isinstance(body, ListOffsetsRequest)

        def answer(topic: str, number: int, wanted: int) -> ListOffsetsResponse.ListOffsetsPartitionResponse:
            log = self.logs[TopicPartition(topic, number)]
            offset = -1 if log.error else log.offset(wanted, body.isolation_level)
            return response.ListOffsetsPartitionResponse(number, log.error, (), -1, offset, 0)

        return response(
            topics=tuple(
                response.ListOffsetsTopicResponse(
                    topic.name,
                    tuple(answer(topic.name, each.partition_index, each.timestamp) for each in topic.partitions),
                )
                for topic in body.topics
            )
        )


def _assignment(partitions: tuple[TopicPartition, ...]) -> bytes:
    each = ConsumerProtocolAssignment.TopicPartition
    assigned = tuple(each(at.topic, (at.partition,)) for at in partitions)
    return encode_assignment(ConsumerProtocolAssignment(assigned_partitions=assigned, user_data=None), 3)
