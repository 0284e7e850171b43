"""A ledger whose intervals are rows of Arrow columns, for a history that changes many keys."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowField
from kafkawire.logs.folding.intervals import Interval, Ledger, Moment, Values
from kafkawire.logs.folding.kept_rows import ROWS, KeptRow, KeptRows
from kafkawire.logs.limits import LARGEST_ROW_BATCH, RECORDS_AT_A_TIME
from kafkawire.logs.tables.rows import together

_ENDS: Final[tuple[ArrowField, ...]] = (pa.field("valid_to", pa.int64()), pa.field("to_offset", pa.int64()))
INTERVALS: Final = pa.schema([*ROWS, *_ENDS])
"""An interval; see ``Interval``."""

_ENDED: Final = pa.schema([pa.field("number", pa.int64()), *_ENDS])
"""The number of a row that has ended, and when."""

_FEWEST_AT_ONCE: Final = 64
"""Changes that are worth their Arrow arrays."""

_AT_ONCE: Final = 1024
"""Keys that become Python's at once."""


class RowLedger(Ledger[str]):
    """The same ledger, of ASCII keys without a group. An open interval is the number of a row, not an object.

    Memory is bounded by the keys that are open: about 200 bytes for each, and its values.

    Args:
        same: whether two values are equal; they are bytes.
        decode: makes columns of values, among them the keys; null where there are no values.
        key: name of the column of keys.
    """

    def __init__(
        self,
        same: Callable[[Values | None, Values], bool],
        decode: Callable[[pa.BinaryArray], pa.RecordBatch],
        key: str,
    ) -> None:
        super().__init__(same=same)
        self._decode, self._key = decode, key
        self._rows = KeptRows()
        self._row_of: dict[bytes, int] = {}  # Python finds them faster than strings
        self._ended_at_once: list[pa.RecordBatch] = []
        self._ended_singly: list[tuple[int, int | None, int | None]] = []
        self._count_ended = 0

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def count_ended(self) -> int:
        """How many intervals have ended and were not taken yet."""
        return self._count_ended

    def put(self, key: str, values: Values, at: Moment, group: Hashable = None) -> None:
        """See ``Ledger``."""
        held = self._row_of.get(key.encode())
        if held is not None:
            if self._same(self._rows.values(held), values):
                return
            self._end_row(held, at)
        self._begin_row(key.encode(), cast("bytes", values), at)

    def drop(self, key: str, at: Moment) -> None:
        """See ``Ledger``."""
        held = self._row_of.pop(key.encode(), None)
        if held is not None:
            self._end_row(held, at)
        elif not self.complete:
            self._end_row(self._rows.add_one(KeptRow(key, None, None, None)), at)

    def change(
        self, keys: pa.StringArray, values: pa.BinaryArray, times: pa.Int64Array, offsets: pa.Int64Array
    ) -> None:
        """See ``Ledger``."""
        count, rows = len(keys), self._rows
        if count < _FEWEST_AT_ONCE:
            super().change(keys, values, times, offsets)
            return
        first, is_set = rows.next, values.is_valid()
        numbers = pc.add(pc.indices_nonzero(is_set).cast(pa.int64()), pa.scalar(first, pa.int64()))
        no_keys, never = pa.nulls(len(numbers), pa.string()), pa.repeat(pa.scalar(False), len(numbers))
        cells = [no_keys, *(each.filter(is_set) for each in (values, times, offsets)), never, never]
        rows.add(cast("pa.Int64Array", numbers), pa.RecordBatch.from_arrays(cells, schema=ROWS), first + count)
        all_numbers = range(first, first + count)
        flags = memoryview(cast("pa.Buffer", is_set.cast(pa.uint8()).buffers()[1]))
        row_of, ended, octets = self._row_of, list[int](), keys.cast(pa.binary())
        ended_by: list[int] = []
        unchanged: list[int] = []
        for start in range(0, count, _AT_ONCE):  # so few that the processor still has the keys in its cache
            some = slice(start, start + _AT_ONCE)
            of_some = cast("list[bytes]", octets[some].to_pylist()), flags[some], all_numbers[some]
            for key, sets, number in zip(*of_some, strict=True):
                if sets:
                    held = row_of.setdefault(key, number)
                    if held == number:
                        continue
                    if self._same(rows.values(held), values[number - first].as_py()):
                        unchanged.append(number)
                        continue
                    row_of[key] = number
                    ended.append(held)
                elif (gone := row_of.pop(key, None)) is not None:
                    ended.append(gone)
                elif not self.complete:
                    ended.append(rows.add_one(KeptRow(key.decode(), None, None, None)))
                else:
                    continue
                ended_by.append(number)
        places = pc.subtract(pa.array(ended_by, pa.int64()), pa.scalar(first, pa.int64()))
        ends = [pa.array(ended, pa.int64()), times.take(places), offsets.take(places)]
        self._flush_ended()
        self._ended_at_once.append(pa.RecordBatch.from_arrays(ends, schema=_ENDED))
        self._count_ended += len(ended)
        if unchanged:
            again = pa.array(unchanged, pa.int64())
            rows.drop(again, rows.take(again, ["values"]).nbytes)

    def values(self, key: str, group: Hashable = None) -> bytes | None:
        """See ``Ledger``."""
        row = self._row_of.get(key.encode())
        return None if row is None else self._rows.values(row)

    def compare(self, found: Ledger[str], at: Moment, began: Moment) -> None:
        """See ``Ledger``."""
        there = cast("RowLedger", found)
        held_there = there._row_of  # noqa: SLF001 both are the same class
        for key in [key for key in self._row_of if key not in held_there]:
            self._end_row(self._row_of.pop(key), at)
        turned: dict[bytes, bytes] = {}
        for keys, values in there.pieces():
            rows = [self._row_of.get(key) for key in keys]
            known = iter(self._values_of([row for row in rows if row is not None]))
            for key, new, row in zip(keys, values, rows, strict=True):
                if row is not None and not self._same(next(known), new):
                    self._end_row(row, at)
                    turned[key] = new
        for key in [key for key in self._row_of if key in turned]:  # a new beginning does not change their order
            self._begin_row(key, turned[key], at, added_by_snapshot=True)
        for keys, values in there.pieces():
            for key, new in zip(keys, values, strict=True):
                if key not in self._row_of:
                    self._begin_row(key, new, began, added_by_snapshot=True)

    def begin(self, interval: Interval[str]) -> None:
        """See ``Ledger``."""
        self._begin_row(
            interval.key.encode(),
            cast("bytes", interval.values),
            (interval.valid_from, interval.from_offset),
            added_by_snapshot=interval.added_by_snapshot,
            is_saved=interval.is_saved,
        )

    def still_open(self) -> Iterator[Interval[str]]:
        """See ``Ledger``."""
        for rows in self.open_rows():
            yield from self._intervals_of(rows)

    def take_ended(self) -> Iterable[Interval[str]]:
        """See ``Ledger``."""
        while self._count_ended:
            yield from self._intervals_of(self.ended_rows(LARGEST_ROW_BATCH))

    def forget_ended(self) -> None:
        """See ``Ledger``."""
        while self._count_ended:
            self.ended_rows(LARGEST_ROW_BATCH)

    def ended_rows(self, count: int) -> pa.RecordBatch:
        """The first intervals that have ended, with the schema ``INTERVALS``; they are forgotten.

        Args:
            count: how many, at most.
        """
        self._flush_ended()
        ended = together(self._ended_at_once, _ENDED)
        self._ended_at_once = [ended.slice(count)]
        numbers, *ends = ended.slice(0, count).columns
        self._count_ended -= len(numbers)
        rows = self._rows.take(cast("pa.Int64Array", numbers))
        self._rows.drop(cast("pa.Int64Array", numbers), rows.nbytes)
        return pa.RecordBatch.from_arrays([*rows.columns, *ends], schema=INTERVALS)

    def open_rows(self, first: int = LARGEST_ROW_BATCH, *, with_saved: bool = True) -> Iterator[pa.RecordBatch]:
        """The open intervals in the order of ``still_open``, with the schema ``INTERVALS``.

        Args:
            first: how many rows the first batch has; the others have ``LARGEST_ROW_BATCH``.
            with_saved: whether those are among them that an earlier reading of the log has returned.
        """
        numbers = self._open_in_order(with_saved=with_saved)
        begin = 0
        while begin < len(numbers):
            end = begin + LARGEST_ROW_BATCH if begin else first
            rows = self._rows.take(numbers.slice(begin, end - begin))
            ends = [pa.nulls(rows.num_rows, pa.int64())] * len(_ENDS)
            yield pa.RecordBatch.from_arrays([*rows.columns, *ends], schema=INTERVALS)
            begin = end

    def decoded(self, rows: pa.RecordBatch) -> tuple[pa.StringArray, pa.RecordBatch]:
        """The keys of some intervals, and the columns of their values.

        Args:
            rows: with the schema ``INTERVALS``.
        """
        columns = self._decode(cast("pa.BinaryArray", rows.column("values")))
        keys = pc.coalesce(rows.column("key"), columns.column(self._key))
        return cast("pa.StringArray", keys), columns

    def _open_in_order(self, *, with_saved: bool) -> pa.Int64Array:
        numbers = pa.array(sorted(self._row_of.values()), pa.int64())
        begun, is_saved = self._rows.take(numbers, ["from_offset", "is_saved"]).columns
        if not with_saved and cast("pa.BooleanArray", is_saved).true_count:
            is_new = pc.invert(is_saved)
            numbers, begun = numbers.filter(is_new), begun.filter(is_new)
        known = pc.fill_null(cast("pa.Int64Array", begun), pa.scalar(-1, pa.int64()))
        return numbers.take(pc.sort_indices(cast("pa.Int64Array", known)))  # the sort is stable

    def _intervals_of(self, rows: pa.RecordBatch) -> Iterator[Interval[str]]:
        keys, _ = self.decoded(rows)
        cells = zip(keys.to_pylist(), *(each.to_pylist() for each in rows.columns[1:]), strict=True)
        for key, values, valid_from, from_offset, added, is_saved, valid_to, to_offset in cells:
            yield Interval(key, values, valid_from, from_offset, None, valid_to, to_offset, added, is_saved)

    def pieces(self) -> Iterator[tuple[Sequence[bytes], Sequence[bytes]]]:
        """The open keys in the order in which they came, and their values."""
        held = iter(self._row_of.items())
        while some := [*islice(held, LARGEST_ROW_BATCH)]:
            yield [key for key, _ in some], self._values_of([row for _, row in some])

    def _values_of(self, rows: Sequence[int]) -> Sequence[bytes]:
        return cast("list[bytes]", self._rows.take(pa.array(rows, pa.int64()), ["values"]).column(0).to_pylist())

    def _begin_row(
        self, key: bytes, values: bytes, at: Moment, *, added_by_snapshot: bool = False, is_saved: bool = False
    ) -> None:
        self._row_of[key] = self._rows.add_one(KeptRow(None, values, *at, added_by_snapshot, is_saved))

    def _end_row(self, row: int, at: Moment) -> None:
        self._ended_singly.append((row, *at))
        self._count_ended += 1
        if len(self._ended_singly) >= RECORDS_AT_A_TIME:
            self._flush_ended()

    def _flush_ended(self) -> None:
        """Put the rows that have ended one by one after the others."""
        if self._ended_singly:
            columns = zip(*self._ended_singly, strict=True)
            self._ended_singly = []
            ends = [pa.array(cells, pa.int64()) for cells in columns]
            self._ended_at_once.append(pa.RecordBatch.from_arrays(ends, schema=_ENDED))
