"""The results of calls for many items: an outcome for each."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Generic, TypeVar

from kafkawire.wire.kafka_errors import ApiError, KafkaError, item_in_words

K = TypeVar("K")
V = TypeVar("V", covariant=True)  # noqa: PLC0105 - the names are those of a mapping

_SHOWN = 10
_LONGEST_LINE = 100
_LONGEST_OUTCOME = 400
"""Letters of an outcome in a representation."""

_SUMMARIZED = 3
"""Errors that the text of a group has."""


class Results(Generic[K, V]):
    """Items and their outcomes, in the order in which the items were given; cannot be changed.

    An item that was given twice was sent once; it is counted, iterated and reported as often as it was given. Two
    results are equal if items and values are and their errors are of the same kind and say the same, whichever node
    said it.

    Args:
        outcomes: the value or the error of each item.
        items: the items as they were given; those of ``outcomes`` by default.

    Raises:
        KeyError: an item of ``items`` has no outcome.

    Example:
        ```python
        results = await admin.describe_topics(["orders", "invoices"])
        for name, topic in results.values().items():  # those that were described
            print(name, len(topic.partitions), "partitions")
        for name, error in results.errors().items():  # those that could not be
            print(name, error)
        orders = results["orders"]  # raises the error of this one
        topics = results.all()  # raises an ExceptionGroup if any has failed
        ```
    """

    __slots__ = ("_items", "_outcomes")

    def __init__(self, outcomes: Mapping[K, V | KafkaError], items: Iterable[K] | None = None) -> None:
        self._items = tuple(outcomes) if items is None else tuple(items)
        self._outcomes: dict[K, V | KafkaError] = {item: _about(item, outcomes[item]) for item in self._items}

    def __getitem__(self, item: K) -> V:
        """The value of an item.

        Raises:
            KafkaError: its error.
            KeyError: it was not in the call.
        """
        outcome = self._outcomes[item]
        if isinstance(outcome, KafkaError):
            raise copy.copy(outcome)  # a raised error gathers traceback and context, which are not for the next reader
        return outcome

    def values(self) -> dict[K, V]:
        """The items that were done, and their values."""
        return {item: outcome for item, outcome in self._outcomes.items() if not isinstance(outcome, KafkaError)}

    def errors(self) -> dict[K, KafkaError]:
        """The items that failed, and why."""
        return {item: outcome for item, outcome in self._outcomes.items() if isinstance(outcome, KafkaError)}

    def all(self) -> dict[K, V]:
        """The values of all items.

        Raises:
            ExceptionGroup: of every error, also if there is one only. Its text has the first errors; a note
                of each error names its item.
        """
        failed = self.errors()
        if failed:
            raise ExceptionGroup(_summary(failed, len(self._outcomes)), list(_with_items(failed)))
        return self.values()

    def items(self) -> Iterator[tuple[K, V | KafkaError]]:
        """Each item with its value or its error."""
        return ((item, self._outcomes[item]) for item in self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __contains__(self, item: object) -> bool:
        return item in self._outcomes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Results):
            return NotImplemented
        return len(self) == len(other) and all(
            mine == theirs and _same(one, another)
            for (mine, one), (theirs, another) in zip(self.items(), other.items(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]  # values may be lists and mappings

    def __repr__(self) -> str:
        """The first items, on one line if they fit."""
        shown = [f"{item!r}: {_shortened(repr(outcome))}" for item, outcome in islice(self.items(), _SHOWN)]
        more = [f"... {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        line = ", ".join([*shown, *more])
        if len(line) <= _LONGEST_LINE:
            return f"Results({{{line}}})"
        return "\n".join(["Results({", *(f"  {each}," for each in shown), *(f"  {each}" for each in more), "})"])


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_OUTCOME else f"{text[:_LONGEST_OUTCOME]}..."


def _about(item: K, outcome: V | KafkaError) -> V | KafkaError:
    """An outcome; an error names its item; one that several items share is copied."""
    if not isinstance(outcome, KafkaError) or outcome.item == item:
        return outcome
    error = outcome if outcome.item is None else copy.copy(outcome)
    error.item = item
    return error


def _summary(failed: Mapping[K, KafkaError], total: int) -> str:
    errors = islice(failed.items(), _SUMMARIZED)
    first = [str(error) if item_in_words(item) else f"{item}: {error}" for item, error in errors]
    more = [f"and {len(failed) - _SUMMARIZED} more"] if len(failed) > _SUMMARIZED else []
    return f"{len(failed)} of {total} failed: {'; '.join([*first, *more])}"


def _with_items(failed: Mapping[K, KafkaError]) -> Iterator[KafkaError]:
    for item, error in failed.items():
        noted = copy.copy(error)
        noted.add_note(f"item: {item!r}")
        yield noted


def _same(one: object, other: object) -> bool:
    if not isinstance(one, KafkaError):
        return one == other
    code = one.code if isinstance(one, ApiError) else None
    return (
        isinstance(other, KafkaError)
        and type(one) is type(other)
        and code == (other.code if isinstance(other, ApiError) else None)
        and one.message == other.message
    )


T = TypeVar("T", covariant=True)  # noqa: PLC0105 - as in Results


class Gathered(Generic[T]):
    """The joined lists of all nodes. A node that fails does not affect the entries of the others.

    Args:
        by_node: node id to its list, or to what went wrong with it.
        identity: the identity of an entry. Nodes may list the same one while they hand it over; the last one counts.

    Attributes:
        by_node: the same.

    Example:
        ```python
        groups = await admin.list_consumer_groups()
        print("groups that are known:", len(groups.values()))
        for node, error in groups.errors().items():
            print("node", node, "lists no groups:", error)
        ```
    """

    __slots__ = ("_entries", "by_node")

    def __init__(self, by_node: Results[int, Sequence[T]], identity: Callable[[T], Hashable]) -> None:
        self.by_node = by_node
        entries = {identity(entry): entry for listed in by_node.values().values() for entry in listed}
        self._entries = tuple(entries.values())

    def all(self) -> tuple[T, ...]:
        """The entries of all nodes.

        Raises:
            ExceptionGroup: if a node failed, of the error of each that did.
        """
        self.by_node.all()
        return self._entries

    def values(self) -> tuple[T, ...]:
        """The entries of the nodes that answered."""
        return self._entries

    def errors(self) -> dict[int, KafkaError]:
        """The nodes that failed, and why."""
        return self.by_node.errors()

    def __eq__(self, other: object) -> bool:
        return self.by_node == other.by_node if isinstance(other, Gathered) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as Results

    def __repr__(self) -> str:
        return f"Gathered({self.by_node!r})"
