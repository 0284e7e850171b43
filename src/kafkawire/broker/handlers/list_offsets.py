"""ListOffsets."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Set
from typing import Final

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.partitions.leader_epochs import leader_epoch_error
from kafkawire.broker.partitions.partition_log import FoundOffset, PartitionLog
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import ListOffsetsRequest, ListOffsetsResponse, PartitionRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import DecodeError

_log = logging.getLogger(__name__)
_EPOCHS_SINCE: Final = 4
_READ_COMMITTED: Final = 1

_LATEST: Final = -1
_EARLIEST: Final = frozenset({-2, -4})
"""The first offset, and the first on local disks, which is the same here."""
_NEWEST: Final = -3
_TIERED: Final = frozenset({-5, -6})
"""Offsets in remote storage, which this broker does not have."""

Result = ListOffsetsResponse.ListOffsetsPartitionResponse


class ListOffsetsHandlers:
    """Return offsets of partitions."""

    def __init__(self, context: HandlerContext) -> None:
        self._topics = context.controller.image.topics
        self._store = context.store
        self._access = context.access
        self.apis = (ServedApi(ListOffsetsRequest, self._list_offsets, 1, 11),)

    async def _list_offsets(self, request: ListOffsetsRequest, call: Call) -> ListOffsetsResponse:
        counts = Counter((topic.name, p.partition_index) for topic in request.topics for p in topic.partitions)
        twice = {partition for partition, count in counts.items() if count > 1}
        once: dict[str, dict[int, ListOffsetsRequest.ListOffsetsPartition]] = {}
        for topic in request.topics:
            once.setdefault(topic.name, {}).update({asked.partition_index: asked for asked in topic.partitions})
        listed = [await self._list_topic(request, name, partitions, twice, call) for name, partitions in once.items()]
        return ListOffsetsResponse(topics=tuple(listed))

    async def _list_topic(
        self,
        request: ListOffsetsRequest,
        name: str,
        partitions: Mapping[int, ListOffsetsRequest.ListOffsetsPartition],
        twice: Set[tuple[str, int]],
        call: Call,
    ) -> ListOffsetsResponse.ListOffsetsTopicResponse:
        """The results of a topic; partitions that the request has twice are listed once, at the end."""
        allowed = self._access.allows(call.session, AclOperation.DESCRIBE, ResourceType.TOPIC, name)
        results = []
        in_order = sorted(partitions.items(), key=lambda item: (name, item[0]) in twice)
        async for index, asked in in_slices(in_order):
            if not allowed:
                results.append(Result(index, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
            elif (name, index) in twice:
                results.append(Result(index, ErrorCode.INVALID_REQUEST))
            else:
                is_committed = request.isolation_level == _READ_COMMITTED
                with_epoch = call.version >= _EPOCHS_SINCE
                results.append(self._find(name, asked, is_committed=is_committed, with_epoch=with_epoch))
        return ListOffsetsResponse.ListOffsetsTopicResponse(name, tuple(results))

    def _find(
        self, name: str, asked: ListOffsetsRequest.ListOffsetsPartition, *, is_committed: bool, with_epoch: bool
    ) -> Result:
        index = asked.partition_index
        topic = self._topics.by_name.get(name)
        partition = None if topic is None else topic.partitions.get(index)
        if topic is None or partition is None:
            return Result(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        stale = leader_epoch_error(asked.current_leader_epoch, partition.leader_epoch)
        if stale:
            return Result(index, stale)
        log = self._store.log(topic.topic_id, index)
        try:
            found = _found(log, asked.timestamp, log.last_stable_offset if is_committed else log.high_watermark)
        except (OSError, DecodeError) as error:
            _log.error("The records of %s-%d cannot be read: %s", name, index, error)
            return Result(index, ErrorCode.KAFKA_STORAGE_ERROR)
        if found is None:
            return Result(index)
        return Result(
            index,
            timestamp=found.timestamp,
            offset=found.offset,
            leader_epoch=_epoch(found, partition) if with_epoch else -1,
        )


def _epoch(found: FoundOffset, partition: PartitionRecord) -> int:
    return partition.leader_epoch if found.leader_epoch < 0 else found.leader_epoch


def _found(log: PartitionLog, timestamp: int, end: int) -> FoundOffset | None:
    """The offset for a timestamp, below the end of what the client may read."""
    if timestamp == _LATEST:
        return FoundOffset(end, -1)
    if timestamp in _EARLIEST:
        return FoundOffset(log.start_offset, -1)
    if timestamp in _TIERED:
        return None
    found = log.newest() if timestamp == _NEWEST else log.first_since(timestamp)
    return found if found is not None and found.offset < end else None
