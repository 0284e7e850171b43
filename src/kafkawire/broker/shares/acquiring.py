"""How records that were read are acquired for a member, as in Kafka's ``SharePartition.acquire``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from kafkawire.broker.share_coordinator.state_batches import RecordState
from kafkawire.broker.shares.aborted import aborted_batches, without
from kafkawire.broker.shares.in_flight import UNLOCKED, Delivery, InFlightBatch, Part
from kafkawire.broker.shares.share_partition import SharePartition
from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.message import Struct

_FEWEST_FOR_CARE = 2
"""Records are delivered with care, few or one at a time, after half of their deliveries, but after two at least."""


class Acquired(Struct, frozen=True, gc=False):
    """Records that a member has acquired.

    Attributes:
        first, last: offsets.
        count: how often they were acquired, with this time.
    """

    first: int
    last: int
    count: int

    @property
    def size(self) -> int:
        """How many records."""
        return self.last - self.first + 1


class Wanted(Struct, frozen=True, gc=False):
    """What a member wants.

    Attributes:
        member_id: of the member.
        most_records: how many records at most; whole batches are acquired nevertheless, unless ``is_strict``.
        batch_size: how many records to acquire and acknowledge together, roughly.
        is_strict: whether ``most_records`` is a limit (``ShareAcquireMode`` 1, KIP-1206).
    """

    member_id: str
    most_records: int
    batch_size: int
    is_strict: bool


class ReadRecords(Struct, frozen=True):
    """Records that were read to be acquired.

    Attributes:
        offset: from where on.
        batches: what was read, with at least one batch.
        aborted: the aborted transactions, for members that read committed records only.
    """

    offset: int
    batches: Sequence[RecordBatch]
    aborted: Sequence[AbortedTransaction] = ()

    @property
    def first(self) -> int:
        """The first offset of the first batch."""
        return self.batches[0].base_offset

    @property
    def last(self) -> int:
        """The last offset of the last batch."""
        return self.batches[-1].last_offset


def acquire(partition: SharePartition, wanted: Wanted, read: ReadRecords) -> Sequence[Acquired]:
    """Acquire records that were read from ``partition.next_offset()`` on.

    Args:
        partition: which has them in flight afterwards.
        wanted: what the member wants.
        read: the records.

    Returns:
        What was acquired, in order; nothing if there is nothing to acquire.
    """
    if not read.batches or read.last < partition.start_offset:
        return ()
    acquisition = _Acquisition(partition, wanted, read)
    if acquisition.room <= 0:
        return ()
    acquisition.run()
    if not read.aborted or not acquisition.acquired:
        return acquisition.acquired
    dropped = aborted_batches(read.batches, read.aborted)
    for batch in dropped:
        floor = partition.batches.floor(batch.base_offset)
        begin = batch.base_offset if floor is None else floor.first
        touched = partition.batches.beginning_in(begin, batch.last_offset)
        partition.archive(touched, batch.base_offset, batch.last_offset + 1, RecordState.ACQUIRED, counted=True)
    kept = without(((each.first, each.last, each.count) for each in acquisition.acquired), dropped)
    return tuple(Acquired(*each) for each in kept)


class _Acquisition:
    """One run over the records in flight that were read, and those that were not in flight.

    Attributes:
        room: how many more records may be acquired.
        acquired: what was acquired.
    """

    def __init__(self, partition: SharePartition, wanted: Wanted, read: ReadRecords) -> None:
        self._partition = partition
        self._wanted = wanted
        self._read = read
        self._rules = partition.rules()
        self._careful = max(_FEWEST_FOR_CARE, math.ceil(self._rules.most_deliveries / 2))
        self.acquired: list[Acquired] = []
        self._last = read.last
        self.room = min(wanted.most_records, self._rules.most_in_flight - partition.in_flight)
        if self.room <= 0 and read.offset <= partition.end_offset:
            self.room = min(wanted.most_records, partition.end_offset - read.offset + 1)
            self._last = min(read.last, partition.end_offset)

    def run(self) -> None:
        """Acquire what is available, in order."""
        partition, first = self._partition, self._read.first
        self._archive_deleted()
        if self._last < first:
            partition.move_start()  # all that was available is deleted; Apache Kafka fails here, and stops delivering
            return
        begin = self._begin()
        in_flight = partition.batches.beginning_in(min(first, begin), self._last)
        if not in_flight:
            self._acquire_new(begin, self._last)
            return
        for batch in in_flight:
            if self.room <= 0:
                break
            if partition.active_gap is not None:
                if begin < batch.first:
                    self._acquire_new(begin, batch.first - 1)
                begin = batch.last + 1
                if self.room <= 0:
                    break
            if not self._acquire_again(batch):
                break
        else:
            if self.room > 0 and in_flight[-1].last < self._last:
                self._acquire_new(in_flight[-1].last + 1, self._last)
        if self.acquired:
            partition.move_gap(self.acquired[-1].last + 1)

    def _begin(self) -> int:
        """The first record to look at: where a batch in flight begins, or the start offset, if they are elsewhere."""
        first = self._read.first
        floor = self._partition.batches.floor(first)
        if floor is None:
            return max(first, self._partition.start_offset)
        return floor.first if floor.last >= first else first

    def _archive_deleted(self) -> None:
        """Archive what was to be read and is not there, since compaction has removed it."""
        partition, offset, first = self._partition, self._read.offset, self._read.first
        if offset < first:
            touched = partition.batches.overlapping(offset, first - 1)
            partition.archive(touched, offset, first, RecordState.AVAILABLE, counted=True)

    def _acquire_again(self, batch: InFlightBatch) -> bool:
        """Acquire what is available of a batch; returns whether to go on with the next one."""
        first, last = self._read.first, self._last
        with_care = self._needs_care(batch)
        if with_care and self.acquired:
            return False
        is_whole = first <= batch.first and batch.last <= last and batch.whole is not None
        if not is_whole or with_care or (self._wanted.is_strict and batch.size > self.room):
            if batch.whole is not None:
                if batch.whole.state is not RecordState.AVAILABLE:
                    return True
                batch.split()
            found = self._acquire_single(batch)
            self.room -= found
            return not (with_care and found)
        for part in batch.parts():
            if part.delivery.state is RecordState.AVAILABLE:
                part.delivery.acquire(self._wanted.member_id, self._partition.lock_end())
                self._take(Acquired(part.first, part.last, part.delivery.count))
        return True

    def _needs_care(self, batch: InFlightBatch) -> bool:
        """Whether a batch has records that have failed so often that few are delivered together."""
        available = (part for part in batch.parts(self._read.first, self._last) if _is_available(part))
        return max((part.delivery.count for part in available), default=0) >= self._careful

    def _acquire_single(self, batch: InFlightBatch) -> int:
        """Acquire single records; returns how many. One that is delivered for the last time comes alone."""
        most, most_at_once = self._rules.most_deliveries, None
        found: list[Acquired] = []
        for part in batch.parts(self._read.first, self._last):
            delivery = part.delivery
            if not _is_available(part):
                continue
            if most > _FEWEST_FOR_CARE and delivery.count == most - 1 and found:
                break
            if delivery.count >= self._careful and most_at_once is None:
                most_at_once = max(1, batch.size >> (delivery.count - self._careful + 1))
            delivery.acquire(self._wanted.member_id, self._partition.lock_end())
            found.append(Acquired(part.first, part.last, delivery.count))
            is_last_time = delivery.count == most and most > _FEWEST_FOR_CARE
            is_full = self._wanted.is_strict and len(found) == self.room
            if is_last_time or is_full or len(found) == most_at_once:
                break
        self.acquired += _joined(found)
        return len(found)

    def _acquire_new(self, first: int, last: int) -> None:
        """Acquire records that were not in flight."""
        partition = self._partition
        if not partition.batches:
            first = max(first, partition.end_offset)
        if self.room < last - first + 1:
            end = self._end_of_batch(first + self.room - 1)
            last = min(end, last) if partition.active_gap is not None else end
        taken = self._placed(first, last)
        beginning = partition.batches.first
        if beginning is not None and beginning.first == first:
            partition.start_offset = first
        partition.end_offset = max(partition.end_offset, last)
        for each in taken:
            self._take(each)
        partition.move_gap(taken[-1].last + 1)

    def _placed(self, first: int, last: int) -> list[Acquired]:
        """Put records in flight, in batches of the wanted size; beyond a strict limit they are available."""
        member_id, until, batches = self._wanted.member_id, self._partition.lock_end(), self._partition.batches
        if self._wanted.is_strict:
            batch = InFlightBatch(first, last, Delivery(RecordState.ACQUIRED, 1, member_id, until))
            batches.add(batch)
            if batch.size <= self.room:
                return [Acquired(first, last, 1)]
            batch.split()
            for part in batch.parts(first + self.room):
                part.delivery.state, part.delivery.count = RecordState.AVAILABLE, 0
                part.delivery.member_id, part.delivery.locked_until = "", UNLOCKED
            return [Acquired(first, first + self.room - 1, 1)]
        taken = [Acquired(begin, end, 1) for begin, end in self._stretches(first, last)]
        for each in taken:
            delivery = Delivery(RecordState.ACQUIRED, 1, member_id, until)
            batches.add(InFlightBatch(each.first, each.last, delivery))
        return taken

    def _stretches(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """First and last offsets of whole batches of the log, together about as large as wanted."""
        if last - first + 1 > self._wanted.batch_size:
            for batch in self._read.batches:
                if batch.base_offset > last:
                    break
                if batch.base_offset - first >= max(self._wanted.batch_size, 1):
                    yield first, batch.base_offset - 1
                    first = batch.base_offset
        yield first, last

    def _end_of_batch(self, offset: int) -> int:
        """The last offset of the batch of the log that has an offset; the offset itself between two batches."""
        found = [batch for batch in self._read.batches if batch.base_offset <= offset]
        return found[-1].last_offset if found and offset <= found[-1].last_offset else offset

    def _take(self, acquired: Acquired) -> None:
        self.acquired.append(acquired)
        self.room -= acquired.size


def _is_available(part: Part) -> bool:
    return part.delivery.state is RecordState.AVAILABLE


def _joined(found: Sequence[Acquired]) -> list[Acquired]:
    """Neighbours with the same count as one."""
    joined: list[Acquired] = []
    for each in found:
        before = joined[-1] if joined else None
        if before is not None and (before.last + 1, before.count) == (each.first, each.count):
            joined[-1] = Acquired(before.first, each.last, each.count)
        else:
            joined.append(each)
    return joined
