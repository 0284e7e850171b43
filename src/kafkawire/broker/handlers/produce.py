"""Produce."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.handlers.transactional_writes import ConfirmedTransactions, TransactionalWrites
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.partitions.checked_batch import (
    SMALL_BATCH,
    SMALL_OUTPUT,
    AppendRules,
    RefusedRecordsError,
    checked_batch,
)
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.producers import ProducerStateError
from kafkawire.broker.requests import Answer, Call, Refused, RefusedRequestError, Unanswered
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.topics import INTERNAL_TOPICS
from kafkawire.protocol import (
    ProduceRequest,
    ProduceResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import RecordBytes
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.errors import OutputLimitError

_FIRST_SERVED: Final = 3
_RECORD_ERRORS_SINCE: Final = 8
_IDS_SINCE: Final = 13
_UNANSWERED: Final = "records sent with acks 0, which has no response for the error, were refused"

Result = ProduceResponse.PartitionProduceResponse


class ProduceHandlers:
    """Append records."""

    def __init__(self, context: HandlerContext) -> None:
        self._topics = context.controller.image.topics
        self._rules = context.rules
        self._store = context.store
        self._access = context.access
        self._rates = context.quotas.produce
        self._clock = context.clock
        self._work = context.work
        self._transactions = TransactionalWrites(context)
        self.apis = (ServedApi(ProduceRequest, self._produce, 0, 13),)

    async def _produce(self, request: ProduceRequest, call: Call) -> Answer:
        if call.version < _FIRST_SERVED:
            raise RefusedRequestError(f"Produce version {call.version} is listed for old clients, but not served")
        confirmed = await self._transactions.confirmed(request, call)
        if isinstance(confirmed, ErrorCode):
            if request.acks:
                return Refused(confirmed)
            raise RefusedRequestError(_UNANSWERED)
        logs: list[PartitionLog] = []
        topics = tuple(
            [await self._produce_topic(topic, request, call, confirmed, logs) for topic in request.topic_data]
        )
        if request.acks:
            call.appended.extend((log, log.end_offset) for log in logs)
        throttle_time_ms = self._rates.record(call.session, call.client_id, call.size)
        if request.acks:
            return ProduceResponse(topics, throttle_time_ms)
        if any(partition.error_code for topic in topics for partition in topic.partition_responses):
            raise RefusedRequestError(_UNANSWERED)
        return Unanswered(throttle_time_ms)

    async def _produce_topic(
        self,
        asked: ProduceRequest.TopicProduceData,
        request: ProduceRequest,
        call: Call,
        confirmed: ConfirmedTransactions,
        logs: list[PartitionLog],
    ) -> ProduceResponse.TopicProduceResponse:
        by_id = call.version >= _IDS_SINCE
        topic = self._topics.find(asked.name, asked.topic_id, by_id=by_id)
        refused = self._access.topic_error(call.session, AclOperation.WRITE, topic, asked.name, by_id=by_id)
        if not refused and request.acks not in {-1, 0, 1}:
            refused = ErrorCode.INVALID_REQUIRED_ACKS
        partitions = [
            _failed(partition.index, refused)
            if refused or topic is None
            else await self._append(topic, partition, call, confirmed, logs)
            async for partition in in_slices(asked.partition_data)
        ]
        return ProduceResponse.TopicProduceResponse(asked.name, asked.topic_id, tuple(partitions))

    async def _append(
        self,
        topic: Topic,
        asked: ProduceRequest.PartitionProduceData,
        call: Call,
        confirmed: ConfirmedTransactions,
        logs: list[PartitionLog],
    ) -> Result:
        if asked.index not in topic.partitions:
            return _failed(asked.index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if topic.name in INTERNAL_TOPICS:
            return _failed(asked.index, ErrorCode.INVALID_TOPIC_EXCEPTION)
        unconfirmed = confirmed.errors.get((topic.name, asked.index))
        if unconfirmed is not None:
            return _failed(asked.index, unconfirmed, "The transaction coordinator did not confirm the transaction")
        rules = self._rules.of(topic.name)
        now_ms = self._clock.now_ms()
        try:
            batch = await self._checked(asked.records or b"", rules.records, now_ms)
            known = self._topics.by_id.get(topic.topic_id)  # it may have been deleted in between
            partition = None if known is None else known.partitions.get(asked.index)
            if partition is None:
                return _failed(asked.index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            log = self._store.log(topic.topic_id, asked.index)
            logs.append(log)
            epoch = partition.leader_epoch
            appended = self._store.append(
                topic.topic_id,
                asked.index,
                batch,
                epoch,
                rules=rules.segments,
                now_ms=now_ms,
                verification=confirmed.verifications.get((topic.name, asked.index)),
            )
        except ProducerStateError as error:
            return _failed(asked.index, error.code, str(error), log_start_offset=self._start_offset(topic, asked.index))
        except RefusedRecordsError as error:
            start_offset = self._start_offset(topic, asked.index) if error.in_log else -1
            refused = _failed(asked.index, error.code, str(error), log_start_offset=start_offset)
            reason = f"{error} in topic partition {topic.name}-{asked.index}"
            blamed = tuple(ProduceResponse.BatchIndexAndErrorMessage(index, reason) for index in error.records)
            return replace(refused, record_errors=blamed) if call.version >= _RECORD_ERRORS_SINCE else refused
        time = now_ms if rules.records.log_append_time and appended.first_timestamp < 0 else appended.first_timestamp
        return Result(asked.index, 0, appended.base_offset, time, log_start_offset=log.start_offset)

    def _start_offset(self, topic: Topic, partition: int) -> int:
        return self._store.log(topic.topic_id, partition).start_offset if topic.topic_id in self._topics.by_id else 0

    async def _checked(self, records: RecordBytes, rules: AppendRules, now_ms: int) -> RecordBatch:
        """The batch to store. The thread checks batches that may have many records or take long to decompress."""
        if len(records) <= SMALL_BATCH:
            with suppress(OutputLimitError):
                return checked_batch(records, rules, now_ms, SMALL_OUTPUT)
        return await self._work.in_thread(checked_batch, records, rules, now_ms)


def _failed(index: int, code: ErrorCode, message: str | None = None, *, log_start_offset: int = -1) -> Result:
    return Result(index, code, -1, log_start_offset=log_start_offset, error_message=message)
