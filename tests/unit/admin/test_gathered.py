"""Listings that are gathered from all nodes."""

from __future__ import annotations

import pytest

from kafkawire.admin.results import Gathered, Results
from kafkawire.protocol.errors import CoordinatorLoadInProgressError
from kafkawire.wire.kafka_errors import KafkaError

LOADING = CoordinatorLoadInProgressError("not yet")


def gathered(by_node: dict[int, tuple[tuple[str, str], ...] | KafkaError]) -> Gathered[tuple[str, str]]:
    return Gathered(Results(by_node), lambda entry: entry[0])


def test_the_lists_of_all_nodes_are_put_together() -> None:
    both = gathered({1: (("a", "x"),), 2: (("b", "y"), ("c", "z"))})
    assert both.all() == both.values() == (("a", "x"), ("b", "y"), ("c", "z"))
    assert both.errors() == {}
    assert both.by_node[2] == (("b", "y"), ("c", "z"))


def test_a_node_that_failed_takes_nothing_from_the_others() -> None:
    part = gathered({1: LOADING, 2: (("b", "y"),)})
    assert part.values() == (("b", "y"),)
    assert part.errors() == {1: LOADING}
    with pytest.raises(ExceptionGroup, match="1 of 2 failed"):
        part.all()


def test_an_entry_that_two_nodes_list_is_there_once() -> None:
    moved = gathered({1: (("a", "old"), ("b", "x")), 2: (("a", "new"),)})
    assert moved.values() == (("a", "new"), ("b", "x"))


def test_equal_lists_are_equal_and_show_their_nodes() -> None:
    assert gathered({1: (("a", "x"),)}) == gathered({1: (("a", "x"),)})
    assert gathered({1: (("a", "x"),)}) != gathered({2: (("a", "x"),)})
    assert gathered({}) != ()
    assert "Results({1: (('a', 'x'),)})" in repr(gathered({1: (("a", "x"),)}))
