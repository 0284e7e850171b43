"""OffsetForLeaderEpoch: where the records of a leader epoch end (KIP-320)."""

from __future__ import annotations

import logging

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.partitions.leader_epochs import end_of_epoch, leader_epoch_error
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.storage.errors import StorageError
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse
from kafkawire.protocol.error_codes import ErrorCode

_log = logging.getLogger(__name__)

_Topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic
_Asked = OffsetForLeaderEpochRequest.OffsetForLeaderPartition
_Result = OffsetForLeaderEpochResponse.EpochEndOffset
_Results = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult


class LeaderEpochHandlers:
    """Return the ends of leader epochs."""

    def __init__(self, context: HandlerContext) -> None:
        self._topics = context.controller.image.topics
        self._store = context.store
        self._access = context.access
        self.apis = (ServedApi(OffsetForLeaderEpochRequest, self._ends, 2, 4),)

    async def _ends(self, request: OffsetForLeaderEpochRequest, call: Call) -> OffsetForLeaderEpochResponse:
        is_broker = self._access.allows_on_cluster(call.session, AclOperation.CLUSTER_ACTION)
        allowed: list[_Topic] = []
        refused: list[_Topic] = []
        async for topic in in_slices(request.topics):
            may = is_broker or self._access.allows(call.session, AclOperation.DESCRIBE, ResourceType.TOPIC, topic.topic)
            (allowed if may else refused).append(topic)
        results = [
            _Results(topic.topic, tuple([self._end(topic.topic, asked) async for asked in in_slices(topic.partitions)]))
            for topic in allowed
        ]
        error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        results += [
            _Results(topic.topic, tuple(_Result(error, asked.partition) for asked in topic.partitions))
            for topic in refused
        ]
        return OffsetForLeaderEpochResponse(topics=tuple(results))

    def _end(self, name: str, asked: _Asked) -> _Result:
        topic = self._topics.by_name.get(name)
        partition = None if topic is None else topic.partitions.get(asked.partition)
        if topic is None or partition is None:
            return _Result(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, asked.partition)
        stale = leader_epoch_error(asked.current_leader_epoch, partition.leader_epoch)
        if stale:
            return _Result(stale, asked.partition)
        try:
            log = self._store.log(topic.topic_id, asked.partition)
            epoch, end_offset = end_of_epoch(log, asked.leader_epoch, partition.leader_epoch)
        except (OSError, StorageError) as error:
            _log.error("The leader epochs of %s-%d cannot be read: %s", name, asked.partition, error)
            return _Result(ErrorCode.KAFKA_STORAGE_ERROR, asked.partition)
        return _Result(ErrorCode.NONE, asked.partition, epoch, end_offset)
