"""What a version of the newer side is held against, and which versions can be held together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kafkawire.codegen.definition import FieldDefinition
from kafkawire.codegen.versions import Versions


def predecessors(older: frozenset[int], newer: frozenset[int]) -> Mapping[int, int]:
    """Each version of the newer side to the version of the older one that it is held against.

    That is the same version where the older side has it, else the one that it was made from: the next lower one.
    A version below all of the older side is held against the lowest. Empty if the older side has no version.
    """
    if not older:
        return {}
    known = sorted(older)
    return {version: known[max(bisect_right(known, version) - 1, 0)] for version in sorted(newer)}


@dataclass(frozen=True, slots=True)
class Stretch:
    """Versions in which everything is alike, on both sides.

    Attributes:
        version: one of them.
        predecessor: what that is held against.
        versions: all of them.
    """

    version: int
    predecessor: int
    versions: frozenset[int]


def stretches(before: Mapping[int, int], ranges: Iterable[Versions]) -> tuple[Stretch, ...]:
    """Versions in groups, in each of which a range has all or none; so too their predecessors.

    What thousands of versions say is found by looking at a few of them.

    Args:
        before: version to predecessor.
        ranges: all that a version is asked for.
    """
    ends = sorted({end for range_ in ranges if range_ for end in (range_.lowest, range_.highest + 1)})
    groups: dict[tuple[int, int], list[int]] = {}
    for version, predecessor in before.items():
        groups.setdefault((bisect_right(ends, version), bisect_right(ends, predecessor)), []).append(version)
    return tuple(Stretch(group[0], before[group[0]], frozenset(group)) for group in groups.values())


def ranges_in(fields: Iterable[FieldDefinition]) -> Iterator[Versions]:
    """All ranges of versions that fields mention, nested ones apart."""
    for field in fields:
        yield field.versions
        yield field.nullable_versions
        yield field.tagged_versions
        if field.flexible_versions is not None:
            yield field.flexible_versions
