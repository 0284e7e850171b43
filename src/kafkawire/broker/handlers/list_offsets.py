"""Where partitions begin and end: ListOffsets."""

from __future__ import annotations

from collections import Counter
from typing import Final

from kafkawire.admin.acls import AclOperation, ResourceType
from kafkawire.broker.access import Access
from kafkawire.broker.calls import Call, Routes
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.broker.partitions.leader_epochs import leader_epoch_error
from kafkawire.broker.partitions.partition_log import FoundOffset, PartitionLog
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.protocol import ListOffsetsRequest, ListOffsetsResponse
from kafkawire.protocol.error_codes import ErrorCode

__all__ = ["ListOffsetsHandlers"]

_EPOCHS_SINCE: Final = 4

_LATEST: Final = -1
_EARLIEST: Final = frozenset({-2, -4})
"""The first offset; of what is kept here as well, which is everything."""
_NEWEST: Final = -3
_TIERED: Final = frozenset({-5, -6})
"""About remote storage, which there is none of."""

Result = ListOffsetsResponse.ListOffsetsPartitionResponse


class ListOffsetsHandlers:
    """Answers about offsets.

    Args:
        topics: what there is.
        store: has the records.
        access: who may know.
    """

    def __init__(self, topics: TopicsImage, store: RecordStore, access: Access) -> None:
        self._topics = topics
        self._store = store
        self._access = access

    @property
    def routes(self) -> Routes:
        """Request to handler."""
        return {ListOffsetsRequest: self._list_offsets}

    def _list_offsets(self, request: ListOffsetsRequest, call: Call) -> ListOffsetsResponse:
        counts = Counter((topic.name, p.partition_index) for topic in request.topics for p in topic.partitions)
        topics = []
        for topic in request.topics:
            allowed = self._access.allows(call.session, AclOperation.DESCRIBE, ResourceType.TOPIC, topic.name)
            # Partitions that stand there twice are told once, and last.
            once = {asked.partition_index: asked for asked in topic.partitions}
            partitions = sorted(once.values(), key=lambda each: counts[topic.name, each.partition_index] > 1)
            results = []
            for asked in partitions:
                if not allowed:
                    result: Result | ErrorCode = ErrorCode.TOPIC_AUTHORIZATION_FAILED
                elif counts[topic.name, asked.partition_index] > 1:
                    result = ErrorCode.INVALID_REQUEST
                else:
                    result = self._find(topic.name, asked, with_epoch=call.version >= _EPOCHS_SINCE)
                results.append(Result(asked.partition_index, result) if isinstance(result, ErrorCode) else result)
            topics.append(ListOffsetsResponse.ListOffsetsTopicResponse(topic.name, tuple(results)))
        return ListOffsetsResponse(topics=tuple(topics))

    def _find(
        self, name: str, asked: ListOffsetsRequest.ListOffsetsPartition, *, with_epoch: bool
    ) -> Result | ErrorCode:
        topic = self._topics.by_name.get(name)
        partition = None if topic is None else topic.partitions.get(asked.partition_index)
        if topic is None or partition is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        stale = leader_epoch_error(asked.current_leader_epoch, partition.leader_epoch)
        if stale:
            return stale
        log = self._store.log(topic.topic_id, asked.partition_index)
        found = _found(log, asked.timestamp)
        if found is None:
            return Result(asked.partition_index)
        return Result(
            asked.partition_index,
            0,
            timestamp=found.timestamp,
            offset=found.offset,
            leader_epoch=partition.leader_epoch if with_epoch else -1,
        )


def _found(log: PartitionLog, timestamp: int) -> FoundOffset | None:
    if timestamp == _LATEST:
        return FoundOffset(log.end_offset, -1)
    if timestamp in _EARLIEST:
        return FoundOffset(0, -1)
    if timestamp == _NEWEST:
        return log.newest()
    return None if timestamp in _TIERED else log.first_since(timestamp)
