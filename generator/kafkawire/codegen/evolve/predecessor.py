"""The older version with which each newer version is compared, and groups of versions that need one comparison."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kafkawire.codegen.definition import FieldDefinition
from kafkawire.codegen.versions import Versions


def predecessors(older: frozenset[int], newer: frozenset[int]) -> Mapping[int, int]:
    """Each version of the newer side to the version of the older one with which it is compared.

    That is the same version where the older side has it, else the one before it: the next lower one. A version below
    all of the older side is compared with the lowest. Empty if the older side has no version.
    """
    if not older:
        return {}
    known = sorted(older)
    return {version: known[max(bisect_right(known, version) - 1, 0)] for version in sorted(newer)}


@dataclass(frozen=True, slots=True)
class Stretch:
    """Versions that are in the same ranges, on both sides.

    Attributes:
        version: one of the versions.
        predecessor: the older version with which it is compared.
        versions: all versions.
    """

    version: int
    predecessor: int
    versions: frozenset[int]


def stretches(before: Mapping[int, int], ranges: Iterable[Versions]) -> tuple[Stretch, ...]:
    """Versions in groups: each range contains all versions of a group and their predecessors, or none.

    So one comparison for each group is enough for thousands of versions.

    Args:
        before: version to predecessor.
        ranges: the ranges on which the comparison depends.
    """
    ends = sorted({end for range_ in ranges if range_ for end in (range_.lowest, range_.highest + 1)})
    groups: dict[tuple[int, int], list[int]] = {}
    for version, predecessor in before.items():
        groups.setdefault((bisect_right(ends, version), bisect_right(ends, predecessor)), []).append(version)
    return tuple(Stretch(group[0], before[group[0]], frozenset(group)) for group in groups.values())


def ranges_in(fields: Iterable[FieldDefinition]) -> Iterator[Versions]:
    """All ranges of versions that fields have, without those of nested fields."""
    for field in fields:
        yield field.versions
        yield field.nullable_versions
        yield field.tagged_versions
        if field.flexible_versions is not None:
            yield field.flexible_versions
