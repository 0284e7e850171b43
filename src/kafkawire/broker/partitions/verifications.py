"""Questions to the coordinator about transactions, before their first batch is appended (KIP-890)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.message import Struct

_MOST: Final = 10_000
"""The most questions of a partition; after that the oldest is void."""


class Verification(msgspec.Struct, eq=False):
    """A question to the coordinator: whether a transaction of a producer is open.

    It holds for the first batch of the transaction only. A marker that comes in between makes it void.

    Attributes:
        epoch: of the producer.
        lowest_sequence: of the batches that came meanwhile; the first batch of the transaction has it.
        is_strict: whether a producer without state must begin with sequence 0.
    """

    epoch: int
    lowest_sequence: int
    is_strict: bool

    def highest_first(self, *, has_state: bool) -> int:
        """The highest sequence that the first batch may have."""
        return 0 if self.is_strict and not has_state else self.lowest_sequence


class Verifications:
    """The questions that are open, by producer."""

    def __init__(self) -> None:
        self._by_producer: dict[int, Verification] = {}

    def begin(self, batch: RecordBatch, *, is_strict: bool) -> Verification:
        """The question about the producer of a batch."""
        found = self._by_producer.get(batch.producer_id)
        if found is None or batch.producer_epoch > found.epoch:
            found = Verification(batch.producer_epoch, batch.base_sequence, is_strict)
            self._by_producer[batch.producer_id] = found
            if len(self._by_producer) > _MOST:
                del self._by_producer[next(iter(self._by_producer))]
        elif batch.producer_epoch == found.epoch:
            found.lowest_sequence = min(found.lowest_sequence, batch.base_sequence)
        return found

    def current(self, producer_id: int, verification: Verification | None) -> Verification | None:
        """The question, if it is not void."""
        return verification if verification is self._by_producer.get(producer_id) else None

    def end(self, producer_id: int) -> None:
        """A batch or a marker of the transaction is in the log."""
        self._by_producer.pop(producer_id, None)


class TransactionalWrite(Struct, frozen=True, gc=False):
    """A question to the coordinator: partitions to which a producer writes in a transaction.

    Attributes:
        transactional_id: from the request.
        producer_id, producer_epoch: the producer.
        partitions: name of the topic and index.
        adds: whether partitions that are not in the transaction are added to it, else they are refused.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: Sequence[tuple[str, int]]
    adds: bool


ConfirmTransaction: TypeAlias = Callable[[TransactionalWrite], Awaitable[Mapping[tuple[str, int], ErrorCode]]]
"""Asks the coordinator; returns an error for each partition that is in no open transaction of the producer."""
