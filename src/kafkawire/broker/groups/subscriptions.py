"""The names of topics to which members subscribe, in the orders of Kafka's sets and records."""

from __future__ import annotations

from collections.abc import Iterable

from kafkawire.model.java_order import java_hash, java_rank, set_order


def subscribed_to(names: Iterable[str], before: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The topics to which a member subscribes, in the order that they had before if they are the same."""
    return before if frozenset(names) == frozenset(before) else names_in_order(names)


def names_in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names in the order of Kafka's set of them, each once."""
    return tuple(set_order(dict.fromkeys(names), java_hash))


def recorded_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names in the order of the record of a member."""
    return tuple(sorted(names, key=java_rank))
