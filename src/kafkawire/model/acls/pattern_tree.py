"""The patterns of ACLs on resources of one type as a tree: under a prefix are the longer prefixes and the names in it.

A node has a cell: the names in its pattern that are in no pattern under it. Names are endless, so no cell is
empty, and ACLs decide alike on all names of a cell. The root has the ACLs of every resource (``*``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from kafkawire.model.acls.bindings import WILDCARD, AclBinding, PatternType

T = TypeVar("T")

Pattern = tuple[str, int]
"""A name and `PREFIX` or `NAME`: patterns sort so that each follows those that it is in."""

PREFIX = 0
NAME = 1

ROOT: Pattern = ("", PREFIX)
"""The pattern of all names."""

_LITERAL, _PREFIXED = PatternType.LITERAL, PatternType.PREFIXED  # members of a class take time to find


def pattern_of(acl: AclBinding) -> Pattern | None:
    """The pattern of an ACL; None for kinds of patterns of newer brokers."""
    pattern_type, name = acl.pattern_type, acl.resource_name
    if pattern_type == _LITERAL:
        return ROOT if name == WILDCARD else (name, NAME)
    return (name, PREFIX) if pattern_type == _PREFIXED else None


def contains(outer: Pattern, inner: Pattern) -> bool:
    """Whether all names of a pattern are in another one."""
    if outer[1] == NAME:
        return outer == inner
    return inner[0].startswith(outer[0])


class PatternNode(Generic[T]):
    """A pattern, and what is known of it.

    Attributes:
        pattern: the pattern.
        content: what is known of it.
        parent: the next wider pattern; None for the root.
        position: of the node among all, in the order of patterns.
    """

    __slots__ = ("content", "parent", "pattern", "position")

    def __init__(self, pattern: Pattern, content: T, parent: PatternNode[T] | None, position: int) -> None:
        self.pattern: Pattern = pattern
        self.content: T = content
        self.parent: PatternNode[T] | None = parent
        self.position: int = position

    def path(self) -> Iterator[PatternNode[T]]:
        """The node and all wider ones."""
        node: PatternNode[T] | None = self
        while node is not None:
            yield node
            node = node.parent


class PatternTree(Generic[T]):
    """Patterns in a tree.

    Args:
        contents: what is known of each pattern; must have the root.

    Attributes:
        nodes: all nodes in the order of patterns, the root first.
        by_pattern: the same by pattern.
    """

    def __init__(self, contents: dict[Pattern, T]) -> None:
        self.nodes: list[PatternNode[T]] = []
        path: list[PatternNode[T]] = []
        for position, pattern in enumerate(sorted(contents)):
            while path and not contains(path[-1].pattern, pattern):
                path.pop()
            node = PatternNode(pattern, contents[pattern], path[-1] if path else None, position)
            self.nodes.append(node)
            if pattern[1] == PREFIX:
                path.append(node)
        self.by_pattern: dict[Pattern, PatternNode[T]] = {node.pattern: node for node in self.nodes}
        self._order = [node.pattern for node in self.nodes]

    def range_of(self, pattern: Pattern) -> tuple[int, int]:
        """The positions of the nodes whose patterns are in a pattern: the first, and the one after the last."""
        return span(self._order, pattern)

    def at(self, pattern: Pattern) -> PatternNode[T]:
        """The node of the cell that has the names of a pattern which are in no pattern under it."""
        known = self.by_pattern.get(pattern)
        if known is not None:
            return known
        place = bisect_left(self._order, pattern)
        node: PatternNode[T] | None = self.nodes[place - 1] if place else self.nodes[0]
        while node is not None and not contains(node.pattern, pattern):
            node = node.parent
        return node if node is not None else self.nodes[0]


def span(order: Sequence[Pattern], pattern: Pattern) -> tuple[int, int]:
    """The start and the end of those, among sorted patterns, that are in a pattern."""
    name, kind = pattern
    start = bisect_left(order, pattern)
    if kind == NAME:
        return start, start + (start < len(order) and order[start] == pattern)
    return start, bisect_left(order, True, start, key=lambda each: not each[0].startswith(name))
