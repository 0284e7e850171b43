"""The state of the producers of one partition: their last batches, epochs and open transactions (KIP-98)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

import msgspec
from msgspec.structs import replace

from kafkawire.broker.partitions.open_transactions import OpenTransactions
from kafkawire.broker.partitions.transaction_markers import Marker
from kafkawire.broker.partitions.verifications import Verification, Verifications
from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.protocol import ProducerSnapshot
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.batches.batch import NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE
from kafkawire.wire.message import Struct

_REMEMBERED: Final = 5
_SEQUENCE_SPAN: Final = 1 << 31
_NO_COORDINATOR: Final = -1
_LAST_EPOCH: Final = (1 << 15) - 1


class ProducerStateError(Exception):
    """A batch or a marker contradicts the state of its producer.

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


class ProducerState(Struct, frozen=True, gc=False):
    """What a partition knows of a producer.

    Attributes:
        producer_id: of the producer.
        epoch: of its last batch or marker.
        last_sequence: of its last record; -1 if there is none in this epoch.
        last_timestamp: of its last batch or marker, in milliseconds.
        coordinator_epoch: of its last marker; -1 if there is none.
        transaction_start: the first offset of its open transaction; None if none is open.
    """

    producer_id: int
    epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    transaction_start: int | None


class LastBatch(Struct, frozen=True, gc=False):
    """The last batch of a producer.

    Attributes:
        offset: of its last record; None if the last was a marker with a new epoch.
        epoch: of the producer.
    """

    offset: int | None
    epoch: int


class _Producer(msgspec.Struct):
    """A producer with its last batches in this epoch."""

    epoch: int = NO_PRODUCER_EPOCH
    coordinator_epoch: int = _NO_COORDINATOR
    last_timestamp: int = -1
    batches: deque[RecordBatch] = msgspec.field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def enter(self, epoch: int, timestamp: int) -> None:
        """Take over the epoch and the time of a batch or marker."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()
        self.last_timestamp = timestamp


class ProducerHistory:
    """The producers of one partition, each with its last five batches, the most that it may have in flight.

    Attributes:
        transactions: the open ones.
    """

    def __init__(self) -> None:
        self.transactions = OpenTransactions()
        self._producers: dict[int, _Producer] = {}
        self._verifications = Verifications()

    def original(self, batch: RecordBatch, verification: Verification | None = None) -> Appended | None:
        """The place of the original of a duplicate batch; None for a new batch that follows the last.

        Args:
            batch: of an idempotent producer.
            verification: that its transaction is open, if ``to_verify`` has asked for that.

        Raises:
            ProducerStateError: it does not follow the last, or does not belong to an open transaction.
        """
        producer = self._producers.get(batch.producer_id)
        if producer is not None and batch.producer_epoch == producer.epoch:
            for known in producer.batches:
                if (known.base_sequence, known.last_sequence) == (batch.base_sequence, batch.last_sequence):
                    return Appended(known.base_offset, known.max_timestamp)
        if batch.is_transactional and not self._is_in_transaction(batch):
            verification = self._verifications.current(batch.producer_id, verification)
            if verification is None:
                raise ProducerStateError(ErrorCode.INVALID_TXN_STATE, "Record was not part of an ongoing transaction")
        self._check_epoch(batch.producer_id, batch.producer_epoch)
        self._check_sequence(batch, producer, verification)
        if self.transactions.first_offset(batch.producer_id) is not None and not batch.is_transactional:
            raise ProducerStateError(
                ErrorCode.INVALID_TXN_STATE, f"Expected transactional write from producer {batch.producer_id}"
            )
        return None

    def to_verify(self, batch: RecordBatch, *, is_strict: bool) -> Verification | None:
        """What must be verified with the transaction coordinator before a batch is appended (KIP-890).

        Args:
            batch: the batch.
            is_strict: whether the client bumps its epoch after each transaction, so that a producer without state must
                begin with sequence 0.

        Returns:
            None if the batch is in no transaction, or in one that is open here.
        """
        if not batch.is_transactional or self._is_in_transaction(batch):
            return None
        return self._verifications.begin(batch, is_strict=is_strict)

    def see(self, batch: RecordBatch) -> AbortedTransaction | None:
        """Note a batch that was read from the log, whatever the state of its producer; as ``remember``.

        Raises:
            DecodeError: a marker cannot be read.
        """
        if batch.producer_id == NO_PRODUCER_ID:
            return None
        if batch.is_control:
            marker = Marker.of(batch)
            return None if marker is None else self.end(marker, batch.base_offset)
        if batch.base_sequence != NO_SEQUENCE:
            self.remember(batch)
        return None

    def remember(self, batch: RecordBatch) -> None:
        """Remember a batch of an idempotent producer that was appended."""
        producer = self._of(batch.producer_id)
        producer.enter(batch.producer_epoch, batch.max_timestamp)
        producer.batches.append(replace(batch, payload=b""))
        if batch.is_transactional:
            self.transactions.begin(batch.producer_id, batch.base_offset)
            self._verifications.end(batch.producer_id)

    def check_marker(self, marker: Marker) -> None:
        """Refuse the marker of a coordinator that another one has replaced.

        Raises:
            ProducerStateError: it is of an older epoch of the producer or of the coordinator.
        """
        producer = self._producers.get(marker.producer_id)
        if producer is None:
            return
        is_in_transaction = self.transactions.first_offset(marker.producer_id) is not None
        must_rise = marker.bumps_epoch and is_in_transaction and marker.producer_epoch < _LAST_EPOCH
        self._check_epoch(marker.producer_id, marker.producer_epoch, must_rise=must_rise)
        if marker.coordinator_epoch < producer.coordinator_epoch:
            raise ProducerStateError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"Invalid coordinator epoch for producer {marker.producer_id}: {marker.coordinator_epoch} (incoming), "
                f"{producer.coordinator_epoch} (current)",
            )

    def end(self, marker: Marker, offset: int) -> AbortedTransaction | None:
        """Note a marker that is in the log; returns the transaction that it aborted, if there was one."""
        producer = self._of(marker.producer_id)
        producer.enter(marker.producer_epoch, marker.timestamp)
        producer.coordinator_epoch = marker.coordinator_epoch
        self._verifications.end(marker.producer_id)
        ended = self.transactions.end(marker.producer_id, offset)
        return None if marker.committed else ended

    def states(self) -> Iterator[ProducerState]:
        """The state of each producer."""
        for producer_id, producer in self._producers.items():
            yield ProducerState(
                producer_id,
                producer.epoch,
                producer.last_sequence,
                producer.last_timestamp,
                producer.coordinator_epoch,
                self.transactions.first_offset(producer_id),
            )

    def snapshot(self) -> ProducerSnapshot:
        """The state of all producers, each with its last batch, for a file of Kafka's."""
        return ProducerSnapshot(producer_entries=tuple(map(self._entry, self._producers)))

    def restore(self, snapshot: ProducerSnapshot) -> None:
        """Take the state of all producers from a file of Kafka's."""
        for entry in sorted(snapshot.producer_entries, key=attrgetter("current_txn_first_offset")):
            producer = self._producers[entry.producer_id] = _Producer(
                entry.epoch, entry.coordinator_epoch, entry.timestamp
            )
            if entry.last_offset >= 0:
                producer.batches.append(_last_batch(entry))
            if entry.current_txn_first_offset >= 0:
                self.transactions.begin(entry.producer_id, entry.current_txn_first_offset)

    def last_batches(self) -> dict[int, LastBatch]:
        """The last batch of each producer, by its id."""
        return {
            producer_id: LastBatch(producer.batches[-1].last_offset if producer.batches else None, producer.epoch)
            for producer_id, producer in self._producers.items()
        }

    def expire(self, oldest_ms: int) -> None:
        """Forget the producers whose last batch is older than a time in milliseconds since the epoch.

        Those with an open transaction stay, however old it is.
        """
        first_offset = self.transactions.first_offset
        producers = self._producers.items()
        self._producers = {
            key: one for key, one in producers if one.last_timestamp >= oldest_ms or first_offset(key) is not None
        }

    def copied(self) -> ProducerHistory:
        """The same producers, for another log."""
        copy = ProducerHistory()
        copy.transactions = self.transactions.copied()
        copy._producers = {key: replace(one, batches=one.batches.copy()) for key, one in self._producers.items()}
        return copy

    def __len__(self) -> int:
        return len(self._producers)

    def _of(self, producer_id: int) -> _Producer:
        producer = self._producers.get(producer_id)
        if producer is None:
            producer = self._producers[producer_id] = _Producer()
        return producer

    def _entry(self, producer_id: int) -> ProducerSnapshot.ProducerEntry:
        producer = self._producers[producer_id]
        last = producer.batches[-1] if producer.batches else None
        start = self.transactions.first_offset(producer_id)
        return ProducerSnapshot.ProducerEntry(
            producer_id,
            producer.epoch,
            producer.last_sequence,
            -1 if last is None else last.last_offset,
            0 if last is None else last.last_offset_delta,
            producer.last_timestamp,
            producer.coordinator_epoch,
            -1 if start is None else start,
        )

    def _is_in_transaction(self, batch: RecordBatch) -> bool:
        producer = self._producers.get(batch.producer_id)
        is_open = self.transactions.first_offset(batch.producer_id) is not None
        return is_open and producer is not None and producer.epoch == batch.producer_epoch

    def _check_epoch(self, producer_id: int, epoch: int, *, must_rise: bool = False) -> None:
        producer = self._producers.get(producer_id)
        if producer is not None and epoch < producer.epoch + must_rise:
            raise ProducerStateError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"Epoch of producer {producer_id} is {epoch}, which is smaller than the last seen epoch "
                f"{producer.epoch}",
            )

    def _check_sequence(
        self, batch: RecordBatch, producer: _Producer | None, verification: Verification | None
    ) -> None:
        highest = None if verification is None else verification.highest_first(has_state=producer is not None)
        if highest is not None and batch.base_sequence > highest:
            raise _out_of_order(batch, highest)
        if producer is None:
            return
        is_new_epoch = batch.producer_epoch != producer.epoch
        expected = 0 if is_new_epoch else (producer.last_sequence + 1) % _SEQUENCE_SPAN
        if batch.base_sequence != expected:
            raise _out_of_order(batch, expected)


def _out_of_order(batch: RecordBatch, expected: int) -> ProducerStateError:
    return ProducerStateError(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"Out of order sequence number for producer {batch.producer_id}: {batch.base_sequence} (incoming seq. number), "
        f"{expected} (expected)",
    )


def _last_batch(entry: ProducerSnapshot.ProducerEntry) -> RecordBatch:
    """The batch of an entry, without its records."""
    delta = entry.offset_delta
    return RecordBatch(
        base_offset=entry.last_offset - delta,
        partition_leader_epoch=NO_PARTITION_LEADER_EPOCH,
        crc=0,
        attributes=0,
        last_offset_delta=delta,
        base_timestamp=entry.timestamp,
        max_timestamp=entry.timestamp,
        producer_id=entry.producer_id,
        producer_epoch=entry.epoch,
        base_sequence=(entry.last_sequence - delta) % _SEQUENCE_SPAN,
        records_count=delta + 1,
        payload=b"",
    )
