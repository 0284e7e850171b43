"""Intervals column by column, as rows are made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, cast

import pyarrow as pa

from kafkawire.logs.folding.intervals import Interval, K, Values


class IntervalColumns(NamedTuple, Generic[K]):
    """Intervals column by column; see ``Interval``.

    Columns may be Arrow arrays; their values are a record batch then.
    """

    keys: Sequence[K]
    values: Sequence[Values | None]
    valid_from: Sequence[int | None]
    valid_to: Sequence[int | None]
    from_offset: Sequence[int | None]
    to_offset: Sequence[int | None]
    added_by_snapshot: Sequence[bool]

    @classmethod
    def of(cls, intervals: Sequence[Interval[K]]) -> IntervalColumns[K]:
        """From intervals."""
        return IntervalColumns(
            [each.key for each in intervals],
            [each.values for each in intervals],
            [each.valid_from for each in intervals],
            [each.valid_to for each in intervals],
            [each.from_offset for each in intervals],
            [each.to_offset for each in intervals],
            [each.added_by_snapshot for each in intervals],
        )

    @classmethod
    def of_arrays(cls, keys: pa.StringArray, values: pa.RecordBatch, rows: pa.RecordBatch) -> IntervalColumns[str]:
        """From Arrow arrays.

        Args:
            keys: of the intervals.
            values: column by column.
            rows: the other cells, as columns with the names of those of this class.
        """
        names = cls._fields[2:]
        return IntervalColumns(*cast("Any", (keys, values, *(rows.column(name) for name in names))))

    def beginnings(self) -> Iterator[tuple[K, int | None, int | None, bool, bool]]:
        """Of each the key, both offsets, whether it has values, and whether a snapshot added it."""
        values = cast("Sequence[object] | pa.RecordBatch", self.values)
        if isinstance(values, pa.RecordBatch):
            known: Sequence[object] = values.column(0).is_valid().to_pylist()
        else:
            known = [each is not None for each in values]
        columns = (self.keys, self.from_offset, self.to_offset, known, self.added_by_snapshot)
        cells = (each.to_pylist() if isinstance(each, pa.Array) else each for each in cast("Any", columns))
        return cast("Iterator[tuple[K, int | None, int | None, bool, bool]]", zip(*cells, strict=True))


class WaitingIntervals(Protocol[K]):
    """The intervals that the options include, until there are enough for a batch of rows."""

    def add_ended(self) -> None:
        """Add those that have ended."""

    def full(self) -> Iterator[IntervalColumns[K]]:
        """Take as many as fill batches."""

    def rest(self) -> Iterator[IntervalColumns[K]]:
        """Take all, then the open ones, unless an earlier reading of the log has returned them."""
