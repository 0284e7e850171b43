"""How members acknowledge records, as in Kafka's ``SharePartition.acknowledge``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from kafkawire.broker.share_coordinator.state_batches import RecordState
from kafkawire.broker.shares.in_flight import NO_MEMBER, Delivery, InFlightBatch, Part
from kafkawire.broker.shares.share_partition import SharePartition, ShareStateError
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.message import Struct


class AcknowledgeType(IntEnum):
    """What a member says of a record."""

    GAP = 0
    """There is no such record."""
    ACCEPT = 1
    """It is processed."""
    RELEASE = 2
    """It is to be delivered again."""
    REJECT = 3
    """It is never to be delivered again."""
    RENEW = 4
    """It is still being processed: the lock begins again (KIP-1222)."""


class Acknowledgement(Struct, frozen=True, gc=False):
    """What a member says of records.

    Attributes:
        first, last: their offsets.
        types: an `AcknowledgeType` for all of them, or one for each.
    """

    first: int
    last: int
    types: Sequence[int]


class AcknowledgementError(Exception):
    """Acknowledgements are refused, all of them.

    Attributes:
        code: why.
        message: for the response.
    """

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


_STATES: Final = MappingProxyType(
    {
        AcknowledgeType.GAP: RecordState.ARCHIVED,
        AcknowledgeType.ACCEPT: RecordState.ACKNOWLEDGED,
        AcknowledgeType.RELEASE: RecordState.AVAILABLE,
        AcknowledgeType.REJECT: RecordState.ARCHIVED,
    }
)


def acknowledge(partition: SharePartition, member_id: str, acknowledgements: Sequence[Acknowledgement]) -> None:
    """Apply acknowledgements, all or none; locks that were renewed before an error stay renewed.

    Args:
        partition: which has the records in flight.
        member_id: who acknowledges them.
        acknowledgements: in order.

    Raises:
        AcknowledgementError: the member has not acquired one of the records.
        ShareStateError: they could not be recorded.
    """
    run = _Run(partition, member_id)
    count = partition.delivery_complete_count
    try:
        for each in acknowledgements:
            if each.last >= partition.start_offset:
                run.apply(each)
        partition.record(run.changed)
    except (AcknowledgementError, ShareStateError):
        partition.undo(run.before, count)
        raise


class _Run:
    """The acknowledgements of one request.

    Attributes:
        changed: the records that are not acquired any more.
        before: each delivery that has changed, and how it was.
    """

    def __init__(self, partition: SharePartition, member_id: str) -> None:
        self.changed: list[Part] = []
        self.before: list[tuple[Delivery, Delivery]] = []
        self._partition = partition
        self._member_id = member_id
        self._rules = partition.rules()

    def apply(self, each: Acknowledgement) -> None:
        for batch in self._batches_of(each):
            if batch.last < self._partition.start_offset:
                continue
            if batch.whole is not None:
                self._check_owner(batch.whole)
            is_whole = each.first <= batch.first and batch.last <= each.last and len(each.types) == 1
            if not is_whole or self._partition.begins_within(batch):
                batch.split()
            if batch.whole is not None:
                self._change(Part(batch.first, batch.last, batch.whole), each.types[0])
                continue
            for part in batch.parts(max(each.first, self._partition.start_offset), each.last):
                self._check_offset(part.delivery)
                self._change(part, each.types[part.first - each.first] if len(each.types) > 1 else each.types[0])

    def _batches_of(self, each: Acknowledgement) -> Sequence[InFlightBatch]:
        """The batches with the records that are acknowledged."""
        batches, start = self._partition.batches, self._partition.start_offset
        floor = batches.floor(each.first)
        if floor is None and each.first < start <= each.last:
            floor = batches.floor(start)
        if floor is None:
            raise _refused("Batch record not found. The request batch offsets are not found in the cache.")
        found = batches.beginning_in(floor.first, each.last)
        if found[-1].last < each.first:
            words = "Batch record not found. The first offset in request is past acquired records."
            raise AcknowledgementError(ErrorCode.INVALID_REQUEST, words)
        if found[-1].last < each.last:
            words = "Batch record not found. The last offset in request is past acquired records."
            raise AcknowledgementError(ErrorCode.INVALID_REQUEST, words)
        return found

    def _check_owner(self, delivery: Delivery) -> None:
        """Refuse records of a batch that is not acquired, which has no member, or acquired by another one."""
        if delivery.member_id == NO_MEMBER:
            raise _refused("The batch cannot be acknowledged. The batch is not in the acquired state.")
        if delivery.member_id != self._member_id:
            raise _refused("Member is not the owner of batch record")

    def _check_offset(self, delivery: Delivery) -> None:
        if delivery.state is not RecordState.ACQUIRED:
            raise _refused("The offset cannot be acknowledged. The offset is not acquired.")
        if delivery.member_id != self._member_id:
            raise _refused("Member is not the owner of offset")

    def _change(self, part: Part, kind: int) -> None:
        if kind == AcknowledgeType.RENEW:
            if not self._rules.renews:
                raise _refused("Renewing acquisition locks is not enabled for the group.")
            part.delivery.locked_until = self._partition.lock_end()
            return
        self.before.append((part.delivery, replace(part.delivery)))
        part.delivery.finish(_STATES[AcknowledgeType(kind)], self._rules.most_deliveries)
        self._partition.count_done(part)
        self.changed.append(part)


def _refused(message: str) -> AcknowledgementError:
    return AcknowledgementError(ErrorCode.INVALID_RECORD_STATE, message)
