"""The intervals that the options include: valid at a time, or overlapping a range of times or offsets.

A time is refused if the whole state was not known then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Self, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.logs.errors import BeforeKnowledgeError
from kafkawire.logs.folding.intervals import Interval, K
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.times import datetime_of, milliseconds

SINCE_EVER: Final = -(1 << 63)
"""The time since which the whole state of a log is known that was empty before its first record."""


@dataclass(frozen=True)
class Selection:
    """The limits that options set.

    Attributes:
        as_of: milliseconds since the epoch, or None for all times.
        from_time, until_time: a range of times, the end excluded; None for no limit.
        from_offset, until_offset: a range of offsets, in the same form.
    """

    as_of: int | None
    from_time: int | None
    until_time: int | None
    from_offset: int | None
    until_offset: int | None

    @classmethod
    def of(cls, options: ReadOptions) -> Self:
        """The limits of some options."""
        as_of, from_time, until_time = (
            None if time is None else milliseconds(time)
            for time in (options.as_of, options.from_time, options.until_time)
        )
        return cls(as_of, from_time, until_time, options.from_offset, options.until_offset)

    def refuse_unknown(self, log: str, known_since: int | None) -> None:
        """Check that the whole state is known at ``as_of``, the only rule for it: ``known_since`` is not later.

        Args:
            log: path of the folder of the log, as shown.
            known_since: the time, in milliseconds, since which the whole state is known; None if it never is, because
                nothing could be read.

        Raises:
            BeforeKnowledgeError: it is not known then.
        """
        if self.as_of is not None and (known_since is None or self.as_of < known_since):
            raise BeforeKnowledgeError(log, datetime_of(self.as_of), known_since)

    @property
    def is_everything(self) -> bool:
        """Whether there are no limits."""
        return self == _EVERYTHING

    def kept(self, intervals: Iterable[Interval[K]]) -> Iterable[Interval[K]]:
        """The intervals that the options include."""
        return intervals if self.is_everything else filter(self._keeps, intervals)

    def _keeps(self, interval: Interval[K]) -> bool:
        valid_from, valid_to = interval.valid_from, interval.valid_to
        return (
            (self.as_of is None or _contains(self.as_of, valid_from, valid_to))
            and _touches(valid_from, valid_to, self.from_time, self.until_time)
            and _touches(interval.from_offset, interval.to_offset, self.from_offset, self.until_offset)
        )

    def chosen(self, rows: pa.RecordBatch) -> pa.BooleanArray:
        """Which rows the options include, as ``kept``; a row without an offset comes before all others.

        Args:
            rows: with ``valid_from``, ``valid_to`` and ``log_offset``.
        """
        begin, end, offset = _numbers(rows, ("valid_from", "valid_to", "log_offset"))
        offset = cast("pa.Int64Array", pc.fill_null(offset, pa.scalar(-1, pa.int64())))
        return self._chosen(rows.num_rows, begin, end, offset, offset)

    def chosen_intervals(self, rows: pa.RecordBatch) -> pa.BooleanArray:
        """Which rows the options include, as ``kept``.

        Args:
            rows: with ``valid_from``, ``valid_to``, ``from_offset`` and ``to_offset``.
        """
        return self._chosen(rows.num_rows, *_numbers(rows, ("valid_from", "valid_to", "from_offset", "to_offset")))

    def _chosen(
        self, count: int, begin: pa.Int64Array, end: pa.Int64Array, first: pa.Int64Array, last: pa.Int64Array
    ) -> pa.BooleanArray:
        """Which intervals the options include, of those between some times and between some offsets."""
        limits = (
            (pc.less_equal, begin, self.as_of),
            (pc.greater, end, self.as_of),
            (pc.greater_equal, end, self.from_time),
            (pc.less, begin, self.until_time),
            (pc.greater_equal, last, self.from_offset),
            (pc.less, first, self.until_offset),
        )
        true = pa.scalar(True)
        chosen = pa.repeat(true, count)
        for compare, column, limit in limits:
            if limit is not None:
                within = pc.fill_null(compare(column, pa.scalar(limit, pa.int64())), true)
                chosen = pc.and_(chosen, cast("pa.BooleanArray", within))
        return chosen


def _numbers(rows: pa.RecordBatch, names: Iterable[str]) -> Iterator[pa.Int64Array]:
    return (cast("pa.Int64Array", rows.column(name)) for name in names)


_EVERYTHING: Final = Selection(None, None, None, None, None)


def _contains(time: int, begin: int | None, end: int | None) -> bool:
    """Whether an interval contains a time. An interval without a beginning reaches back to all earlier times."""
    return (begin is None or begin <= time) and (end is None or time < end)


def _touches(begin: int | None, end: int | None, first: int | None, last: int | None) -> bool:
    """Whether an interval overlaps a range, or an empty interval lies in it."""
    return (first is None or end is None or end >= first) and (last is None or begin is None or begin < last)
