"""The records of one partition: in memory, or in a subclass on disk."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.partitions.producers import Appended, ProducerHistory
from kafkawire.broker.partitions.segment import MemorySegment, MemoryUse, Segment, SegmentRules
from kafkawire.broker.partitions.transaction_markers import Marker
from kafkawire.broker.partitions.verifications import Verification
from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.wire.batches import RecordBatch, TimestampType, decode_records
from kafkawire.wire.batches.batch import NO_PRODUCER_ID
from kafkawire.wire.message import Struct

_DEFAULT_RULES: Final = SegmentRules()


class FoundOffset(Struct, frozen=True, gc=False):
    """A record that was found by its timestamp.

    Attributes:
        offset: of the record.
        timestamp: of the record, milliseconds.
        leader_epoch: of its batch; -1 for the current one.
    """

    offset: int
    timestamp: int
    leader_epoch: int = -1


class PartitionLog:
    """The batches of a partition, as they were checked, with their offsets and leader epochs.

    Args:
        used: has the bytes of the batches added.

    Attributes:
        start_offset: the offset of the first record that is not deleted.
        end_offset: the offset of the next record.
        cleaned_offset: compaction has seen all records below it.
        segments: the segments in order; none before the first record.
        producers: the state of idempotent producers.
        is_closed: whether the partition is deleted; then nothing changes any more.
    """

    def __init__(self, used: MemoryUse | None = None) -> None:
        self.start_offset = 0
        self.end_offset = 0
        self.cleaned_offset = 0
        self.segments: list[Segment] = []
        self.producers = ProducerHistory()
        self.is_closed = False
        self._used = used or MemoryUse()
        self._epoch_starts: dict[int, int] = {}
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def high_watermark(self) -> int:
        """The offset after the last record that clients can read."""
        return self.end_offset

    @property
    def last_stable_offset(self) -> int:
        """The first offset of a transaction that is open, or the high watermark; committed reads end there."""
        high_watermark = self.high_watermark
        unstable = self.producers.transactions.first_unstable(high_watermark)
        return max(self.start_offset, min(unstable, high_watermark))

    @property
    def size(self) -> int:
        """Bytes of all segments."""
        return sum(segment.size for segment in self.segments)

    def append(
        self,
        batch: RecordBatch,
        leader_epoch: int,
        rules: SegmentRules = _DEFAULT_RULES,
        now_ms: int = 0,
        *,
        verification: Verification | None = None,
    ) -> Appended:
        """Append a batch, unless it is a duplicate. A transactional one begins a transaction of its producer.

        Args:
            batch: the batch.
            leader_epoch: of the partition.
            rules: when its segment ends.
            now_ms: milliseconds since the epoch.
            verification: from ``producers.to_verify``, if the coordinator has confirmed that a transaction is open.

        Raises:
            ProducerStateError: batches of its producer are missing before it, or it is in no open transaction.
        """
        is_idempotent = batch.producer_id != NO_PRODUCER_ID
        if is_idempotent:
            original = self.producers.original(batch, verification)
            if original is not None:
                return original
        stored = self._placed(batch, leader_epoch, rules, now_ms)
        if is_idempotent:
            self.producers.remember(stored)
        self._store(stored)
        return Appended(stored.base_offset)

    def append_own(self, batch: RecordBatch, leader_epoch: int, now_ms: int) -> None:
        """Append a batch of a coordinator of this broker, whatever the state of its producer.

        Args:
            batch: the batch; it may be the marker of a transaction.
            leader_epoch: of the partition.
            now_ms: milliseconds since the epoch.
        """
        stored = self._placed(batch, leader_epoch, _DEFAULT_RULES, now_ms)
        aborted = self.producers.see(stored)
        if aborted is not None:
            self.segments[-1].add_aborted(aborted)
        self._store(stored)

    def append_marker(
        self,
        producer_id: int,
        producer_epoch: int,
        *,
        committed: bool,
        coordinator_epoch: int,
        leader_epoch: int,
        now_ms: int,
        rules: SegmentRules = _DEFAULT_RULES,
        log_append_time: bool = False,
        bumps_epoch: bool = False,
    ) -> int:
        """End the transaction of a producer with a marker; a marker without an open transaction is appended too.

        Args:
            producer_id, producer_epoch: the producer.
            committed: whether the transaction is committed, else it is aborted.
            coordinator_epoch: of the coordinator that ends it.
            leader_epoch: of the partition.
            now_ms: milliseconds since the epoch; the time of the marker.
            rules: when a segment ends.
            log_append_time: whether the topic has the broker's time.
            bumps_epoch: whether the epoch must be higher than that of the batches, as in version 2 of transactions.

        Returns:
            The offset of the marker. It holds when ``durable`` returns.

        Raises:
            ProducerStateError: the epoch of the producer or of the coordinator is older than one before.
        """
        marker = Marker(producer_id, producer_epoch, committed, coordinator_epoch, now_ms, bumps_epoch)
        self.producers.check_marker(marker)
        stored = self._placed(marker.batch(log_append_time=log_append_time), leader_epoch, rules, now_ms)
        aborted = self.producers.end(marker, stored.base_offset)
        if aborted is not None:
            self.segments[-1].add_aborted(aborted)
        self._store(stored)
        return stored.base_offset

    def epoch_starts(self) -> dict[int, int]:
        """Leader epoch to the offset of its first record; an epoch without records is missing.

        Raises:
            StorageError, OSError: the file with those of earlier starts of the broker cannot be read.
        """
        return dict(self._epoch_starts)

    async def durable(self, offset: int | None = None) -> None:
        """Wait until records would survive a crash, as far as this log can.

        Args:
            offset: all records below it; None for all so far.

        Raises:
            StorageError: they could not be written.
        """

    def read(self, offset: int, most: int, *, at_least_one: bool, end: int | None = None) -> bytes:
        """The batches of one segment from an offset on; the last one is truncated at the limit.

        Args:
            offset: from ``start_offset`` to ``high_watermark``.
            most: the most bytes.
            at_least_one: whether the first batch is read completely even if it is larger; else nothing is read then.
            end: only batches below this offset; None for ``high_watermark``.

        Raises:
            OSError: a file cannot be read.
        """
        for segment in self._segments_from(offset) if end is None or offset < end else ():
            if records := segment.read(offset, most, at_least_one=at_least_one, end=end):
                return records
        return b""

    def batches(self, offset: int) -> Iterator[RecordBatch]:
        """The batches from the one with an offset on.

        Raises:
            OSError: a file cannot be read.
        """
        for segment in self._segments_from(offset):
            yield from segment.batches(offset)

    def aborted_in(self, offset: int, end: int) -> Sequence[AbortedTransaction]:
        """The aborted transactions with records from an offset to an end, in the order of their markers.

        Raises:
            OSError, StorageError: a file cannot be read.
        """
        found: list[AbortedTransaction] = []
        for segment in self._segments_from(offset):
            for aborted in segment.aborted() if segment.has_aborted else ():
                if aborted.last_offset >= offset and aborted.first_offset < end:
                    found.append(aborted)
                if aborted.last_stable_offset >= end:
                    return found
        return found

    def aborted_by_read(self, offset: int, size: int) -> Sequence[AbortedTransaction]:
        """The aborted transactions of which ``read`` may have returned records, and as in Kafka a few after these.

        Args:
            offset: as for ``read``.
            size: bytes that it returned.

        Raises:
            OSError, StorageError: a file cannot be read.
        """
        if not size or not any(segment.has_aborted for segment in self._segments_from(offset)):
            return ()
        for segment in self._segments_from(offset):
            end = segment.upper_bound(offset, size)
            if end is not None:
                return self.aborted_in(offset, end)
        return ()

    def first_since(self, timestamp: int) -> FoundOffset | None:
        """The first record with at least this timestamp, in milliseconds; None if there is none.

        Raises:
            OSError: a file cannot be read.
        """
        for segment in self._segments_from(self.start_offset):
            if segment.largest_timestamp >= timestamp:
                for batch in segment.batches_since(timestamp, self.start_offset):
                    for record in decode_records(batch):
                        if record.timestamp >= timestamp and record.offset >= self.start_offset:
                            return FoundOffset(record.offset, record.timestamp, batch.partition_leader_epoch)
        return None

    def newest(self) -> FoundOffset | None:
        """The first of the records with the highest timestamp; None if there are no records.

        Raises:
            OSError: a file cannot be read.
        """
        segment = max(self.segments, key=attrgetter("largest_timestamp"), default=None)
        newest = None if segment is None else next(segment.batches(segment.largest_offset), None)
        if newest is None:
            return None
        epoch = newest.partition_leader_epoch
        if newest.timestamp_type is TimestampType.LOG_APPEND_TIME:
            return FoundOffset(newest.last_offset, newest.max_timestamp, epoch)
        records = (record for record in decode_records(newest) if record.timestamp == newest.max_timestamp)
        return next((FoundOffset(record.offset, record.timestamp, epoch) for record in records), None)

    def roll(self, now_ms: int) -> None:
        """Begin a new segment."""
        self.segments.append(MemorySegment(self.end_offset, now_ms, self._used))

    async def delete_segments(self, count: int) -> None:
        """Delete the first segments; the last one, to which records are appended, is not among them.

        Raises:
            StorageError: they could not be deleted.
        """
        for segment in () if self.is_closed else self._without(count):
            segment.free()

    def forget_segments(self, count: int) -> None:
        """Take the first segments out of the log, since later records replace all of theirs.

        The first offset stays, as after compaction.
        """
        forgotten, self.segments = self.segments[:count], self.segments[count:]
        for segment in forgotten:
            segment.free()

    async def delete_before(self, offset: int) -> None:
        """Make an offset the first one; nothing changes if it is below the first one already.

        Raises:
            StorageError: it could not be stored.
        """
        self.start_offset = max(self.start_offset, offset)

    async def rewrite(
        self, segments: Sequence[Segment], batches: Iterator[RecordBatch], aborted: Sequence[AbortedTransaction] = ()
    ) -> None:
        """Replace the content of neighbouring segments by one segment.

        Args:
            segments: some of ``segments``, in order, without the last one.
            batches: the batches that are kept.
            aborted: the aborted transactions that are kept; complete once the batches are.

        Raises:
            StorageError: it could not be stored.
        """
        if self.is_closed:
            return
        kept = [*batches]
        first, *others = segments
        if isinstance(first, MemorySegment):
            first.end_offset = segments[-1].end_offset
            first.rewrite(kept, aborted)
        for segment in others:
            self.segments.remove(segment)
            segment.free()

    async def note_cleaned(self, offset: int) -> None:
        """Compaction has seen all records below an offset.

        Raises:
            StorageError: it could not be stored.
        """
        self.cleaned_offset = offset

    def copied(self, used: MemoryUse) -> PartitionLog:
        """A log in memory with the same records and producers, as far as clients can read them.

        Args:
            used: has the bytes of the batches added.

        Raises:
            OSError: a file cannot be read.
        """
        copy = PartitionLog(used)
        copy.start_offset, copy.end_offset, copy.cleaned_offset = (
            self.start_offset,
            self.high_watermark,
            self.cleaned_offset,
        )
        copy.segments = [segment.copied(used) for segment in self.segments]
        copy.producers = self.producers.copied()
        copy._epoch_starts = self.epoch_starts()
        return copy

    def wait(self, waiter: asyncio.Future[None]) -> None:
        """Complete a future when records are appended or the partition is deleted."""
        self._waiting.add(waiter)

    def forget(self, waiter: asyncio.Future[None]) -> None:
        """Do not complete a future any more."""
        self._waiting.discard(waiter)

    def close(self) -> None:
        """Complete all waiting futures, because the partition is deleted, and release the memory."""
        self.is_closed = True
        self._wake()
        for segment in self.segments:
            segment.free()
        self.segments = []

    def _placed(self, batch: RecordBatch, leader_epoch: int, rules: SegmentRules, now_ms: int) -> RecordBatch:
        """The batch at the end of the log, in a segment that has room for it."""
        stored = replace(batch, base_offset=self.end_offset, partition_leader_epoch=leader_epoch, position=0)
        if not self.segments or self.segments[-1].must_end(stored, rules, now_ms):
            self.roll(now_ms)
        self._epoch_starts.setdefault(leader_epoch, stored.base_offset)
        self.end_offset = stored.last_offset + 1
        return stored

    def _store(self, batch: RecordBatch) -> None:
        self.segments[-1].add(batch)
        self._wake()

    def _without(self, count: int) -> Sequence[Segment]:
        """Take the first segments out of the log."""
        taken, self.segments = self.segments[:count], self.segments[count:]
        self.start_offset = max(self.start_offset, self.segments[0].base_offset)
        return taken

    def _segments_from(self, offset: int) -> Iterator[Segment]:
        if offset < self.end_offset:
            first = bisect_right(self.segments, offset, key=attrgetter("base_offset")) - 1
            yield from self.segments[max(first, 0) :]

    def _wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()
