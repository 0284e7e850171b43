"""Bounded collections for a page: the newest rows, some points of a line, some bars of a chart."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from operator import itemgetter

from kafkawire.report.contents import Row
from kafkawire.report.counting import in_pairs


class KeptRows:
    """All rows that are valid at the end of the log, and the newest of those that ended, up to a limit.

    The limit bounds the memory for history; rows that are still valid are never dropped.

    Args:
        limit: the maximum number of ended rows.

    Attributes:
        added: the number of rows that were added.
        ended: how many of them ended.
        complete_from: all rows that are valid after this time are kept; None if no row was dropped.
    """

    def __init__(self, limit: int) -> None:
        self.added = 0
        self.ended = 0
        self.complete_from: int | None = None
        self._limit = limit
        self._valid: list[tuple[int, Row]] = []
        self._ended: list[tuple[int, float, int, Row]] = []

    def add(self, row: Row, begin: int | None, end: int | None) -> None:
        """Add a row.

        Args:
            row: its cells.
            begin, end: its interval; None if it began before the log, or is still valid.
        """
        number = self.added
        self.added += 1
        if end is None:
            self._valid.append((number, row))
            return
        self.ended += 1
        entry = (end, float("-inf") if begin is None else float(begin), number, row)
        if len(self._ended) < self._limit:
            heapq.heappush(self._ended, entry)
            return
        dropped = heapq.heappushpop(self._ended, entry)[0]
        self.complete_from = dropped if self.complete_from is None else max(dropped, self.complete_from)

    @property
    def rows(self) -> Sequence[Row]:
        """The kept rows, in the order in which they were added."""
        ended = ((number, row) for *_, number, row in self._ended)
        return [row for _, row in sorted((*self._valid, *ended), key=itemgetter(0))]


class ThinnedLine:
    """Points of a line: the first, the last, and some between them at even distances.

    Args:
        limit: the maximum number of points, at least two.
    """

    __slots__ = ("_kept", "_last", "_limit", "_seen", "_stride")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[tuple[int, int]] = []
        self._last: tuple[int, int] | None = None
        self._stride, self._seen = 1, 0

    def add(self, time: int, value: int) -> None:
        """Add the next point."""
        self._last = (time, value)
        if self._seen % self._stride == 0:
            if len(self._kept) == self._limit - 1:
                del self._kept[1::2]
                self._stride *= 2
            if self._seen % self._stride == 0:
                self._kept.append(self._last)
        self._seen += 1

    @property
    def is_complete(self) -> bool:
        """Whether no point was dropped."""
        return self._stride == 1

    @property
    def points(self) -> Sequence[tuple[int, int]]:
        """The points in the order in which they were added."""
        if self._last is None or self._kept[-1] == self._last:
            return tuple(self._kept)
        return (*self._kept, self._last)


def evenly(points: Sequence[tuple[int, int]], limit: int) -> Sequence[tuple[int, int]]:
    """Some of the points of a line at even distances, with the first and the last.

    Args:
        points: all points.
        limit: how many are kept, at least two.
    """
    last = len(points) - 1
    return points if last < limit else [points[last * number // (limit - 1)] for number in range(limit)]


class Bars:
    """Sums over equal intervals of time, which become wider when there would be too many.

    Args:
        limit: the maximum number of bars.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._width = 1
        self._sums: dict[int, int] = {}
        self._first = self._last = 0

    def add(self, time: int, amount: int = 1) -> None:
        """Add an amount at a time."""
        bar = time // self._width
        self._first = min(self._first, bar) if self._sums else bar
        self._last = max(self._last, bar) if self._sums else bar
        self._sums[bar] = self._sums.get(bar, 0) + amount
        while self._last - self._first >= self._limit:
            self._width *= 2
            self._sums = in_pairs(self._sums)
            self._first //= 2
            self._last //= 2

    @property
    def bars(self) -> Sequence[tuple[int, int, int]]:
        """As (from, to, sum), without intervals in which nothing was added."""
        return [(bar * self._width, (bar + 1) * self._width, amount) for bar, amount in sorted(self._sums.items())]
