"""The batches in flight are found by the offsets that they have."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from kafkawire.broker.share_coordinator.state_batches import RecordState, StateBatch
from kafkawire.broker.shares.in_flight import NO_MEMBER, UNLOCKED, Delivery, InFlightBatch, InFlightBatches, Part

BASE = 1 << 40
BOUNDS = ((0, 2), (3, 3), (6, 9), (12, 15))
OFFSETS = range(-2, 19)


def delivery(count: int = 1) -> Delivery:
    return Delivery(RecordState.ACQUIRED, count, "m", 7.5)


def in_flight(bounds: Sequence[tuple[int, int]]) -> InFlightBatches:
    batches = InFlightBatches()
    for first, last in bounds[::-1]:
        batches.add(InFlightBatch(BASE + first, BASE + last, delivery()))
    return batches


def bounds_of(batches: Sequence[InFlightBatch | None]) -> list[tuple[int, int] | None]:
    return [None if batch is None else (batch.first - BASE, batch.last - BASE) for batch in batches]


@pytest.mark.parametrize("count", range(len(BOUNDS) + 1))
def test_batches_are_found_by_their_offsets(count: int) -> None:
    bounds = BOUNDS[:count]
    batches = in_flight(bounds)
    assert len(batches) == count
    assert bounds_of([*batches]) == [*bounds]
    assert bounds_of([batches.first, batches.last]) == ([bounds[0], bounds[-1]] if bounds else [None, None])
    for offset in OFFSETS:
        below = [each for each in bounds if each[0] <= offset]
        above = [each for each in bounds if each[0] > offset]
        assert bounds_of([batches.floor(BASE + offset)]) == [below[-1] if below else None]
        assert bounds_of([batches.above(BASE + offset)]) == [above[0] if above else None]
    for first, last in itertools.combinations_with_replacement(OFFSETS, 2):
        beginning = [each for each in bounds if first <= each[0] <= last]
        assert bounds_of(batches.beginning_in(BASE + first, BASE + last)) == beginning
        overlapping = [each for each in bounds if each[0] <= last and each[1] >= first]
        assert bounds_of(batches.overlapping(BASE + first, BASE + last)) == overlapping


@pytest.mark.parametrize("offset", OFFSETS)
def test_batches_that_begin_below_an_offset_are_removed(offset: int) -> None:
    batches = in_flight(BOUNDS)
    batches.remove_below(BASE + offset)
    assert bounds_of([*batches]) == [each for each in BOUNDS if each[0] >= offset]
    for first, last in BOUNDS:
        batches.add(InFlightBatch(BASE + first, BASE + last, delivery()))
    assert bounds_of([*batches]) == [*BOUNDS]
    batches.clear()
    assert (len(batches), [*batches], batches.first, batches.last) == (0, [], None, None)


def test_a_batch_that_begins_where_there_is_one_takes_its_place() -> None:
    batches = in_flight(BOUNDS)
    batches.add(InFlightBatch(BASE + 6, BASE + 7, delivery()))
    assert bounds_of([*batches]) == [(0, 2), (3, 3), (6, 7), (12, 15)]


@pytest.mark.parametrize(("first", "last"), [(5, 5), (5, 6), (5, 9)])
def test_a_batch_has_one_delivery_until_it_is_split(first: int, last: int) -> None:
    whole = delivery()
    batch = InFlightBatch(BASE + first, BASE + last, whole)
    assert batch.size == last - first + 1
    part = Part(BASE + first, BASE + last, whole)
    assert [*batch.parts()] == [*batch.parts(BASE + last, BASE + last)] == [part]
    assert part.size == last - first + 1
    assert part.written() == StateBatch(BASE + first, BASE + last, RecordState.ACQUIRED, 1)
    assert batch.delivery_at(BASE + first) is whole
    batch.split()
    assert batch.whole is None
    deliveries = [batch.delivery_at(BASE + offset) for offset in range(first, last + 1)]
    assert deliveries == [whole] * batch.size
    assert len({id(each) for each in (*deliveries, whole)}) == batch.size + 1
    assert batch.delivery_at(BASE + first - 1) is batch.delivery_at(BASE + last + 1) is None
    for begin, end in itertools.combinations_with_replacement(range(3, 12), 2):
        found = [(part.first - BASE, part.last - BASE, part.size) for part in batch.parts(BASE + begin, BASE + end)]
        assert found == [(each, each, 1) for each in range(max(begin, first), min(end, last) + 1)]
    if deliveries[0] is not None:
        deliveries[0].acquire("n", 9.0)
    batch.split()
    assert batch.delivery_at(BASE + first) == Delivery(RecordState.ACQUIRED, 2, "n", 9.0)


@pytest.mark.parametrize(
    ("state", "count", "most", "expected"),
    [
        (RecordState.AVAILABLE, 4, 5, RecordState.AVAILABLE),
        (RecordState.AVAILABLE, 5, 5, RecordState.ARCHIVED),
        (RecordState.AVAILABLE, 6, 5, RecordState.ARCHIVED),
        (RecordState.ACKNOWLEDGED, 5, 5, RecordState.ACKNOWLEDGED),
        (RecordState.ACKNOWLEDGED, 1, 5, RecordState.ACKNOWLEDGED),
        (RecordState.ARCHIVED, 1, 5, RecordState.ARCHIVED),
    ],
)
def test_a_record_that_was_delivered_often_enough_is_archived(
    state: RecordState, count: int, most: int, expected: RecordState
) -> None:
    """``group.share.delivery.count.limit``."""
    found = delivery(count)
    assert found.is_acquired_by("m")
    assert not found.is_acquired_by("n")
    found.finish(state, most)
    assert found == Delivery(expected, count, NO_MEMBER, UNLOCKED)
    assert not found.is_acquired_by("m")
    assert not found.is_acquired_by(NO_MEMBER)
