"""Detection of duplicate and missing batches of idempotent producers (KIP-98)."""

from __future__ import annotations

from collections import deque
from typing import Final

import msgspec
from msgspec.structs import replace

from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.batches.batch import NO_PRODUCER_ID, NO_SEQUENCE
from kafkawire.wire.message import Struct

_REMEMBERED: Final = 5
_SEQUENCE_SPAN: Final = 1 << 31


class SequenceError(Exception):
    """A batch does not follow the previous one.

    Attributes:
        code: the error code.
    """

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class Appended(Struct, frozen=True, gc=False):
    """The place of a batch in the log.

    Attributes:
        base_offset: of its first record.
        first_timestamp: for a duplicate, the newest timestamp of the original in milliseconds; else -1.
    """

    base_offset: int
    first_timestamp: int = -1


class _Producer(msgspec.Struct):
    """The epoch of a producer and its last batches."""

    epoch: int
    batches: deque[RecordBatch]


class ProducerHistory:
    """The producers of one partition, each with its last five batches, the most that it may have in flight."""

    def __init__(self) -> None:
        self._producers: dict[int, _Producer] = {}

    def original(self, batch: RecordBatch) -> Appended | None:
        """The place of the original of a duplicate batch; None for a new batch that follows the last.

        Raises:
            SequenceError: it does not follow the last.
        """
        producer = self._producers.get(batch.producer_id)
        if producer is None:
            return None
        if batch.producer_epoch < producer.epoch:
            raise SequenceError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"Epoch of producer {batch.producer_id} is {batch.producer_epoch}, which is smaller than the last seen "
                f"epoch {producer.epoch}",
            )
        if batch.producer_epoch > producer.epoch:
            self._expect(batch, 0)
            return None
        for known in producer.batches:
            if (known.base_sequence, known.last_sequence) == (batch.base_sequence, batch.last_sequence):
                return Appended(known.base_offset, known.max_timestamp)
        self._expect(batch, (producer.batches[-1].last_sequence + 1) % _SEQUENCE_SPAN)
        return None

    def see(self, batch: RecordBatch) -> None:
        """Remember a batch that was read from the log, if it is of an idempotent producer."""
        if batch.producer_id != NO_PRODUCER_ID and batch.base_sequence != NO_SEQUENCE:
            self.remember(batch)

    def remember(self, batch: RecordBatch) -> None:
        """Remember a batch that was appended."""
        producer = self._producers.get(batch.producer_id)
        if producer is None or producer.epoch != batch.producer_epoch:
            producer = self._producers[batch.producer_id] = _Producer(batch.producer_epoch, deque(maxlen=_REMEMBERED))
        producer.batches.append(replace(batch, payload=b""))

    def last_offsets(self) -> frozenset[int]:
        """The base offset of the last batch of each producer."""
        return frozenset(producer.batches[-1].base_offset for producer in self._producers.values())

    def expire(self, oldest_ms: int) -> None:
        """Forget the producers whose last batch is older than a time in milliseconds since the epoch."""
        producers = self._producers.items()
        self._producers = {key: one for key, one in producers if one.batches[-1].max_timestamp >= oldest_ms}

    def copied(self) -> ProducerHistory:
        """The same producers, for another log."""
        copy = ProducerHistory()
        copy._producers = {
            key: _Producer(producer.epoch, producer.batches.copy()) for key, producer in self._producers.items()
        }
        return copy

    def __len__(self) -> int:
        return len(self._producers)

    @staticmethod
    def _expect(batch: RecordBatch, sequence: int) -> None:
        if batch.base_sequence != sequence:
            raise SequenceError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Out of order sequence number for producer {batch.producer_id}: {batch.base_sequence} (incoming seq. "
                f"number), {sequence} (expected)",
            )
