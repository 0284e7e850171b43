"""The queue gives equal items in the order in which Java's gives them."""

from __future__ import annotations

import random

import pytest

from kafkawire.broker.groups.assignors.priority_queue import PriorityQueue


def polled(queue: PriorityQueue[str]) -> str:
    """All items of a queue."""
    return "".join(queue.poll() for _ in range(len(queue)))


def test_equal_items_are_given_in_javas_order() -> None:
    """What ``PriorityQueue`` gives: the last item takes the place of the first."""
    assert polled(PriorityQueue("abcdefg", lambda _: 0)) == "agfedcb"


def test_an_item_that_is_added_again_comes_after_its_equals() -> None:
    queue = PriorityQueue("abc", lambda _: 0)
    queue.add(queue.poll())
    assert polled(queue) == "cab"


def test_the_least_item_comes_first() -> None:
    items = "".join(random.Random(1).sample("abcdefghijklmnopqrst", 20))
    assert polled(PriorityQueue(items, ord)) == "abcdefghijklmnopqrst"


def test_an_empty_queue_has_no_first_item() -> None:
    with pytest.raises(IndexError):
        PriorityQueue[str]((), ord).poll()
