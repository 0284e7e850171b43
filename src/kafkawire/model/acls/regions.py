"""Sets of names, principals and hosts as exact values: what a statement about ACLs is true of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Set
from typing import Generic, TypeVar

import msgspec

from kafkawire.model.acls.bindings import WILDCARD, PatternType
from kafkawire.model.acls.pattern_tree import NAME, ROOT, Pattern, PatternNode

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class ResourcePattern(msgspec.Struct, frozen=True, gc=False, order=True):
    """A name, or all names that begin with a prefix; the literal ``*`` is all names.

    Attributes:
        name: the name or the prefix.
        pattern_type: ``LITERAL`` or ``PREFIXED``.
    """

    name: str
    pattern_type: PatternType = PatternType.LITERAL

    @classmethod
    def of(cls, pattern: Pattern) -> ResourcePattern:
        """The pattern of a node of a tree."""
        if pattern == ROOT:
            return cls(WILDCARD)
        return cls(pattern[0], PatternType.LITERAL if pattern[1] == NAME else PatternType.PREFIXED)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if self.pattern_type == PatternType.PREFIXED:
            return name.startswith(self.name)
        return self.name in (name, WILDCARD)


class ResourceRegion(msgspec.Struct, frozen=True, gc=False, order=True):
    """The names of a pattern, except those of some patterns in it.

    Attributes:
        pattern: the pattern.
        exceptions: patterns in it whose names are left out.
    """

    pattern: ResourcePattern
    exceptions: tuple[ResourcePattern, ...] = ()

    def __contains__(self, name: object) -> bool:
        return name in self.pattern and not any(name in exception for exception in self.exceptions)


class Exemption(msgspec.Struct, frozen=True, gc=False, order=True):
    """A principal that is left out of a statement on some names.

    Attributes:
        principal: which.
        resources: on which names.
    """

    principal: str
    resources: tuple[ResourceRegion, ...]


class RegionBuilder(Generic[K]):
    """Collects, for each key, the regions of the cells that have it. A cell is given after the wider ones.

    A cell that is not given has the keys of the next wider one that is.

    Args:
        known: patterns that regions share; grows by those that are new.
    """

    def __init__(self, known: dict[Pattern, ResourcePattern]) -> None:
        self._known = known
        self._regions: dict[K, list[tuple[Pattern, list[Pattern]]]] = {}

    def regions(self) -> Mapping[K, tuple[ResourceRegion, ...]]:
        """What was collected."""
        return {
            key: tuple(
                ResourceRegion(self._known_pattern(pattern), tuple(map(self._known_pattern, sorted(exceptions))))
                for pattern, exceptions in sorted(of_key)
            )
            for key, of_key in self._regions.items()
        }

    def _known_pattern(self, pattern: Pattern) -> ResourcePattern:
        known = self._known.get(pattern)
        if known is None:
            known = self._known[pattern] = ResourcePattern.of(pattern)
        return known

    def add(
        self, node: PatternNode[T], keys: Iterable[K], wider: Mapping[K, list[Pattern]]
    ) -> Mapping[K, list[Pattern]]:
        """Add a cell.

        Args:
            node: the cell.
            keys: what it has.
            wider: what this method has returned for the next wider cell; empty for the first.

        Returns:
            The keys, each with the exceptions of its region that is open here.
        """
        mine = {}
        for key in keys:
            exceptions = wider.get(key)
            if exceptions is None:
                exceptions = []
                self._regions.setdefault(key, []).append((node.pattern, exceptions))
            mine[key] = exceptions
        for key, exceptions in wider.items():
            if key not in mine:
                exceptions.append(node.pattern)
        return mine

    def add_names(self, names: Collection[Pattern], keys: Set[K], wider: Mapping[K, list[Pattern]]) -> None:
        """Add the cells of names in the same wider cell; the arguments are as above."""
        for key in keys - wider.keys():
            self._regions.setdefault(key, []).extend((name, []) for name in names)
        for key in wider.keys() - keys:
            wider[key].extend(names)


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by a key, in their order."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
