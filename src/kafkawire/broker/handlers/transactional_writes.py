"""Produce requests in transactions: the coordinator confirms their partitions before anything is appended (KIP-890)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.partitions.verifications import TransactionalWrite, Verification
from kafkawire.broker.requests import Call
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.model.topics import INTERNAL_TOPICS
from kafkawire.protocol import ProduceRequest
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import RecordBatch, read_batches
from kafkawire.wire.batches.batch import NO_PRODUCER_ID, TRANSACTIONAL
from kafkawire.wire.batches.framing import ATTRIBUTES_OFFSET
from kafkawire.wire.errors import CorruptBatchError

_ATTRIBUTES_SIZE: Final = 2
_IDS_SINCE: Final = 13
_ABORTABLE_SINCE: Final = 11
_ADDS_SINCE: Final = 12
_VERIFIES: Final = "transaction.partition.verification.enable"
_UNREACHABLE: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.NOT_COORDINATOR,
    }
)


@dataclass(frozen=True, slots=True)
class ConfirmedTransactions:
    """What the coordinator says about the partitions of a request, by name of the topic and index.

    Attributes:
        errors: of partitions that are in no open transaction of the producer.
        verifications: of the others, as far as they needed one. Without ``transaction.partition.verification.enable``
            the producers of older versions are not verified.
    """

    errors: Mapping[tuple[str, int], ErrorCode] = field(default_factory=dict)
    verifications: Mapping[tuple[str, int], Verification] = field(default_factory=dict)


_NOT_TRANSACTIONAL: Final = ConfirmedTransactions()


class TransactionalWrites:
    """Confirms the transactions of Produce requests."""

    def __init__(self, context: HandlerContext) -> None:
        self._topics = context.controller.image.topics
        self._store = context.store
        self._access = context.access
        self._confirm = context.confirm_transaction
        self._configuration = context.configuration

    async def confirmed(self, request: ProduceRequest, call: Call) -> ConfirmedTransactions | ErrorCode:
        """What the coordinator says; an error refuses the whole request."""
        if not any(_is_transactional(asked) for topic in request.topic_data for asked in topic.partition_data):
            return _NOT_TRANSACTIONAL
        transactional_id = request.transactional_id
        kind = ResourceType.TRANSACTIONAL_ID
        if transactional_id is None or not self._access.allows(
            call.session, AclOperation.WRITE, kind, transactional_id
        ):
            return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        producers: set[tuple[int, int]] = set()
        verifications: dict[tuple[str, int], Verification] = {}
        for topic, partition, batch in self._batches(request, call):
            producers.add((batch.producer_id, batch.producer_epoch))
            log = self._store.log(topic.topic_id, partition)
            verification = log.producers.to_verify(batch, is_strict=call.version >= _ADDS_SINCE)
            if verification is not None:
                verifications[topic.name, partition] = verification
        if len(producers) > 1:
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING
        if not verifications:
            return _NOT_TRANSACTIONAL
        adds = call.version >= _ADDS_SINCE
        if not adds and not self._configuration.boolean(_VERIFIES):
            return ConfirmedTransactions(verifications=verifications)
        errors = await self._confirm(TransactionalWrite(transactional_id, *producers.pop(), tuple(verifications), adds))
        refused = {partition: _for_producers(code, call.version) for partition, code in errors.items() if code}
        return ConfirmedTransactions(refused, verifications)

    def _batches(self, request: ProduceRequest, call: Call) -> Iterator[tuple[Topic, int, RecordBatch]]:
        """The transactional batches, unchecked, for partitions that exist and that the client may write to."""
        by_id = call.version >= _IDS_SINCE
        for asked in request.topic_data:
            topic = self._topics.find(asked.name, asked.topic_id, by_id=by_id)
            refused = self._access.topic_error(call.session, AclOperation.WRITE, topic, asked.name, by_id=by_id)
            if topic is None or refused or topic.name in INTERNAL_TOPICS:
                continue
            for partition in asked.partition_data:
                if partition.index in topic.partitions and _is_transactional(partition):
                    with suppress(CorruptBatchError):  # it is refused when all of it is checked
                        for batch in islice(read_batches(partition.records or b"", check_crc=False), 1):
                            if batch.producer_id != NO_PRODUCER_ID:
                                yield topic, partition.index, batch


def _is_transactional(partition: ProduceRequest.PartitionProduceData) -> bool:
    """Whether the header of the first batch says that it is in a transaction."""
    attributes = (partition.records or b"")[ATTRIBUTES_OFFSET : ATTRIBUTES_OFFSET + _ATTRIBUTES_SIZE]
    return bool(int.from_bytes(attributes) & TRANSACTIONAL)


def _for_producers(code: ErrorCode, version: int) -> ErrorCode:
    """The error of a coordinator as producers expect it."""
    if code in _UNREACHABLE or (code == ErrorCode.CONCURRENT_TRANSACTIONS and version < _ADDS_SINCE):
        return ErrorCode.NOT_ENOUGH_REPLICAS
    if code == ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code == ErrorCode.TRANSACTION_ABORTABLE and version < _ABORTABLE_SINCE:
        return ErrorCode.INVALID_TXN_STATE
    return code
