"""What a version of the newer side is held against."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping


def predecessors(older: frozenset[int], newer: frozenset[int]) -> Mapping[int, int]:
    """Each version of the newer side to the version of the older one that it is held against.

    That is the same version where the older side has it, else the one that it was made from: the next lower one.
    A version below all of the older side is held against the lowest. Empty if the older side has no version.
    """
    if not older:
        return {}
    known = sorted(older)
    return {version: known[max(bisect_right(known, version) - 1, 0)] for version in sorted(newer)}
