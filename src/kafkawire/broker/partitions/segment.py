"""A part of a partition's log: it grows until the next one begins, and is deleted or compacted as a whole."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.message import Struct

OVERHEAD: Final = 256
"""About the bytes of memory that a batch takes besides its content."""

_LARGEST_RELATIVE_OFFSET: Final = (1 << 31) - 1
_BOUND_INTERVAL: Final = 4096
"""About the bytes between a read and its upper bound, as between the entries of an index."""


class SegmentRules(Struct, frozen=True, gc=False):
    """When a segment ends.

    Attributes:
        bytes: the most bytes of a segment (``segment.bytes``, or ``internal.segment.bytes`` if it is set).
        ms: for how long it grows, by the timestamps of its records (``segment.ms``).
    """

    bytes: int = 1024 * 1024 * 1024
    ms: int = 7 * 24 * 60 * 60 * 1000


class MemoryUse:
    """About the bytes of memory that the records of a broker take.

    Attributes:
        bytes: the sum.
    """

    def __init__(self) -> None:
        self.bytes = 0


class Segment:
    """The batches of a segment, as far as they are readable; a subclass stores them.

    Args:
        base_offset: its first offset.
        created_ms: when it was made, in milliseconds since the epoch.

    Attributes:
        base_offset: as given.
        end_offset: the offset after its last record.
        size: bytes.
        largest_timestamp: of its records, in milliseconds; -1 if there are none.
        largest_offset: the base offset of the first batch with this timestamp.
    """

    def __init__(self, base_offset: int, created_ms: int) -> None:
        self.base_offset = self.end_offset = self.largest_offset = base_offset
        self.size = 0
        self.largest_timestamp = -1
        self._created_ms = created_ms
        self._first_timestamp: int | None = None
        self._aborted: list[AbortedTransaction] = []

    @property
    def age_timestamp(self) -> int:
        """The newest timestamp of its records, or when it was made if they have none, in milliseconds."""
        return self.largest_timestamp if self.largest_timestamp >= 0 else self._created_ms

    def first_timestamp(self) -> int:
        """The newest timestamp of its first batch, in milliseconds; -1 if it has none.

        Raises:
            DecodeError: the batch is damaged.
            OSError: a file cannot be read.
        """
        if self._first_timestamp is None:
            first = next(iter(self.batches(self.base_offset)), None)
            self._first_timestamp = -1 if first is None else first.max_timestamp
        return self._first_timestamp

    def must_end(self, batch: RecordBatch, rules: SegmentRules, now_ms: int) -> bool:
        """Whether a batch belongs to a new segment."""
        if not self.size:
            return False
        if self._first_timestamp is not None and self._first_timestamp >= 0:
            waited_ms = batch.max_timestamp - self._first_timestamp
        else:
            waited_ms = now_ms - self._created_ms
        return (
            self.size + batch.size > rules.bytes
            or waited_ms > rules.ms
            or batch.last_offset - self.base_offset > _LARGEST_RELATIVE_OFFSET
        )

    def add(self, batch: RecordBatch) -> None:
        """Append a batch."""
        if self._first_timestamp is None:
            self._first_timestamp = batch.max_timestamp
        if batch.max_timestamp > self.largest_timestamp:
            self.largest_timestamp, self.largest_offset = batch.max_timestamp, batch.base_offset
        self.end_offset = batch.last_offset + 1
        self.size += batch.size

    def add_aborted(self, aborted: AbortedTransaction) -> None:
        """Note a transaction that was aborted by a marker in this segment."""
        self._aborted.append(aborted)

    @property
    def has_aborted(self) -> bool:
        """Whether there are such transactions."""
        return bool(self._aborted)

    def aborted(self) -> Sequence[AbortedTransaction]:
        """The transactions that were aborted by markers in this segment, in order.

        Raises:
            OSError: a file cannot be read.
        """
        return self._aborted

    def read(self, offset: int, most: int, *, at_least_one: bool, end: int | None) -> bytes:
        """The batches from the one with an offset on, or with the next one; the last one is truncated at the limit.

        Args:
            offset: of the first record; none is read from a segment that ends before it.
            most: the most bytes.
            at_least_one: whether the first batch is read completely even if it is larger; else nothing is read then.
            end: only batches below this offset; None for all.

        Raises:
            OSError: a file cannot be read.
        """
        raise NotImplementedError

    def upper_bound(self, offset: int, size: int) -> int | None:
        """An offset after the batches that a read of this size from an offset has.

        Returns:
            None if the segment has no batch from the offset on.

        Raises:
            OSError: a file cannot be read.
        """
        raise NotImplementedError

    def batches(self, offset: int) -> Iterator[RecordBatch]:
        """The batches from the one with an offset on, or with the next one.

        Raises:
            OSError: a file cannot be read.
        """
        raise NotImplementedError

    def free(self) -> None:
        """Release the memory of its batches, if they are in memory."""

    def copied(self, used: MemoryUse) -> MemorySegment:
        """A segment in memory with the same batches, as far as they are readable.

        Args:
            used: has the bytes of its batches added.

        Raises:
            OSError: a file cannot be read.
        """
        segment = MemorySegment(self.base_offset, self._created_ms, used)
        for batch in self.batches(self.base_offset):
            segment.add(batch)
        segment.end_offset = self.end_offset
        for aborted in self.aborted():
            segment.add_aborted(aborted)
        return segment

    def batches_since(self, timestamp: int, offset: int) -> Iterator[RecordBatch]:
        """The batches from an offset on that may have records with at least this timestamp, in milliseconds.

        Raises:
            OSError: a file cannot be read.
        """
        return (batch for batch in self.batches(offset) if batch.max_timestamp >= timestamp)


class MemorySegment(Segment):
    """A segment in memory.

    Args:
        base_offset, created_ms: as of `Segment`.
        used: has the bytes of its batches added.
    """

    def __init__(self, base_offset: int, created_ms: int, used: MemoryUse) -> None:
        super().__init__(base_offset, created_ms)
        self._batches: list[RecordBatch] = []
        self._used = used

    def add(self, batch: RecordBatch) -> None:
        """Append a batch."""
        super().add(batch)
        self._batches.append(batch)
        self._used.bytes += batch.size + OVERHEAD

    def copied(self, used: MemoryUse) -> MemorySegment:
        """A segment with the same batches; both share them."""
        segment = MemorySegment(self.base_offset, self._created_ms, used)
        own = {"_batches": [*self._batches], "_aborted": [*self._aborted], "_used": used}
        vars(segment).update(vars(self) | own)
        used.bytes += self.size + OVERHEAD * len(self._batches)
        return segment

    def rewrite(self, batches: Sequence[RecordBatch], aborted: Sequence[AbortedTransaction]) -> None:
        """Replace the batches and the aborted transactions, without another end."""
        self._aborted = [*aborted]
        end_offset = self.end_offset
        self.free()
        for batch in batches:
            self.add(batch)
        self.end_offset = end_offset

    def free(self) -> None:
        """Release the memory of its batches."""
        self._used.bytes -= self.size + OVERHEAD * len(self._batches)
        self._batches = []
        self.size, self.largest_timestamp, self._first_timestamp = 0, -1, None

    def read(self, offset: int, most: int, *, at_least_one: bool, end: int | None) -> bytes:
        """The batches from the one with an offset on, or with the next one; the last one is truncated at the limit."""
        pieces: list[bytes] = []
        size = 0
        for batch in self.batches(offset):
            if end is not None and batch.base_offset >= end:
                break
            if not pieces:
                if batch.size > most and not at_least_one:
                    break
                most = max(most, batch.size)
            elif size >= most:
                break
            pieces.append(batch.to_bytes())
            size += batch.size
        return b"".join(pieces)[:most]

    def upper_bound(self, offset: int, size: int) -> int | None:
        """An offset after the batches that a read of this size from an offset has."""
        position, limit = 0, size + _BOUND_INTERVAL
        for batch in self.batches(offset):
            if position >= limit:
                return batch.last_offset
            position += batch.size
        return self.end_offset if position else None

    def batches(self, offset: int) -> Iterator[RecordBatch]:
        """The batches from the one with an offset on, or with the next one."""
        first = bisect_left(self._batches, offset, key=attrgetter("last_offset"))
        for index in range(first, len(self._batches)):
            yield self._batches[index]
