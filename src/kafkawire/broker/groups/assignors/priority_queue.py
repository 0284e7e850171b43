"""Java's priority queue: what assignors choose first among equals depends on how it moves them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class PriorityQueue(Generic[T]):
    """A queue with the least item first, as Java's ``PriorityQueue`` orders items.

    Python's ``heapq`` takes equal items in another order.

    Args:
        items: added one by one.
        key: what items are compared by; that of an item in the queue must not change.
    """

    def __init__(self, items: Iterable[T], key: Callable[[T], float]) -> None:
        self._key = key
        self._heap: list[T] = []
        for item in items:
            self.add(item)

    def add(self, item: T) -> None:
        """Add an item."""
        heap, rank = self._heap, self._key(item)
        at = len(heap)
        heap.append(item)
        while at > 0:
            parent = at - 1 >> 1
            if rank >= self._key(heap[parent]):
                break
            heap[at] = heap[parent]
            at = parent
        heap[at] = item

    def poll(self) -> T:
        """Take the first item.

        Raises:
            IndexError: if the queue is empty.
        """
        heap = self._heap
        last = heap.pop()
        if not heap:
            return last
        first = heap[0]
        rank, at = self._key(last), 0
        while (child := 2 * at + 1) < len(heap):
            if child + 1 < len(heap) and self._key(heap[child]) > self._key(heap[child + 1]):
                child += 1
            if rank <= self._key(heap[child]):
                break
            heap[at] = heap[child]
            at = child
        heap[at] = last
        return first

    def __len__(self) -> int:
        return len(self._heap)
