"""The records in flight: delivered, and not done with. They are in batches, and single where they differ."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from kafkawire.broker.share_coordinator.state_batches import RecordState, StateBatch

NO_MEMBER: Final = ""
"""The member of records that are not acquired."""

UNLOCKED: Final = float("inf")
"""The end of a lock where there is none."""


@dataclass(slots=True)
class Delivery:
    """The delivery of a record, or of several that are treated alike.

    Attributes:
        state: where it is.
        count: how often it was acquired.
        member_id: who has acquired it.
        locked_until: when the lock of the member ends, in seconds of the broker's clock.
    """

    state: RecordState
    count: int
    member_id: str = NO_MEMBER
    locked_until: float = UNLOCKED

    def acquire(self, member_id: str, locked_until: float) -> None:
        """Lock an available record for a member; this counts."""
        self.state, self.count = RecordState.ACQUIRED, self.count + 1
        self.member_id, self.locked_until = member_id, locked_until

    def finish(self, state: RecordState, most_deliveries: int) -> None:
        """End the lock: what would be available again is archived if it was delivered often enough."""
        is_used_up = state is RecordState.AVAILABLE and self.count >= most_deliveries
        self.state = RecordState.ARCHIVED if is_used_up else state
        self.member_id, self.locked_until = NO_MEMBER, UNLOCKED

    def is_acquired_by(self, member_id: str) -> bool:
        """Whether a member has acquired it."""
        return self.state is RecordState.ACQUIRED and self.member_id == member_id


class Part(NamedTuple):
    """Neighbouring records with one delivery.

    Attributes:
        first, last: offsets.
        delivery: of all of them; a change of it changes the records.
    """

    first: int
    last: int
    delivery: Delivery

    @property
    def size(self) -> int:
        """How many records."""
        return self.last - self.first + 1

    def written(self) -> StateBatch:
        """The state as it is recorded."""
        return StateBatch(self.first, self.last, self.delivery.state, self.delivery.count)


class InFlightBatch:
    """Records that were acquired together; they have one delivery until they are treated one by one.

    Args:
        first, last: offsets.
        delivery: of all records.

    Attributes:
        first, last: as given.
        whole: the delivery of all records; None after ``split``.
    """

    __slots__ = ("_by_offset", "first", "last", "whole")

    def __init__(self, first: int, last: int, delivery: Delivery) -> None:
        self.first = first
        self.last = last
        self.whole: Delivery | None = delivery
        self._by_offset: dict[int, Delivery] = {}

    @property
    def size(self) -> int:
        """How many records."""
        return self.last - self.first + 1

    def split(self) -> None:
        """Give each record a delivery of its own, the same as before."""
        if self.whole is not None:
            self._by_offset = {offset: replace(self.whole) for offset in range(self.first, self.last + 1)}
            self.whole = None

    def parts(self, first: int | None = None, last: int | None = None) -> Iterator[Part]:
        """The deliveries in order.

        Args:
            first, last: only the offsets between them; a batch that is not split is returned as a whole.
        """
        if self.whole is not None:
            yield Part(self.first, self.last, self.whole)
            return
        begin = self.first if first is None else max(first, self.first)
        end = self.last if last is None else min(last, self.last)
        for offset in range(begin, end + 1):
            yield Part(offset, offset, self._by_offset[offset])

    def delivery_at(self, offset: int) -> Delivery | None:
        """The delivery of a record."""
        return self.whole if self.whole is not None else self._by_offset.get(offset)


class InFlightBatches:
    """Batches without overlaps, in order."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._batches: dict[int, InFlightBatch] = {}

    def __len__(self) -> int:
        return len(self._firsts)

    def __iter__(self) -> Iterator[InFlightBatch]:
        return iter([self._batches[first] for first in self._firsts])

    @property
    def last(self) -> InFlightBatch | None:
        """The batch with the highest offsets."""
        return self._batches[self._firsts[-1]] if self._firsts else None

    @property
    def first(self) -> InFlightBatch | None:
        """The batch with the lowest offsets."""
        return self._batches[self._firsts[0]] if self._firsts else None

    def add(self, batch: InFlightBatch) -> None:
        """Add a batch where there is none."""
        if batch.first not in self._batches:
            insort(self._firsts, batch.first)
        self._batches[batch.first] = batch

    def floor(self, offset: int) -> InFlightBatch | None:
        """The last batch that begins at an offset or below it."""
        at = bisect_right(self._firsts, offset)
        return self._batches[self._firsts[at - 1]] if at else None

    def above(self, offset: int) -> InFlightBatch | None:
        """The first batch that begins above an offset."""
        at = bisect_right(self._firsts, offset)
        return self._batches[self._firsts[at]] if at < len(self._firsts) else None

    def beginning_in(self, first: int, last: int) -> list[InFlightBatch]:
        """The batches that begin from one offset to another, both included."""
        low, high = bisect_left(self._firsts, first), bisect_right(self._firsts, last)
        return [self._batches[each] for each in self._firsts[low:high]]

    def overlapping(self, first: int, last: int) -> list[InFlightBatch]:
        """The batches that have offsets between two, both included."""
        floor = self.floor(first)
        begin = floor.first if floor is not None and floor.last >= first else first
        return self.beginning_in(begin, last)

    def remove_below(self, offset: int) -> None:
        """Remove the batches that begin below an offset."""
        at = bisect_left(self._firsts, offset)
        for first in self._firsts[:at]:
            del self._batches[first]
        del self._firsts[:at]

    def clear(self) -> None:
        """Remove all."""
        self._firsts.clear()
        self._batches.clear()
