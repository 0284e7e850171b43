"""The states of the records that a share group was given, as batches of offsets (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Final, TypeAlias

from kafkawire.protocol import ShareSnapshotValue, ShareUpdateValue

_LAST_OFFSET: Final = (1 << 63) - 2
_STATES: Final = 256
_LOWEST_STATE: Final = -128

StateBatch: TypeAlias = ShareSnapshotValue.StateBatch | ShareUpdateValue.StateBatch
"""A batch in a record."""

Delivery: TypeAlias = int
"""How often a record was delivered, and its state, as one number: of two for one offset, the greater is the later."""

Deliveries: TypeAlias = Sequence[tuple[int, int, Delivery]]
"""First and last offset, and the delivery of all between; in order, and without overlaps."""


def times_and_state(delivery: Delivery) -> tuple[int, int]:
    """How often a record was delivered, and the number of its state."""
    times, state = divmod(delivery, _STATES)
    return times, state + _LOWEST_STATE


def deliveries(batches: Iterable[StateBatch]) -> Deliveries:
    """The batches of a record, which may be in any order.

    Raises:
        ValueError: the offsets of a batch are impossible.
    """
    found = []
    for each in batches:
        first, last = each.first_offset, each.last_offset
        if not 0 <= first <= last <= _LAST_OFFSET:
            raise ValueError(f"a batch of deliveries has offsets {first} to {last}")
        found.append((first, last, each.delivery_count * _STATES + each.delivery_state - _LOWEST_STATE))
    return found


def combined(before: Deliveries, now: Deliveries, start_offset: int) -> Deliveries:
    """The deliveries from an offset on, as ``PersisterStateBatchCombiner`` of Kafka combines them."""
    batches = [*before, *now]
    if start_offset > 0:
        left = (each for each in batches if each[1] >= start_offset)
        batches = [each if each[0] >= start_offset else (start_offset, *each[1:]) for each in left]
    batches.sort()
    result: list[tuple[int, int, Delivery]] = []
    begin = 0
    while begin < len(batches):
        last, end = batches[begin][1], begin + 1
        while end < len(batches) and batches[end][0] <= last:
            last = max(last, batches[end][1])
            end += 1
        overlapping = batches[begin:end]
        for each in overlapping if len(overlapping) == 1 else _without_overlaps(overlapping):
            goes_on = result and result[-1][1:] == (each[0] - 1, each[2])
            result.append((result.pop()[0], *each[1:]) if goes_on else each)
        begin = end
    return result


def _without_overlaps(batches: Deliveries) -> Deliveries:
    """The greatest delivery of each offset; the batches are in the order of their first offsets."""
    edges = sorted({edge for first, last, _ in batches for edge in (first, last + 1)})
    result: list[tuple[int, int, Delivery]] = []
    covering: list[tuple[Delivery, int]] = []  # negated, so that the greatest delivery is the first
    at = 0
    for begin, end in pairwise(edges):
        while at < len(batches) and batches[at][0] == begin:
            _, last, delivery = batches[at]
            heappush(covering, (-delivery, last))
            at += 1
        while covering[0][1] < begin:
            heappop(covering)
        result.append((begin, end - 1, -covering[0][0]))
    return result


def counted(batches: Deliveries) -> Mapping[Delivery, int]:
    """The number of records of each delivery."""
    found: dict[Delivery, int] = {}
    for first, last, delivery in batches:
        found[delivery] = found.get(delivery, 0) + last - first + 1
    return found
