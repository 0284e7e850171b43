"""OffsetCommit, OffsetFetch and OffsetDelete."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap
from typing import Final, NamedTuple

from msgspec.structs import replace

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.groups.classic.group import ClassicGroup
from kafkawire.broker.groups.classic.group_records import CONSUMER
from kafkawire.broker.groups.consumer.group import ConsumerGroup
from kafkawire.broker.groups.state import Group
from kafkawire.broker.groups.streams.group import StreamsGroup
from kafkawire.broker.handlers.commit_results import TopicResults, by_topic, metadata_error, usable_topics
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.internal_topics.entries import Change
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    OffsetCommitKey,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitValue,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_IDS_SINCE: Final = 10
_GROUPS_SINCE: Final = 8
_GROUP_ERROR_SINCE: Final = 2
_MEMBER_ERROR_SINCE: Final = 9
_TOO_LARGE: Final = 1 << 63
"""The first number that is no long of Java."""

_CommittedTopic = OffsetCommitResponse.OffsetCommitResponseTopic
_CommittedPartition = OffsetCommitResponse.OffsetCommitResponsePartition

FetchedGroup = OffsetFetchResponse.OffsetFetchResponseGroup
FetchedTopic = OffsetFetchResponse.OffsetFetchResponseTopics
FetchedPartition = OffsetFetchResponse.OffsetFetchResponsePartitions


class _Named(NamedTuple):
    """A topic of a commit.

    Attributes:
        asked: as in the request.
        topic: that exists; None if none does.
        errors: why the offset of each partition does not reach the group; NONE if it does.
    """

    asked: OffsetCommitRequest.OffsetCommitRequestTopic
    topic: Topic | None
    errors: Sequence[ErrorCode]


class GroupOffsetHandlers:
    """Commit, return and delete the offsets of groups."""

    def __init__(self, context: HandlerContext) -> None:
        self._topics = context.controller.image.topics
        self._coordinator = context.coordinator
        self._groups = context.groups
        self._access = context.access
        self._clock = context.clock
        self.apis = (
            ServedApi(OffsetCommitRequest, self._commit, 2, 10),
            ServedApi(OffsetFetchRequest, self._fetch, 1, 10),
            ServedApi(OffsetDeleteRequest, self._delete, 0, 0),
        )

    # Commit.

    async def _commit(self, request: OffsetCommitRequest, call: Call) -> OffsetCommitResponse | Refused:
        if not self._access.allows(call.session, AclOperation.READ, ResourceType.GROUP, request.group_id):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        named = [self._named(topic, call) for topic in request.topics]
        usable = replace(request, topics=usable_topics((each.asked, each.errors) for each in named))
        refused = self._commit_refused(usable, call) if usable.topics else ErrorCode.NONE
        if usable.topics and not refused:
            await self._coordinator.prepare([request.group_id])
        changes: list[Change] = []
        results = [self._commit_topic(topic, request, refused, changes) for topic in named]
        self._coordinator.commit(changes)
        await self._coordinator.durable()
        return OffsetCommitResponse(topics=tuple(starmap(_CommittedTopic, by_topic(results))))

    def _named(self, asked: OffsetCommitRequest.OffsetCommitRequestTopic, call: Call) -> _Named:
        by_id = call.version >= _IDS_SINCE
        topic = self._topics.find(asked.name, asked.topic_id, by_id=by_id)
        error = self._access.topic_error(call.session, AclOperation.READ, topic, asked.name, by_id=by_id)
        return _Named(asked, topic, [error or _unknown(topic, each.partition_index) for each in asked.partitions])

    def _commit_refused(self, request: OffsetCommitRequest, call: Call) -> ErrorCode:
        """The error of the group. A commit without a generation creates the group."""
        rules = self._groups.commit_rules(request.group_id)
        if rules is not None:
            return rules.commit_error(request, call.version)
        if self._groups.share.group(request.group_id) is not None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if request.group_id in self._coordinator.state.by_id:
            return self._groups.classic.commit_error(request)
        if request.generation_id_or_member_epoch < 0:
            return ErrorCode.NONE
        return ErrorCode.GROUP_ID_NOT_FOUND if call.version >= _MEMBER_ERROR_SINCE else ErrorCode.ILLEGAL_GENERATION

    def _commit_topic(
        self, named: _Named, request: OffsetCommitRequest, refused: ErrorCode, changes: list[Change]
    ) -> TopicResults[_CommittedPartition]:
        """The results of a topic; the changes to make for it are added to ``changes``."""
        asked, topic, errors = named
        results: TopicResults[_CommittedPartition] = TopicResults(asked.name, asked.topic_id, [], [])
        for partition, unusable in zip(asked.partitions, errors, strict=True):
            number = partition.partition_index
            error = unusable or refused or metadata_error(partition.committed_metadata)
            (results.refused if unusable else results.others).append(_CommittedPartition(number, error))
            if not error and topic is not None:
                key = OffsetCommitKey(request.group_id, topic.name, number)
                changes.append((key, self._value(partition, topic.topic_id, request.retention_time_ms)))
        return results

    def _value(
        self, partition: OffsetCommitRequest.OffsetCommitRequestPartition, topic_id: Uuid, retention_time_ms: int
    ) -> OffsetCommitValue:
        now = self._clock.now_ms()
        return OffsetCommitValue(
            offset=partition.committed_offset,
            leader_epoch=partition.committed_leader_epoch,
            metadata=partition.committed_metadata or "",
            commit_timestamp=now,
            expire_timestamp=_expiration(now, retention_time_ms),
            topic_id=topic_id,
        )

    # Fetch.

    async def _fetch(self, request: OffsetFetchRequest, call: Call) -> OffsetFetchResponse:
        await self._coordinator.durable()
        if call.version >= _GROUPS_SINCE:
            is_stable = request.require_stable
            groups = [self._fetch_group(each, call, is_stable=is_stable) async for each in in_slices(request.groups)]
            return OffsetFetchResponse(groups=tuple(groups))
        group = self._fetch_group(_with_groups(request), call, is_stable=request.require_stable)
        return _as_before_groups(group, request, call.version)

    def _fetch_group(
        self, asked: OffsetFetchRequest.OffsetFetchRequestGroup, call: Call, *, is_stable: bool
    ) -> FetchedGroup:
        """The offsets of a group; where they must be stable, none that an open transaction may change (KIP-447)."""
        if not self._access.allows(call.session, AclOperation.DESCRIBE, ResourceType.GROUP, asked.group_id):
            return FetchedGroup(asked.group_id, (), ErrorCode.GROUP_AUTHORIZATION_FAILED)
        if refused := self._fetch_refused(asked):
            return FetchedGroup(asked.group_id, (), refused)
        group = self._coordinator.state.by_id.get(asked.group_id, Group(asked.group_id))
        if asked.topics is None:
            return FetchedGroup(asked.group_id, tuple(self._all_topics(group, call, is_stable=is_stable)))
        topics = (self._fetch_topic(group, topic, call, is_stable=is_stable) for topic in asked.topics)
        return FetchedGroup(asked.group_id, tuple(topics))

    def _fetch_refused(self, asked: OffsetFetchRequest.OffsetFetchRequestGroup) -> ErrorCode:
        """The error of the group."""
        rules = self._groups.commit_rules(asked.group_id)
        return ErrorCode.NONE if rules is None else rules.fetch_error(asked.member_id, asked.member_epoch)

    def _all_topics(self, group: Group, call: Call, *, is_stable: bool) -> Iterator[FetchedTopic]:
        by_topic: dict[str, list[FetchedPartition]] = {}
        for name, partition in group.commits:
            by_topic.setdefault(name, []).append(_fetched(group, name, partition, is_stable=is_stable))
        for name, partitions in by_topic.items():
            if self._access.allows(call.session, AclOperation.DESCRIBE, ResourceType.TOPIC, name):
                topic = self._topics.by_name.get(name)
                yield FetchedTopic(name, Uuid() if topic is None else topic.topic_id, tuple(partitions))

    def _fetch_topic(
        self, group: Group, asked: OffsetFetchRequest.OffsetFetchRequestTopics, call: Call, *, is_stable: bool
    ) -> FetchedTopic:
        by_id = call.version >= _IDS_SINCE
        topic = self._topics.by_id.get(asked.topic_id) if by_id else None
        name = topic.name if topic is not None else asked.name
        error = ErrorCode.NONE
        if by_id and topic is None:
            error = ErrorCode.UNKNOWN_TOPIC_ID
        elif not self._access.allows(call.session, AclOperation.DESCRIBE, ResourceType.TOPIC, name):
            error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        partitions = (
            FetchedPartition(index, -1, -1, "", error) if error else _fetched(group, name, index, is_stable=is_stable)
            for index in asked.partition_indexes
        )
        return FetchedTopic(asked.name, asked.topic_id, tuple(partitions))

    # Delete.

    async def _delete(self, request: OffsetDeleteRequest, call: Call) -> OffsetDeleteResponse:
        if not self._access.allows(call.session, AclOperation.DELETE, ResourceType.GROUP, request.group_id):
            return OffsetDeleteResponse(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        topics = tuple(self._delete_topic(topic, call) for topic in request.topics)
        if not request.group_id:
            return OffsetDeleteResponse(ErrorCode.INVALID_GROUP_ID)
        if request.group_id in self._coordinator.state.by_id:
            await self._coordinator.prepare([request.group_id])
        group, live = self._coordinator.state.by_id.get(request.group_id), self._groups.classic.group(request.group_id)
        assigned = self._groups.committing(request.group_id)
        if group is None or (live is None and assigned is None):
            return OffsetDeleteResponse(ErrorCode.GROUP_ID_NOT_FOUND)
        if live is not None and live.protocol_type != CONSUMER and (error := live.deletion_error):
            return OffsetDeleteResponse(error)
        topics = tuple(_unless_subscribed(topic, live, assigned) for topic in topics)
        found = [(topic.name, p.partition_index) for topic in topics for p in topic.partitions if not p.error_code]
        committed = [partition for partition in dict.fromkeys(found) if partition in group.commits]
        self._coordinator.commit([(OffsetCommitKey(group.group_id, *partition), None) for partition in committed])
        await self._coordinator.durable()
        return OffsetDeleteResponse(topics=topics)

    def _delete_topic(
        self, asked: OffsetDeleteRequest.OffsetDeleteRequestTopic, call: Call
    ) -> OffsetDeleteResponse.OffsetDeleteResponseTopic:
        topic = self._topics.by_name.get(asked.name)
        refused = self._access.topic_error(call.session, AclOperation.READ, topic, asked.name)
        partitions = sorted(
            (
                OffsetDeleteResponse.OffsetDeleteResponsePartition(
                    partition.partition_index, refused or _unknown(topic, partition.partition_index)
                )
                for partition in asked.partitions
            ),
            key=lambda each: not each.error_code,  # in Kafka's order, as with commits
        )
        return OffsetDeleteResponse.OffsetDeleteResponseTopic(asked.name, tuple(partitions))


def _unless_subscribed(
    topic: OffsetDeleteResponse.OffsetDeleteResponseTopic,
    classic: ClassicGroup | None,
    group: ConsumerGroup | StreamsGroup | None,
) -> OffsetDeleteResponse.OffsetDeleteResponseTopic:
    """The results of a topic with an error instead of each success, if members subscribe to the topic."""
    is_subscribed = group is not None and topic.name in group.state.subscribed
    if not is_subscribed and (classic is None or not classic.is_subscribed_to(topic.name)):
        return topic
    subscribed = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    partitions = (replace(each, error_code=each.error_code or subscribed) for each in topic.partitions)
    return replace(topic, partitions=tuple(partitions))


def _expiration(now_ms: int, retention_ms: int) -> int:
    """When an offset expires that its client wants to keep for a while; -1 for the retention of the broker.

    The sum is one of Java, where a time after the last one of a long is long ago.
    """
    if retention_ms == -1:
        return -1
    return (now_ms + retention_ms + _TOO_LARGE) % (2 * _TOO_LARGE) - _TOO_LARGE


def _unknown(topic: Topic | None, partition: int) -> ErrorCode:
    known = topic is not None and partition in topic.partitions
    return ErrorCode.NONE if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _fetched(group: Group, name: str, index: int, *, is_stable: bool) -> FetchedPartition:
    if is_stable and (name, index) in group.pending:
        return FetchedPartition(index, -1, -1, "", ErrorCode.UNSTABLE_OFFSET_COMMIT)
    value = group.commits.get((name, index))
    if value is None:
        return FetchedPartition(index, -1, -1, "")
    return FetchedPartition(index, value.offset, value.leader_epoch, value.metadata)


def _with_groups(request: OffsetFetchRequest) -> OffsetFetchRequest.OffsetFetchRequestGroup:
    """The request of a version before 8, in the form of version 8."""
    asked = OffsetFetchRequest.OffsetFetchRequestTopics
    topics = None
    if request.topics is not None:
        topics = tuple(asked(topic.name, partition_indexes=topic.partition_indexes) for topic in request.topics)
    return OffsetFetchRequest.OffsetFetchRequestGroup(request.group_id, topics=topics)


def _as_before_groups(group: FetchedGroup, request: OffsetFetchRequest, version: int) -> OffsetFetchResponse:
    """The response of version 8 in the form of an earlier version; versions 0 and 1 have no error of the group."""
    topics: Iterable[FetchedTopic] = group.topics
    if group.error_code and version < _GROUP_ERROR_SINCE:
        topics = (
            FetchedTopic(
                topic.name,
                partitions=tuple(
                    FetchedPartition(index, -1, -1, "", group.error_code) for index in topic.partition_indexes
                ),
            )
            for topic in request.topics or ()
        )
    return OffsetFetchResponse(topics=tuple(map(_topic_before_groups, topics)), error_code=group.error_code)


def _topic_before_groups(topic: FetchedTopic) -> OffsetFetchResponse.OffsetFetchResponseTopic:
    partitions = (
        OffsetFetchResponse.OffsetFetchResponsePartition(
            each.partition_index, each.committed_offset, each.committed_leader_epoch, each.metadata, each.error_code
        )
        for each in topic.partitions
    )
    return OffsetFetchResponse.OffsetFetchResponseTopic(topic.name, tuple(partitions))
