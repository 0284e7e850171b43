"""Partitions are in the order of Java's sets, which depends on how many there were at most."""

from __future__ import annotations

from kafkawire.broker.groups.assignors.assignment import Draft
from kafkawire.layout.uuid import Uuid

TOPIC = Uuid(bytes(15) + b"\1")


def test_a_set_that_has_grown_keeps_its_order_when_it_shrinks() -> None:
    """What Java gives: with 32 buckets 1 comes before 17, with 16 they share one, and 17 was first."""
    draft = Draft({})
    for partition in (17, *range(17)):
        draft.add(TOPIC, partition, 5)
    for partition in (0, *range(2, 17)):
        draft.remove(TOPIC, partition)
    assert draft.result() == {TOPIC: (1, 17)}
