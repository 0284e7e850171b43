"""How many there were at any date: of all that was read, whatever of it a page holds."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Hashable
from operator import itemgetter
from typing import Final

from kafkawire.report.contents import Count

__all__ = ["ChangesOverTime", "CountOverTime", "HoldersOverTime", "never_held"]

_TIMES: Final = 200_000


def never_held(begin: int | None, end: int | None) -> bool:
    """Whether there is no time between a begin and an end, as where a clock went back."""
    return begin is not None and end is not None and end <= begin


class CountOverTime:
    """How many rows hold at each time.

    The count is exact for every millisecond as long as no more than ``limit`` times are different. Beyond that,
    changes of neighbouring times become one: powers of two of milliseconds, as few as are needed.

    Args:
        limit: how many different times are kept.
    """

    __slots__ = ("_before", "_changes", "_limit", "_width")

    def __init__(self, limit: int = _TIMES) -> None:
        self._limit = limit
        self._before = 0
        self._width = 1
        self._changes: dict[int, int] = {}

    def add(self, begin: int | None, end: int | None) -> None:
        """Count what holds from one time to another: None is before all, or still at the end."""
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
            self._widen()

    def _widen(self) -> None:
        self._width *= 2
        wider: dict[int, int] = {}
        for place, amount in self._changes.items():
            wider[place // 2] = wider.get(place // 2, 0) + amount
        self._changes = wider

    def count(self) -> Count:
        """The count and its changes."""
        is_exact = self._width == 1
        changes = [(place * self._width, amount) for place, amount in sorted(self._changes.items())]
        return Count(self._before, [change for change in changes if change[1] or not is_exact], self._width)


class HoldersOverTime:
    """How many holders have anything at each time, however many things each of them has."""

    def __init__(self) -> None:
        self._stretches: dict[Hashable, list[tuple[float, float]]] = {}

    def add(self, holder: Hashable, begin: int | None, end: int | None) -> None:
        """Note what a holder has from one time to another; stretches that touch become one."""
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
    """How many changes there were up to each time: rows that began, and rows that ended.

    A row that begins when the one before it of the same thing ended is one change with that end.
    """

    def __init__(self) -> None:
        self._changes = CountOverTime()
        self._last_ends: dict[Hashable, int] = {}

    def add(self, thing: Hashable | None, begin: int | None, end: int | None) -> None:
        """Count a row; rows of a thing come in the order of their times.

        Args:
            thing: what the row is about; None for one that never changes, but ends and begins.
            begin, end: None is before all, or still at the end.
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
