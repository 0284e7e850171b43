"""DescribeShareGroupOffsets, AlterShareGroupOffsets and DeleteShareGroupOffsets (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.features import SHARE_FEATURE
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.share.offsets import NO_SUCH_PARTITION, AlteredPartition, AlteredTopic, DeletedTopic
from kafkawire.broker.groups.share.shared_partitions import in_set_order
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.model.java_order import hash_order, uuid_hash
from kafkawire.protocol import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_HIDDEN_TOPIC: Final = "Topic authorization failed."
_HIDDEN_GROUP: Final = "Group authorization failed."
_NO_VERSION: Final = "The version of API is not supported."
_NO_GROUP_ID: Final = "The group id is invalid."

DescribedGroup = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup
DescribedTopic = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseTopic
DescribedPartition = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponsePartition
AskedTopic = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestTopic


class ShareGroupOffsetHandlers:
    """Return, alter and delete where share groups read from."""

    def __init__(self, context: HandlerContext) -> None:
        self._access = context.access
        self._coordinator = context.coordinator
        self._features = context.controller.image.features
        self._topics = context.controller.image.topics
        self._groups = context.groups.share
        self._store = context.store
        self.apis = (
            ServedApi(DescribeShareGroupOffsetsRequest, self._describe, 0, 1),
            ServedApi(AlterShareGroupOffsetsRequest, self._alter, 0, 0),
            ServedApi(DeleteShareGroupOffsetsRequest, self._delete, 0, 0),
        )

    def _refused(self, operation: AclOperation, group_id: str, call: Call) -> Refused | None:
        if not self._is_served:
            return Refused(ErrorCode.UNSUPPORTED_VERSION, _NO_VERSION)
        if not self._access.allows(call.session, operation, ResourceType.GROUP, group_id):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED, _HIDDEN_GROUP)
        return Refused(ErrorCode.INVALID_GROUP_ID, _NO_GROUP_ID) if not group_id else None

    @property
    def _is_served(self) -> bool:
        return bool(self._features.levels.get(SHARE_FEATURE))

    def _may(self, operation: AclOperation, topic: str, call: Call) -> bool:
        return self._access.allows(call.session, operation, ResourceType.TOPIC, topic)

    # Describe.

    async def _describe(
        self, request: DescribeShareGroupOffsetsRequest, call: Call
    ) -> DescribeShareGroupOffsetsResponse:
        await self._coordinator.durable()
        groups = []
        async for asked in in_slices(request.groups):
            group_id = asked.group_id
            if not self._is_served:
                groups.append(DescribedGroup(group_id, error_code=ErrorCode.UNSUPPORTED_VERSION))
            elif not self._access.allows(call.session, AclOperation.DESCRIBE, ResourceType.GROUP, group_id):
                groups.append(DescribedGroup(group_id, error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED))
            elif asked.topics is None:
                groups.append(DescribedGroup(group_id, tuple(self._all_topics(group_id, call))))
            else:
                groups.append(DescribedGroup(group_id, tuple(self._asked_topics(group_id, asked.topics, call))))
        return DescribeShareGroupOffsetsResponse(groups=tuple(groups))

    def _all_topics(self, group_id: str, call: Call) -> Iterator[DescribedTopic]:
        group = self._groups.group(group_id)
        initialized = {} if group is None else group.partitions.initialized
        for topic_id in hash_order(initialized, uuid_hash):
            topic = self._topics.by_id.get(topic_id)
            if topic is not None and self._may(AclOperation.DESCRIBE, topic.name, call):
                yield self._described(group_id, topic.name, topic_id, initialized[topic_id].partitions)

    def _asked_topics(self, group_id: str, asked: Sequence[AskedTopic], call: Call) -> Iterator[DescribedTopic]:
        """Topics that exist, then those that do not, and those that the client may not see."""
        allowed = [each for each in asked if self._may(AclOperation.DESCRIBE, each.topic_name, call)]
        found: dict[Uuid, set[int]] = {}
        for each in allowed:
            topic = self._topics.by_name.get(each.topic_name)
            if topic is not None:
                found.setdefault(topic.topic_id, set()).update(each.partitions)
        for topic_id in hash_order(found, uuid_hash):
            yield self._described(group_id, self._topics.by_id[topic_id].name, topic_id, found[topic_id])
        for each in allowed:
            if each.topic_name not in self._topics.by_name:
                partitions = tuple(DescribedPartition(partition, -1) for partition in each.partitions)
                yield DescribedTopic(each.topic_name, partitions=partitions)
        for each in asked:
            if each not in allowed:
                error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
                hidden = (
                    DescribedPartition(index, -1, error_code=error, error_message=_HIDDEN_TOPIC)
                    for index in each.partitions
                )
                yield DescribedTopic(each.topic_name, partitions=tuple(hidden))

    def _described(self, group_id: str, name: str, topic_id: Uuid, partitions: Iterable[int]) -> DescribedTopic:
        in_order = in_set_order(partitions)
        return DescribedTopic(name, topic_id, tuple(self._partition(group_id, topic_id, each) for each in in_order))

    def _partition(self, group_id: str, topic_id: Uuid, partition: int) -> DescribedPartition:
        summary = self._groups.share_coordinator.summary(group_id, topic_id, partition)
        if summary is None:
            return DescribedPartition(partition, -1)
        lag = -1
        if summary.start_offset >= 0 and summary.delivery_complete_count >= 0:
            end = self._store.log(topic_id, partition).high_watermark
            lag = end - summary.start_offset - summary.delivery_complete_count
        return DescribedPartition(partition, summary.start_offset, summary.leader_epoch, lag)

    # Alter.

    async def _alter(
        self, request: AlterShareGroupOffsetsRequest, call: Call
    ) -> AlterShareGroupOffsetsResponse | Refused:
        refused = self._refused(AclOperation.READ, request.group_id, call)
        if refused is not None:
            return refused
        allowed, answers = [], dict[str, AlteredTopic]()
        for asked in request.topics:
            topic = self._topics.by_name.get(asked.topic_name)
            error = self._access.topic_error(call.session, AclOperation.READ, topic, asked.topic_name)
            if not error:
                allowed.append(asked)
                continue
            reason = _HIDDEN_TOPIC if error == ErrorCode.TOPIC_AUTHORIZATION_FAILED else NO_SUCH_PARTITION
            partitions = tuple(AlteredPartition(each.partition_index, error, reason) for each in asked.partitions)
            topic_id = Uuid() if topic is None else topic.topic_id
            if partitions:
                answers[asked.topic_name] = AlteredTopic(asked.topic_name, topic_id, partitions)
        try:
            altered = await self._groups.alter_offsets(replace(request, topics=tuple(allowed)))
        except GroupError as error:
            return Refused(error.code, error.message)
        return AlterShareGroupOffsetsResponse(responses=(*answers.values(), *altered.responses))

    # Delete.

    async def _delete(
        self, request: DeleteShareGroupOffsetsRequest, call: Call
    ) -> DeleteShareGroupOffsetsResponse | Refused:
        refused = self._refused(AclOperation.DELETE, request.group_id, call)
        if refused is not None:
            return refused
        allowed, hidden = [], []
        for asked in request.topics:
            if self._may(AclOperation.READ, asked.topic_name, call):
                allowed.append(asked)
            else:
                error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
                hidden.append(DeletedTopic(asked.topic_name, error_code=error, error_message=_HIDDEN_TOPIC))
        try:
            deleted = await self._groups.delete_offsets(replace(request, topics=tuple(allowed)))
        except GroupError as error:
            return Refused(error.code, error.message)
        return DeleteShareGroupOffsetsResponse(responses=(*hidden, *deleted.responses))
