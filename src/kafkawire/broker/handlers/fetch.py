"""Fetch.

There are no incremental sessions (KIP-227): each response is complete and has the session id 0, so that clients send
complete requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.partitions.leader_epochs import leader_epoch_error
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.storage.errors import StorageError
from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.protocol import FetchRequest, FetchResponse
from kafkawire.protocol.error_codes import ErrorCode

_log = logging.getLogger(__name__)
_IDS_SINCE: Final = 13
_MOST_BYTES: Final = 55 * 1024 * 1024  # fetch.max.bytes
_LONGEST_WAIT: Final = 600.0
"""Seconds; by then Kafka has closed the connection as idle. A longer wait would be for a client that may be gone."""

_READ_COMMITTED: Final = 1

Result = FetchResponse.PartitionData
Aborted = FetchResponse.AbortedTransaction


@dataclass(slots=True)
class _Reading:
    """A response that is being built.

    Attributes:
        room: how many more bytes of records fit.
        size: bytes of records so far.
        failed: whether a partition has an error, which is reported without waiting for records.
        logs: the logs to wait for, if there are too few records.
    """

    room: float
    size: int = 0
    failed: bool = False
    logs: list[PartitionLog] = field(default_factory=list)


class FetchHandlers:
    """Return records."""

    def __init__(self, context: HandlerContext) -> None:
        self._topics = context.controller.image.topics
        self._store = context.store
        self._access = context.access
        self._rates = context.quotas.fetch
        self._clock = context.clock
        self.apis = (ServedApi(FetchRequest, self._fetch, 4, 18),)

    async def _fetch(self, request: FetchRequest, call: Call) -> FetchResponse:
        if request.session_epoch > 0:
            return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        asked = _each_once(request.topics)
        deadline = self._clock.seconds() + min(request.max_wait_ms / 1000, _LONGEST_WAIT)
        while True:
            room = min(request.max_bytes, _MOST_BYTES, self._rates.most(call.session, call.client_id))
            reading = _Reading(room)
            topics = tuple(self._fetch_topic(topic, request, call, reading) for topic in asked)
            is_enough = reading.failed or reading.size >= request.min_bytes or not reading.logs
            if is_enough or not await self._more(reading.logs, deadline):
                return self._within_quota(FetchResponse(responses=topics), call)

    async def _more(self, logs: Sequence[PartitionLog], deadline: float) -> bool:
        """Wait for records until a deadline; returns whether some were appended."""
        seconds = deadline - self._clock.seconds()
        if seconds <= 0:
            return False
        appended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        for log in logs:
            log.wait(appended)
        try:
            await asyncio.wait((appended, timer), return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            for log in logs:
                log.forget(appended)
        return appended.done()

    def _within_quota(self, response: FetchResponse, call: Call) -> FetchResponse:
        """The response, or an empty one for a client that exceeds its quota and must fetch again later (D14)."""
        size = len(response.encode(call.version)) + 4 if self._rates.enabled else 0
        for_bytes = self._rates.record(call.session, call.client_id, size)
        throttle_time_ms = max(for_bytes, call.time.throttle_time_ms())
        if not throttle_time_ms:
            return response
        self._rates.unrecord(call.session, call.client_id, size)
        return FetchResponse(throttle_time_ms)

    def _fetch_topic(
        self, asked: FetchRequest.FetchTopic, request: FetchRequest, call: Call, reading: _Reading
    ) -> FetchResponse.FetchableTopicResponse:
        by_id = call.version >= _IDS_SINCE
        topic = self._topics.find(asked.topic, asked.topic_id, by_id=by_id)
        refused = self._access.topic_error(call.session, AclOperation.READ, topic, asked.topic, by_id=by_id)
        partitions = []
        for partition in asked.partitions:
            if topic is None or refused:
                result = _failed(partition.partition, refused)
            else:
                result = self._read(topic, partition, request, reading)
            reading.failed = reading.failed or bool(result.error_code)
            partitions.append(result)
        return FetchResponse.FetchableTopicResponse(asked.topic, asked.topic_id, tuple(partitions))

    def _read(
        self, topic: Topic, asked: FetchRequest.FetchPartition, request: FetchRequest, reading: _Reading
    ) -> Result:
        partition = topic.partitions.get(asked.partition)
        if partition is None:
            return _failed(asked.partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        log = self._store.log(topic.topic_id, asked.partition)
        error = leader_epoch_error(asked.current_leader_epoch, partition.leader_epoch)
        if not error and not log.start_offset <= asked.fetch_offset <= log.end_offset:
            error = ErrorCode.OFFSET_OUT_OF_RANGE
        if error:
            return replace(_failed(asked.partition, error), aborted_transactions=None)
        most = min(asked.partition_max_bytes, reading.room)
        is_committed = request.isolation_level == _READ_COMMITTED
        stable = log.last_stable_offset
        aborted: Sequence[Aborted] | None = None
        try:
            records = log.read(
                asked.fetch_offset, int(most), at_least_one=not reading.size, end=stable if is_committed else None
            )
            if is_committed:
                found = log.aborted_by_read(asked.fetch_offset, len(records))
                aborted = tuple(Aborted(each.producer_id, each.first_offset) for each in found)
        except (OSError, StorageError) as failure:
            _log.error("The records of %s-%d cannot be read: %s", topic.name, asked.partition, failure)
            return _failed(asked.partition, ErrorCode.KAFKA_STORAGE_ERROR)
        reading.room -= len(records)
        reading.size += len(records)
        reading.logs.append(log)
        return Result(
            asked.partition,
            high_watermark=log.high_watermark,
            last_stable_offset=stable,
            log_start_offset=log.start_offset,
            aborted_transactions=aborted,
            records=records,
        )


def _each_once(topics: Sequence[FetchRequest.FetchTopic]) -> Sequence[FetchRequest.FetchTopic]:
    """The topics with each partition once: the last one, if a request has it twice."""
    partitions: dict[tuple[str, Uuid], dict[int, FetchRequest.FetchPartition]] = {}
    for topic in topics:
        of_topic = partitions.setdefault((topic.topic, topic.topic_id), {})
        of_topic.update({partition.partition: partition for partition in topic.partitions})
    return [
        FetchRequest.FetchTopic(name, topic_id, tuple(by_index.values()))
        for (name, topic_id), by_index in partitions.items()
    ]


def _failed(index: int, code: ErrorCode) -> Result:
    return Result(index, code, -1, records=b"")
