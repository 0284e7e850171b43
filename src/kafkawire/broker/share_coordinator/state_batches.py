"""Ranges of offsets with the same delivery state, as the records of share groups have them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import pairwise

from kafkawire.wire.message import Struct


class RecordState(IntEnum):
    """The delivery state of a record, with Kafka's numbers."""

    AVAILABLE = 0
    """Can be acquired."""
    ACQUIRED = 1
    """Locked for a member."""
    ACKNOWLEDGED = 2
    """Processed."""
    ARCHIVED = 4
    """Never delivered again: rejected, delivered too often, aborted or deleted."""

    @property
    def is_terminal(self) -> bool:
        """Whether the record is never delivered again."""
        return self in {RecordState.ACKNOWLEDGED, RecordState.ARCHIVED}


class StateBatch(Struct, frozen=True, gc=False):
    """Offsets with the same delivery state.

    Attributes:
        first_offset, last_offset: of the records.
        delivery_state: the number of a `RecordState`.
        delivery_count: how often they were acquired.
    """

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


def combined(earlier: Sequence[StateBatch], new: Iterable[StateBatch], start_offset: int) -> Sequence[StateBatch]:
    """Batches without overlaps, in order. At each offset the higher delivery count wins, then the higher state.

    Args:
        earlier, new: batches, which may overlap.
        start_offset: what is below it is left out; -1 for none.
    """
    kept = [batch for batch in (*earlier, *new) if batch.last_offset >= start_offset]
    if len(kept) < 2 and all(batch.first_offset >= start_offset for batch in kept):
        return tuple(kept)
    result: list[StateBatch] = []
    for first, end, count, state in _winners(kept):
        begin, before = max(first, start_offset), result[-1] if result else None
        if end <= begin:
            continue
        if before is not None and before == StateBatch(before.first_offset, begin - 1, state, count):
            result[-1] = StateBatch(before.first_offset, end - 1, state, count)
        else:
            result.append(StateBatch(begin, end - 1, state, count))
    return tuple(result)


def _winners(batches: Iterable[StateBatch]) -> Iterator[tuple[int, int, int, int]]:
    """First offset, end, delivery count and state of each stretch between two ends of batches."""
    ordered = sorted(batches, key=lambda batch: batch.first_offset)
    bounds = sorted({batch.first_offset for batch in ordered} | {batch.last_offset + 1 for batch in ordered})
    covering: list[tuple[int, int, int]] = []
    at = 0
    for first, end in pairwise(bounds):
        while at < len(ordered) and ordered[at].first_offset <= first:
            batch = ordered[at]
            heapq.heappush(covering, (-batch.delivery_count, -batch.delivery_state, batch.last_offset))
            at += 1
        while covering and covering[0][2] < first:
            heapq.heappop(covering)
        if covering:
            yield first, end, -covering[0][0], -covering[0][1]
