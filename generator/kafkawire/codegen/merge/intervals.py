"""Version ranges that answer for two definitions at once."""

from __future__ import annotations

from collections.abc import Set

from kafkawire.codegen.versions import NO_VERSIONS, OPEN_END, Versions


def combine(newer: Versions, newer_at: Set[int], older: Versions, older_at: Set[int]) -> Versions | None:
    """The one range that equals ``newer`` at the versions ``newer_at`` and ``older`` at ``older_at``.

    What it says about other versions is free, so the texts that were written are kept where they fit: the
    newer one first. Otherwise it is the smallest range that fits, open-ended if it reaches the highest version
    asked for and a text was open-ended.

    Args:
        newer, older: the ranges of the two definitions.
        newer_at, older_at: disjoint sets of versions, which tell where each of the ranges counts.

    Returns:
        the range, or None if no single range does it.
    """
    wanted = {v for v in newer_at if v in newer} | {v for v in older_at if v in older}
    unwanted = (newer_at | older_at) - wanted
    for candidate in (newer, older, _hull(wanted, newer_at | older_at, newer.is_open or older.is_open)):
        if all(v in candidate for v in wanted) and not any(v in candidate for v in unwanted):
            return candidate
    return None


def _hull(wanted: Set[int], asked: Set[int], may_open: bool) -> Versions:
    if not wanted:
        return NO_VERSIONS
    highest = max(wanted)
    return Versions(min(wanted), OPEN_END if may_open and highest == max(asked) else highest)
