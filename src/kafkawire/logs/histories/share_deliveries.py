"""The states of the records that a share group was given, as batches of offsets (KIP-932)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from kafkawire.protocol import ShareSnapshotValue, ShareUpdateValue

_LAST_OFFSET: Final = (1 << 63) - 2


StateBatch: TypeAlias = ShareSnapshotValue.StateBatch | ShareUpdateValue.StateBatch
"""A batch in a record."""


class Delivery(NamedTuple):
    """How far the delivery of a record has got; of two for one offset, the greater is the later one.

    Attributes:
        times: how often the record was delivered.
        state: the number of its state.
    """

    times: int
    state: int


Deliveries: TypeAlias = Sequence[tuple[int, int, Delivery]]
"""First and last offset, and the delivery of all between; in order, and without overlaps."""


def deliveries(batches: Iterable[StateBatch]) -> Deliveries:
    """The batches of a record, which may be in any order.

    Raises:
        ValueError: the offsets of a batch are impossible.
    """
    found = []
    for each in batches:
        if not 0 <= each.first_offset <= each.last_offset <= _LAST_OFFSET:
            raise ValueError(f"a batch of deliveries has offsets {each.first_offset} to {each.last_offset}")
        found.append((each.first_offset, each.last_offset, Delivery(each.delivery_count, each.delivery_state)))
    return found


def combined(before: Deliveries, now: Deliveries, start_offset: int) -> Deliveries:
    """The deliveries from an offset on, as ``PersisterStateBatchCombiner`` of Kafka combines them."""
    batches = sorted(
        (max(first, start_offset), last, each) for first, last, each in (*before, *now) if last >= start_offset
    )
    edges = sorted({edge for first, last, _ in batches for edge in (first, last + 1)})
    result: list[tuple[int, int, Delivery]] = []
    covering: list[tuple[int, int, int]] = []  # negated, so that the greatest delivery is the first
    at = 0
    for begin, end in pairwise(edges):
        while at < len(batches) and batches[at][0] == begin:
            _, last, (times, state) = batches[at]
            heappush(covering, (-times, -state, last))
            at += 1
        while covering and covering[0][2] < begin:
            heappop(covering)
        if not covering:
            continue
        times, state, _ = covering[0]
        delivery = Delivery(-times, -state)
        goes_on = result and result[-1][1:] == (begin - 1, delivery)
        result.append((result.pop()[0] if goes_on else begin, end - 1, delivery))
    return result


def counted(batches: Deliveries) -> Counter[Delivery]:
    """The number of records of each delivery."""
    found = Counter[Delivery]()
    for first, last, delivery in batches:
        found[delivery] += last - first + 1
    return found
