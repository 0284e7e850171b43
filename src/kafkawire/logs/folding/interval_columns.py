"""Intervals column by column, as rows are made of them, and those that wait until there are enough for a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Generic, NamedTuple, Protocol, cast

import pyarrow as pa

from kafkawire.logs.folding.intervals import Interval, K, Ledger, Values
from kafkawire.logs.folding.row_ledger import INTERVALS, RowLedger
from kafkawire.logs.folding.selection import Selection
from kafkawire.logs.limits import LARGEST_ROW_BATCH
from kafkawire.logs.tables.rows import together

_MOST_PIECES: Final = 64
"""Record batches that wait: each takes thousands of bytes, however few rows it has."""


class IntervalColumns(NamedTuple, Generic[K]):
    """Intervals column by column; see ``Interval``.

    Those of a ``RowLedger`` are Arrow arrays, and their values a record batch of columns.
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
    def of_rows(cls, ledger: RowLedger, rows: pa.RecordBatch) -> IntervalColumns[str]:
        """From rows of a ledger; their values are its columns."""
        names = ("valid_from", "valid_to", "from_offset", "to_offset", "added_by_snapshot")
        return IntervalColumns(*cast("Any", (*ledger.decoded(rows), *(rows.column(name) for name in names))))

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


def waiting_of(ledger: Ledger[K], selection: Selection) -> WaitingIntervals[K]:
    """Those of a ledger, before there are any."""
    if isinstance(ledger, RowLedger):
        return cast("WaitingIntervals[K]", _WaitingRows(ledger, selection))
    return _WaitingObjects(ledger, selection)


class _WaitingObjects(Generic[K]):
    """See ``WaitingIntervals``."""

    def __init__(self, ledger: Ledger[K], selection: Selection) -> None:
        self._ledger, self._selection = ledger, selection
        self._waiting: list[Interval[K]] = []

    def add_ended(self) -> None:
        self._waiting += self._selection.kept(self._ledger.take_ended())

    def full(self) -> Iterator[IntervalColumns[K]]:
        while len(self._waiting) >= LARGEST_ROW_BATCH:
            yield IntervalColumns.of(self._waiting[:LARGEST_ROW_BATCH])
            del self._waiting[:LARGEST_ROW_BATCH]

    def rest(self) -> Iterator[IntervalColumns[K]]:
        self._waiting += self._selection.kept(held for held in self._ledger.still_open() if not held.is_saved)
        for start in range(0, len(self._waiting), LARGEST_ROW_BATCH):
            yield IntervalColumns.of(self._waiting[start : start + LARGEST_ROW_BATCH])


class _WaitingRows:
    """See ``WaitingIntervals``; those that the options do not leave out wait in the ledger."""

    def __init__(self, ledger: RowLedger, selection: Selection) -> None:
        self._ledger, self._selection = ledger, selection
        self._fewest = LARGEST_ROW_BATCH if selection.is_everything else 1
        self._waiting: list[pa.RecordBatch] = []
        self._count = 0

    def add_ended(self) -> None:
        self._add_ended(self._fewest)

    def full(self) -> Iterator[IntervalColumns[str]]:
        while self._count >= LARGEST_ROW_BATCH:
            rows = together(self._waiting, INTERVALS)
            self._count -= LARGEST_ROW_BATCH
            self._waiting = [rows.slice(LARGEST_ROW_BATCH)] if self._count else []
            yield IntervalColumns.of_rows(self._ledger, rows.slice(0, LARGEST_ROW_BATCH))

    def rest(self) -> Iterator[IntervalColumns[str]]:
        self._add_ended(1)
        for rows in self._ledger.open_rows(LARGEST_ROW_BATCH - self._count, with_saved=False):
            self._add(rows)
            yield from self.full()
        if self._count:
            yield IntervalColumns.of_rows(self._ledger, together(self._waiting, INTERVALS))

    def _add_ended(self, fewest: int) -> None:
        while self._ledger.count_ended >= fewest:
            self._add(self._ledger.ended_rows(LARGEST_ROW_BATCH))

    def _add(self, rows: pa.RecordBatch) -> None:
        if not self._selection.is_everything:
            rows = rows.filter(self._selection.chosen_intervals(rows))
        if rows.num_rows:
            self._waiting.append(rows)
            self._count += rows.num_rows
        if len(self._waiting) > _MOST_PIECES:
            self._waiting = [together(self._waiting, INTERVALS)]
