"""A share partition: which records of a partition the members of a share group have, had, and may get.

As in Kafka's ``SharePartition``, records from ``start_offset`` to ``end_offset`` are in flight. Nothing here waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from kafkawire.broker.share_coordinator.state import ShareState, StateUpdate
from kafkawire.broker.share_coordinator.state_batches import RecordState
from kafkawire.broker.shares.in_flight import UNLOCKED, Delivery, InFlightBatch, InFlightBatches, Part
from kafkawire.broker.shares.settings import ShareRules
from kafkawire.protocol.error_codes import ErrorCode

_LARGEST: Final = 1_000_000
"""Records in flight beyond which a recorded state is none: Kafka has 10 000 and a batch at most."""


class ShareStateError(Exception):
    """What members have acknowledged could not be recorded.

    Attributes:
        code: why.
    """

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


@dataclass(slots=True)
class Gap:
    """Records that were never delivered, between those that a state was recorded of.

    Attributes:
        start: the first of them, or of those still to look for.
        end: the last record with a recorded state. When later ones are delivered, there are no more gaps.
    """

    start: int
    end: int


class SharePartition:
    """The records in flight.

    Args:
        state: as it was recorded.
        leader_epoch: of the partition.
        start_offset: the first record to deliver.
        rules: returns the settings of the group as they are now.
        now: returns the seconds of the broker's clock.
        write: records changes; called before they are in ``batches`` for good.

    Attributes:
        start_offset: all records below it are done with.
        end_offset: the last record in flight; the next to deliver if there are none.
        delivery_complete_count: how many records from ``start_offset`` on are done with.
        batches: the records in flight.
        gap: the records that were skipped when the state was read; None if there are none.
        leader_epoch, rules: as given.
        look_at: no lock ends before this time; infinity if there are none.

    Raises:
        ValueError: the recorded state is none.
    """

    def __init__(
        self,
        state: ShareState,
        leader_epoch: int,
        start_offset: int,
        *,
        rules: Callable[[], ShareRules],
        now: Callable[[], float],
        write: Callable[[StateUpdate], ErrorCode],
    ) -> None:
        self.start_offset = start_offset
        self.end_offset = start_offset
        self.delivery_complete_count = 0
        self.batches = InFlightBatches()
        self.gap: Gap | None = None
        self.leader_epoch = leader_epoch
        self.rules = rules
        self.look_at = UNLOCKED
        self._state_epoch = state.summary.state_epoch
        self._now = now
        self._write = write
        self._restore(state)

    @property
    def active_gap(self) -> Gap | None:
        """The gap, as long as no record after it was delivered."""
        return self.gap if self.gap is not None and self.gap.end == self.end_offset else None

    @property
    def in_flight(self) -> int:
        """How many records there are from the first to the last in flight."""
        return self.end_offset - self.start_offset + 1 if self.batches else 0

    @property
    def can_acquire(self) -> bool:
        """Whether records may be acquired: earlier ones again, or new ones if not too many are in flight."""
        return self.next_offset() != self.end_offset + 1 or self.in_flight < self.rules().most_in_flight

    def next_offset(self) -> int:
        """The next record to read: the first that is available again or was skipped, else the one after all.

        It is never one below the start offset, at which Apache Kafka can get stuck.
        """
        last = self.batches.last
        if last is None or self.start_offset > last.last:
            return self.end_offset
        gap = self.active_gap
        skipped = None if gap is None else gap.start
        for batch in self.batches:
            if skipped is not None:
                if batch.first > skipped:
                    return max(skipped, self.start_offset)
                skipped = max(batch.last + 1, skipped)
            for part in batch.parts():
                if part.delivery.state is RecordState.AVAILABLE and part.last >= self.start_offset:
                    return max(part.first, self.start_offset)
        return self.end_offset + 1

    def lock_end(self) -> float:
        """When a lock ends that begins now."""
        until = self._now() + self.rules().lock_ms / 1000
        self.look_at = min(self.look_at, until)
        return until

    def move_gap(self, offset: int) -> None:
        """Look for skipped records from an offset on, since those before it are acquired."""
        if self.gap is not None:
            if self.gap.end == self.end_offset and offset <= self.gap.end:
                self.gap.start = offset
            else:
                self.gap = None

    def release(self, member_id: str) -> bool:
        """Make all records of a member available again, or archive them if they were delivered often enough.

        Returns:
            Whether there were any.

        Raises:
            ShareStateError: the change could not be recorded; nothing has changed.
        """
        return self._end_locks(lambda delivery: delivery.is_acquired_by(member_id))

    def end_due_locks(self) -> bool:
        """Make the records available again whose locks have ended.

        Returns:
            Whether there were any.
        """
        now = self._now()
        try:
            return self._end_locks(lambda delivery: delivery.locked_until <= now, despite_errors=True)
        finally:
            parts = (part.delivery.locked_until for batch in self.batches for part in batch.parts())
            self.look_at = min(parts, default=UNLOCKED)

    def note_log_start(self, offset: int) -> None:
        """Archive what is available below the first offset of the log: it is deleted."""
        if offset <= self.start_offset:
            return
        if not self.batches:
            self.start_offset = self.end_offset = offset
            self.delivery_complete_count = 0
            return
        done = (part for batch in self.batches.beginning_in(0, offset - 1) for part in batch.parts())
        terminal = sum(
            max(0, min(part.last, offset - 1) - max(part.first, self.start_offset) + 1)
            for part in done
            if part.delivery.state.is_terminal
        )
        self.archive(self.batches, self.start_offset, offset, RecordState.AVAILABLE, counted=False)
        self.start_offset = offset
        self.delivery_complete_count -= terminal
        self.end_offset = max(self.end_offset, offset)

    def archive(
        self, batches: Iterable[InFlightBatch], first: int, end: int, state: RecordState, *, counted: bool
    ) -> None:
        """Archive the records in a state.

        Args:
            batches: which have them.
            first, end: only offsets from one and below the other.
            state: which they have.
            counted: whether they count as done with.
        """
        for batch in batches:
            if batch.first >= end:
                return
            is_within = first <= batch.first and batch.last < end
            if not is_within and batch.whole is not None and batch.whole.state is state:
                batch.split()
            elif not is_within and batch.whole is not None:
                continue
            for part in batch.parts(first, end - 1):
                if part.delivery.state is state:
                    part.delivery.finish(RecordState.ARCHIVED, 0)
                    self.delivery_complete_count += part.size if counted else 0

    def begins_within(self, batch: InFlightBatch) -> bool:
        """Whether only the first records of a batch are below the start offset."""
        return batch.first < self.start_offset <= batch.last

    def record(self, changed: Sequence[Part]) -> None:
        """Record the states of records, and move the start offset over those that are done with.

        Raises:
            ShareStateError: they could not be recorded.
        """
        if not changed:
            return
        written = tuple(part.written() for part in changed)
        complete = self.delivery_complete_count
        code = self._write(StateUpdate(self._state_epoch, self.leader_epoch, self.start_offset, complete, written))
        if code:
            raise ShareStateError(code)
        self.move_start()

    def count_done(self, part: Part) -> None:
        """Count records that have just been finished."""
        if part.delivery.state.is_terminal and part.last >= self.start_offset:
            self.delivery_complete_count += part.last - max(part.first, self.start_offset) + 1

    def _restore(self, state: ShareState) -> None:
        skipped, expected = None, self.start_offset
        for each in state.batches:
            is_sound = self.start_offset <= each.first_offset <= each.last_offset < self.start_offset + _LARGEST
            if not is_sound or each.delivery_state not in set(RecordState):
                raise ValueError(f"offsets {each.first_offset} to {each.last_offset} were recorded, which cannot be")
            if skipped is None and each.first_offset > expected:
                skipped = expected
            expected = each.last_offset + 1
            delivery = Delivery(RecordState(each.delivery_state), each.delivery_count)
            self.batches.add(InFlightBatch(each.first_offset, each.last_offset, delivery))
            if delivery.state.is_terminal:
                self.delivery_complete_count += each.last_offset - each.first_offset + 1
        if self.batches:
            self.end_offset = expected - 1
            self.gap = None if skipped is None else Gap(skipped, self.end_offset)
            self.move_start()

    def _end_locks(self, is_meant: Callable[[Delivery], bool], *, despite_errors: bool = False) -> bool:
        most, changed, before = self.rules().most_deliveries, list[Part](), list[tuple[Delivery, Delivery]]()
        count = self.delivery_complete_count
        for batch in self.batches:
            if batch.whole is not None and is_meant(batch.whole) and self.begins_within(batch):
                batch.split()
            for part in batch.parts():
                delivery = part.delivery
                if is_meant(delivery):
                    before.append(
                        (delivery, Delivery(delivery.state, delivery.count, delivery.member_id, delivery.locked_until))
                    )
                    is_gone = part.last < self.start_offset
                    delivery.finish(RecordState.ARCHIVED if is_gone else RecordState.AVAILABLE, most)
                    self.count_done(part)
                    changed.append(part)
        try:
            self.record(changed)
        except ShareStateError:
            if not despite_errors:
                self.undo(before, count)
                raise
            self.move_start()
        return bool(changed)

    def undo(self, before: Iterable[tuple[Delivery, Delivery]], delivery_complete_count: int) -> None:
        """Take back changes that could not be recorded.

        Args:
            before: each delivery, and how it was.
            delivery_complete_count: how it was.
        """
        for delivery, earlier in before:
            delivery.state, delivery.count = earlier.state, earlier.count
            delivery.member_id, delivery.locked_until = earlier.member_id, earlier.locked_until
        self.delivery_complete_count = delivery_complete_count

    def move_start(self) -> None:
        """Move the start offset over the records that are done with, and forget their batches."""
        at = self.batches.floor(self.start_offset)
        delivery = None if at is None else at.delivery_at(self.start_offset)
        if delivery is None or not delivery.state.is_terminal:
            return
        offset, count = self._done_prefix()
        last = self.batches.last
        if offset is None or last is None:
            return
        if offset == last.last:
            self.start_offset = self.end_offset = offset + 1
            self.batches.clear()
            self.delivery_complete_count = 0
            return
        following, gap = self.batches.above(offset), self.active_gap
        batch = self.batches.floor(offset)
        if batch is not None and batch.last == offset and following is not None:
            start = following.first if gap is None else min(gap.start, following.first)
            self.start_offset = max(self.start_offset, start)
            self.batches.remove_below(offset + 1)
        elif batch is not None:
            self.start_offset = max(self.start_offset, offset + 1)
            self.batches.remove_below(batch.first)
        self.delivery_complete_count -= count

    def _done_prefix(self) -> tuple[int | None, int]:
        """The last record of the first batches that are done with, and how many there are from the start offset on."""
        offset, count, gap = None, 0, self.active_gap
        for batch in self.batches:
            if gap is not None and batch.last >= gap.start:
                break
            for part in batch.parts():
                if not part.delivery.state.is_terminal:
                    return offset, count
                offset = part.last
                count += max(0, part.last - max(part.first, self.start_offset) + 1)
        return offset, count
