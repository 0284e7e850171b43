"""What all nodes of a cluster list together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from kafkawire.admin.results import Results
from kafkawire.wire.kafka_errors import KafkaError

T = TypeVar("T", covariant=True)  # noqa: PLC0105 - as in Results


class Gathered(Generic[T]):
    """Lists of all nodes put together. A node that failed takes nothing from what the others say.

    Args:
        by_node: node id to its list, or to what went wrong with it.
        identity: what an entry is about; of several entries about one thing, which a node may list that has just
            handed it on, the last one counts.

    Attributes:
        by_node: the same.
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
