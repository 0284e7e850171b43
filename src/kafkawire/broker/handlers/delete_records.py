"""DeleteRecords: records below an offset are gone (KIP-107)."""

from __future__ import annotations

from typing import Final

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.model.topics import INTERNAL_TOPICS
from kafkawire.protocol import DeleteRecordsRequest, DeleteRecordsResponse
from kafkawire.protocol.error_codes import ErrorCode

_HIGH_WATERMARK: Final = -1
_NONE: Final = -1

Result = DeleteRecordsResponse.DeleteRecordsPartitionResult


class DeleteRecordsHandlers:
    """Move the first offsets of partitions."""

    def __init__(self, context: HandlerContext) -> None:
        self._topics = context.controller.image.topics
        self._store = context.store
        self._rules = context.rules
        self._access = context.access
        self.apis = (ServedApi(DeleteRecordsRequest, self._delete, 0, 2),)

    async def _delete(self, request: DeleteRecordsRequest, call: Call) -> DeleteRecordsResponse:
        """Delete topic by topic; of a partition that the request has twice, the last offset counts."""
        offsets: dict[str, dict[int, int]] = {}
        for topic in request.topics:
            asked = {partition.partition_index: partition.offset for partition in topic.partitions}
            if asked:
                offsets.setdefault(topic.name, {}).update(asked)
        topics = []
        for name, partitions in offsets.items():
            is_allowed = self._access.allows(call.session, AclOperation.DELETE, ResourceType.TOPIC, name)
            results = [
                await self._delete_before(name, index, offset)
                if is_allowed
                else Result(index, _NONE, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                async for index, offset in in_slices(partitions.items())
            ]
            topics.append(DeleteRecordsResponse.DeleteRecordsTopicResult(name, tuple(results)))
        return DeleteRecordsResponse(topics=tuple(topics))

    async def _delete_before(self, name: str, index: int, offset: int) -> Result:
        topic = self._topics.by_name.get(name)
        if topic is None or index not in topic.partitions:
            return Result(index, _NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if name in INTERNAL_TOPICS:
            return Result(index, _NONE, ErrorCode.INVALID_TOPIC_EXCEPTION)
        cleaning = self._rules.of(name).cleaning
        if cleaning.compacts and not cleaning.deletes:
            return Result(index, _NONE, ErrorCode.POLICY_VIOLATION)
        log = self._store.log(topic.topic_id, index)
        before = log.high_watermark if offset == _HIGH_WATERMARK else offset
        if not 0 <= before <= log.high_watermark:
            return Result(index, _NONE, ErrorCode.OFFSET_OUT_OF_RANGE)
        await log.delete_before(before)
        return Result(index, log.start_offset)
