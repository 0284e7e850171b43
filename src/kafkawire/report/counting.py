"""Numbers over time. They count everything that was read, on the page or not."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Mapping
from operator import itemgetter
from typing import Final

from kafkawire.report.contents import Count

_TIMES: Final = 200_000


def never_held(begin: int | None, end: int | None) -> bool:
    """Whether an interval is empty, as after a clock was set back."""
    return begin is not None and end is not None and end <= begin


def in_pairs(sums: Mapping[int, int]) -> dict[int, int]:
    """The sums of numbered intervals, for intervals twice as wide."""
    wider: dict[int, int] = {}
    for number, amount in sums.items():
        wider[number // 2] = wider.get(number // 2, 0) + amount
    return wider


class CountOverTime:
    """The number of valid rows at each time.

    It is exact to the millisecond for up to ``limit`` distinct times. Beyond that, changes of neighbouring times are
    merged, over the smallest power of two of milliseconds that suffices.

    Args:
        limit: how many distinct times are kept.
    """

    __slots__ = ("_before", "_changes", "_limit", "_width")

    def __init__(self, limit: int = _TIMES) -> None:
        self._limit = limit
        self._before = 0
        self._width = 1
        self._changes: dict[int, int] = {}

    def add(self, begin: int | None, end: int | None) -> None:
        """Count an interval; None is before the start of the log, or still valid at its end."""
        if never_held(begin, end):
            return
        if begin is None:
            self._before += 1
        else:
            self._change(begin, 1)
        if end is not None:
            self._change(end, -1)

    def _change(self, time: int, amount: int) -> None:
        place = time // self._width
        self._changes[place] = self._changes.get(place, 0) + amount
        while len(self._changes) > self._limit:
            self._width *= 2
            self._changes = in_pairs(self._changes)

    def count(self) -> Count:
        """The count and its changes."""
        is_exact = self._width == 1
        changes = [(place * self._width, amount) for place, amount in sorted(self._changes.items())]
        return Count(self._before, [change for change in changes if change[1] or not is_exact], self._width)


class HoldersOverTime:
    """The number of holders that have at least one thing at each time."""

    def __init__(self) -> None:
        self._stretches: dict[Hashable, list[tuple[float, float]]] = {}

    def add(self, holder: Hashable, begin: int | None, end: int | None) -> None:
        """Add an interval of a holder; adjacent intervals are merged."""
        if never_held(begin, end):
            return
        first_time, last_time = -math.inf if begin is None else begin, math.inf if end is None else end
        stretches = self._stretches.setdefault(holder, [])
        first = bisect_left(stretches, first_time, key=itemgetter(1))
        last = bisect_right(stretches, last_time, key=itemgetter(0))
        if first < last:
            first_time = min(first_time, stretches[first][0])
            last_time = max(last_time, stretches[last - 1][1])
        stretches[first:last] = [(first_time, last_time)]

    def count(self) -> Count:
        """The count and its changes."""
        counted = CountOverTime()
        for stretches in self._stretches.values():
            for first_time, last_time in stretches:
                begin = None if first_time == -math.inf else int(first_time)
                counted.add(begin, None if last_time == math.inf else int(last_time))
        return counted.count()


class ChangesOverTime:
    """The number of changes up to each time: rows that began, and rows that ended.

    If a row begins when the row before it of the same thing ended, both are one change.
    """

    def __init__(self) -> None:
        self._changes = CountOverTime()
        self._last_ends: dict[Hashable, int] = {}

    def add(self, thing: Hashable | None, begin: int | None, end: int | None) -> None:
        """Count a row; the rows of a thing must be in the order of their times.

        Args:
            thing: what the row is about; None if rows of this kind do not replace each other.
            begin, end: None is before the start of the log, or still valid at its end.
        """
        if begin is not None and (thing is None or self._last_ends.get(thing) != begin):
            self._changes.add(begin, None)
        if end is not None:
            self._changes.add(end, None)
            if thing is not None:
                self._last_ends[thing] = end

    def count(self) -> Count:
        """The count and its changes."""
        return self._changes.count()
