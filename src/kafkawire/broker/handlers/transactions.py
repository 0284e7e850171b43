"""InitProducerId, AddPartitionsToTxn and EndTxn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafkawire.broker.authorization import Authorization
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.transactions.live_transactions import Answer
from kafkawire.broker.transactions.transaction import V2, Ending, Initialization, Partition
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.model.topics import INTERNAL_TOPICS
from kafkawire.protocol import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches.batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

_FENCED_SINCE_INIT: Final = 4
_FENCED_SINCE: Final = 2
_BROKERS_SINCE: Final = 4
_V2_SINCE: Final = 5
_NOBODY: Final = Producer(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)


def may_write(access: Authorization, call: Call, transactional_id: str) -> bool:
    """Whether a client may use a transactional id."""
    return access.allows(call.session, AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id)


def error_of_version(error: ErrorCode, version: int, fenced_since: int) -> ErrorCode:
    """The error for a client: older ones do not know PRODUCER_FENCED (KIP-588).

    Args:
        error: the error.
        version: of the request.
        fenced_since: the first version that has PRODUCER_FENCED.
    """
    is_unknown = error is ErrorCode.PRODUCER_FENCED and version < fenced_since
    return ErrorCode.INVALID_PRODUCER_EPOCH if is_unknown else error


class TransactionHandlers:
    """Begin producers, add partitions to transactions, and end them."""

    def __init__(self, context: HandlerContext) -> None:
        self._topics = context.controller.image.topics
        self._transactions = context.transactions
        self._producer_ids = context.producer_ids
        self._access = context.access
        self.apis = (
            ServedApi(InitProducerIdRequest, self._init_producer_id, 0, 5, highest_unstable=6),
            ServedApi(AddPartitionsToTxnRequest, self._add_partitions, 0, 5),
            ServedApi(EndTxnRequest, self._end, 0, 5),
        )

    # InitProducerId.

    async def _init_producer_id(self, request: InitProducerIdRequest, call: Call) -> InitProducerIdResponse:
        answer = await self._initialized(request, call)
        error = error_of_version(answer.error, call.version, _FENCED_SINCE_INIT)
        return InitProducerIdResponse(
            error_code=error, producer_id=answer.producer.producer_id, producer_epoch=answer.producer.epoch
        )

    async def _initialized(self, request: InitProducerIdRequest, call: Call) -> Answer:
        transactional_id = request.transactional_id
        if transactional_id is None and not self._may_be_idempotent(call):
            return Answer(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        if transactional_id is not None and not may_write(self._access, call, transactional_id):
            return Answer(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        expected = Producer(request.producer_id, request.producer_epoch)
        if (expected.producer_id == NO_PRODUCER_ID) is not (expected.epoch == NO_PRODUCER_EPOCH):
            return Answer(ErrorCode.INVALID_REQUEST)
        if transactional_id is None:
            return Answer(ErrorCode.NONE, Producer(self._producer_ids.next(), 0))
        if not transactional_id:
            return Answer(ErrorCode.INVALID_REQUEST)
        if request.enable2_pc:
            return Answer(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)  # as where it is disabled (KIP-939)
        if request.keep_prepared_txn:
            return Answer(ErrorCode.UNSUPPORTED_VERSION)  # as in Kafka, which does not have it yet (KIP-939)
        asked = Initialization(request.transaction_timeout_ms, None if expected == _NOBODY else expected)
        return await self._transactions.initialize(transactional_id, asked)

    def _may_be_idempotent(self, call: Call) -> bool:
        """Whether a client may be idempotent: the right to write to any topic is enough (KIP-679)."""
        return self._access.allows_on_cluster(
            call.session, AclOperation.IDEMPOTENT_WRITE
        ) or self._access.allows_on_any(call.session, AclOperation.WRITE, ResourceType.TOPIC)

    # AddPartitionsToTxn.

    async def _add_partitions(
        self, request: AddPartitionsToTxnRequest, call: Call
    ) -> AddPartitionsToTxnResponse | Refused:
        is_from_broker = call.version >= _BROKERS_SINCE
        if is_from_broker and not self._access.allows_on_cluster(call.session, AclOperation.CLUSTER_ACTION):
            return Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        if not is_from_broker:
            only = await self._added(_with_transaction(request), call)
            return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=only.topic_results)
        results = [await self._added(asked, call) async for asked in in_slices(request.transactions)]
        return AddPartitionsToTxnResponse(results_by_transaction=tuple(results))

    async def _added(
        self, asked: AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction, call: Call
    ) -> AddPartitionsToTxnResponse.AddPartitionsToTxnResult:
        partitions = {(topic.name, number): None for topic in asked.topics for number in topic.partitions}
        if call.version < _BROKERS_SINCE and not may_write(self._access, call, asked.transactional_id):
            errors = dict.fromkeys(partitions, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        elif any((errors := self._unusable(tuple(partitions), call)).values()):
            errors = {key: error or ErrorCode.OPERATION_NOT_ATTEMPTED for key, error in errors.items()}
        else:
            errors |= await self._errors(asked, tuple(partitions), call)
        return _result(asked.transactional_id, errors)

    def _unusable(self, partitions: tuple[Partition, ...], call: Call) -> dict[Partition, ErrorCode]:
        """The errors of partitions that no transaction can have."""
        return {partition: self._partition_error(partition, call) for partition in partitions}

    def _partition_error(self, partition: Partition, call: Call) -> ErrorCode:
        name, number = partition
        if call.version < _BROKERS_SINCE:
            write = AclOperation.WRITE
            if name in INTERNAL_TOPICS or not self._access.allows(call.session, write, ResourceType.TOPIC, name):
                return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        topic = self._topics.by_name.get(name)
        exists = topic is not None and number in topic.partitions
        return ErrorCode.NONE if exists else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    async def _errors(
        self,
        asked: AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction,
        partitions: tuple[Partition, ...],
        call: Call,
    ) -> Mapping[Partition, ErrorCode]:
        transactional_id, producer = asked.transactional_id, Producer(asked.producer_id, asked.producer_epoch)
        if asked.verify_only:
            return self._transactions.errors(transactional_id, producer, partitions)
        client_version = V2 if call.version >= _BROKERS_SINCE else 0
        error = await self._transactions.add_partitions(transactional_id, producer, partitions, client_version)
        return dict.fromkeys(partitions, error_of_version(error, call.version, _FENCED_SINCE))

    # EndTxn.

    async def _end(self, request: EndTxnRequest, call: Call) -> EndTxnResponse:
        if not may_write(self._access, call, request.transactional_id):
            return EndTxnResponse(error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        producer = Producer(request.producer_id, request.producer_epoch)
        client_version = V2 if call.version >= _V2_SINCE else 0
        answer = await self._transactions.end(
            request.transactional_id, Ending(producer, request.committed, client_version)
        )
        error = error_of_version(answer.error, call.version, _FENCED_SINCE)
        return EndTxnResponse(
            error_code=error, producer_id=answer.producer.producer_id, producer_epoch=answer.producer.epoch
        )


def _with_transaction(request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction:
    """The request of a version before 4, in the form of version 4."""
    return AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction(
        request.v3_and_below_transactional_id,
        request.v3_and_below_producer_id,
        request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )


def _result(
    transactional_id: str, errors: Mapping[Partition, ErrorCode]
) -> AddPartitionsToTxnResponse.AddPartitionsToTxnResult:
    response = AddPartitionsToTxnResponse
    by_topic: dict[str, list[AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult]] = {}
    for (name, number), error in errors.items():
        by_topic.setdefault(name, []).append(response.AddPartitionsToTxnPartitionResult(number, error))
    topics = (response.AddPartitionsToTxnTopicResult(name, tuple(results)) for name, results in by_topic.items())
    return response.AddPartitionsToTxnResult(transactional_id, tuple(topics))
