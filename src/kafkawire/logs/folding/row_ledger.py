"""A ledger whose intervals are rows of Arrow columns, for a history that changes many keys."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import compress, islice
from typing import Final, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray, ArrowField
from kafkawire.logs.folding.interval_columns import IntervalColumns, WaitingIntervals
from kafkawire.logs.folding.intervals import Interval, Moment, Values
from kafkawire.logs.folding.kept_rows import ROWS, KeptRow, KeptRows
from kafkawire.logs.folding.ledger import Ledger, LedgerRules
from kafkawire.logs.folding.saved_state import SavedStateError
from kafkawire.logs.folding.selection import Selection
from kafkawire.logs.limits import LARGEST_ROW_BATCH, RECORDS_AT_A_TIME
from kafkawire.logs.tables.rows import together

_ENDS: Final[tuple[ArrowField, ...]] = (pa.field("valid_to", pa.int64()), pa.field("to_offset", pa.int64()))
INTERVALS: Final = pa.schema([*ROWS, *_ENDS])
"""An interval; see ``Interval``."""

_SAVED: Final = pa.schema([ROWS.field(name) for name in ("values", "valid_from", "from_offset", "added_by_snapshot")])
"""An open interval in a saved state."""

_ENDED: Final = pa.schema([pa.field("number", pa.int64()), *_ENDS])
"""The number of a row that has ended, and when."""

_FEWEST_AT_ONCE: Final = 64
"""Changes that are worth their Arrow arrays."""

_AT_ONCE: Final = 1024
"""Keys that become Python's at once."""

_MOST_PIECES: Final = 64
"""Record batches that wait: each takes thousands of bytes, however few rows it has."""


class _Turned(NamedTuple):
    """What changes did to rows.

    Attributes:
        ended: rows that have ended.
        ended_by: the changes that ended them.
        unchanged: new rows with the values that their keys already had.
    """

    ended: list[int]
    ended_by: list[int]
    unchanged: list[int]


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
        super().__init__(LedgerRules(same=same))
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
        self._row_of[key.encode()] = self._rows.add_one(KeptRow(None, cast("bytes", values), *at))

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
        if len(keys) < _FEWEST_AT_ONCE:
            super().change(keys, values, times, offsets)
            return
        first = self._rows.next
        is_set = values.is_valid()
        self._add_set(is_set, values, times, offsets)
        turned = self._turn_keys(keys, values, _flags(is_set), first)
        places = pc.subtract(pa.array(turned.ended_by, pa.int64()), pa.scalar(first, pa.int64()))
        self._end_rows(turned.ended, times.take(places), offsets.take(places))
        if turned.unchanged:
            again = pa.array(turned.unchanged, pa.int64())
            self._rows.drop(again, self._rows.take(again, ["values"]).nbytes)

    def values(self, key: str, group: Hashable = None) -> bytes | None:
        """See ``Ledger``."""
        row = self._row_of.get(key.encode())
        return None if row is None else self._rows.values(row)

    def compare(self, found: Ledger[str], at: Moment, began: Moment) -> None:
        """See ``Ledger``."""
        there = cast("RowLedger", found)
        held, held_there = self._row_of, there._row_of  # noqa: SLF001 both are the same class
        for key in [key for key in held if key not in held_there]:
            self._end_row(held.pop(key), at)
        turned: dict[bytes, int] = {}
        added: list[tuple[Sequence[bytes], pa.Int64Array]] = []
        for keys, rows in _pieces(held_there):
            here = pa.array(map(held.get, keys), pa.int64())
            is_new, is_known = here.is_null(), here.is_valid()
            added.append(([*compress(keys, _flags(is_new))], rows.filter(is_new)))
            known = [*compress(keys, _flags(is_known))]
            for place, row, row_there in self._differing(here.drop_null(), there, rows.filter(is_known)):
                self._end_row(row, at)
                turned[known[place]] = row_there
        again = [key for key in held if key in turned]  # a new beginning does not change their order
        self._add_from(there, again, pa.array([turned[key] for key in again], pa.int64()), at)
        for keys, rows in added:
            self._add_from(there, keys, rows, began)

    def waiting(self, selection: Selection) -> WaitingIntervals[str]:
        """See ``Ledger``."""
        return _WaitingRows(self, selection)

    def save(self) -> bytes:
        """See ``Ledger``: an Arrow stream of rows without keys, which their values have."""
        sink = BytesIO()
        with pa.ipc.new_stream(sink, _SAVED) as stream:
            for rows in self.open_rows():
                stream.write_batch(rows.select(_SAVED.names))
        return sink.getvalue()

    def restore(self, octets: bytes) -> None:
        """See ``Ledger``."""
        try:
            with pa.ipc.open_stream(BytesIO(octets)) as stream:
                for rows in stream:
                    rows.validate(full=True)
                    columns = rows.cast(_SAVED).columns
                    keys = self._decode(cast("pa.BinaryArray", columns[0])).column(self._key).cast(pa.binary())
                    self._add_rows(cast("list[bytes]", keys.to_pylist()), columns, is_saved=True)
        except (ValueError, OSError) as error:
            raise SavedStateError(f"it cannot be decoded: {error}") from None

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

    def _add_set(
        self, is_set: pa.BooleanArray, values: pa.BinaryArray, times: pa.Int64Array, offsets: pa.Int64Array
    ) -> None:
        """Add a row for each change that sets values. Its number is that of the change, counted from ``next`` on."""
        first = self._rows.next
        numbers = pc.add(pc.indices_nonzero(is_set).cast(pa.int64()), pa.scalar(first, pa.int64()))
        begun: list[ArrowArray] = [each.filter(is_set) for each in (values, times, offsets)]
        begun.append(pa.repeat(pa.scalar(False), len(numbers)))
        self._rows.add(cast("pa.Int64Array", numbers), _rows_of(begun, is_saved=False), first + len(values))

    def _turn_keys(self, keys: pa.StringArray, values: pa.BinaryArray, is_set: Sequence[int], first: int) -> _Turned:
        """Give the keys their new rows.

        Args:
            keys, values: of the changes.
            is_set: whether each sets values.
            first: number of the first change.
        """
        turned = _Turned([], [], [])
        ended, ended_by, unchanged = turned
        row_of, rows, octets = self._row_of, self._rows, keys.cast(pa.binary())
        numbers = range(first, first + len(keys))
        for start in range(0, len(keys), _AT_ONCE):  # so few that the processor still has the keys in its cache
            some = slice(start, start + _AT_ONCE)
            of_some = cast("list[bytes]", octets[some].to_pylist()), is_set[some], numbers[some]
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
        return turned

    def _end_rows(self, rows: Sequence[int], times: pa.Int64Array, offsets: pa.Int64Array) -> None:
        self._flush_ended()
        columns: list[ArrowArray] = [pa.array(rows, pa.int64()), times, offsets]
        self._ended_at_once.append(pa.RecordBatch.from_arrays(columns, schema=_ENDED))
        self._count_ended += len(rows)

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

    def _differing(
        self, rows: pa.Int64Array, there: RowLedger, rows_there: pa.Int64Array
    ) -> Iterator[tuple[int, int, int]]:
        """The pairs of rows whose values are not the same, each with its place."""
        values, values_there = self._values_of(rows), there._values_of(rows_there)
        for place in cast("list[int]", pc.indices_nonzero(pc.not_equal(values, values_there)).to_pylist()):
            if not self._same(values[place].as_py(), values_there[place].as_py()):
                yield place, rows[place].as_py(), rows_there[place].as_py()

    def _values_of(self, rows: pa.Int64Array) -> pa.BinaryArray:
        return cast("pa.BinaryArray", self._rows.take(rows, ["values"]).column(0))

    def _add_from(self, there: RowLedger, keys: Sequence[bytes], rows: pa.Int64Array, at: Moment) -> None:
        """Begin what only a snapshot has, with the values of its rows."""
        time, offset = (pa.array([cell] * len(rows), pa.int64()) for cell in at)
        columns: list[ArrowArray] = [there._values_of(rows), time, offset, pa.repeat(pa.scalar(True), len(rows))]
        self._add_rows(keys, columns, is_saved=False)

    def _add_rows(self, keys: Sequence[bytes], columns: Sequence[ArrowArray], *, is_saved: bool) -> None:
        """Begin rows, of the columns of ``_SAVED``."""
        numbers = range(self._rows.next, self._rows.next + len(keys))
        self._rows.add(pa.array(numbers, pa.int64()), _rows_of(columns, is_saved=is_saved), numbers.stop)
        self._row_of.update(zip(keys, numbers, strict=True))

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
            yield self._columns_of(rows.slice(0, LARGEST_ROW_BATCH))

    def rest(self) -> Iterator[IntervalColumns[str]]:
        self._add_ended(1)
        for rows in self._ledger.open_rows(LARGEST_ROW_BATCH - self._count, with_saved=False):
            self._add(rows)
            yield from self.full()
        if self._count:
            yield self._columns_of(together(self._waiting, INTERVALS))

    def _columns_of(self, rows: pa.RecordBatch) -> IntervalColumns[str]:
        return IntervalColumns.of_arrays(*self._ledger.decoded(rows), rows)

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


def _rows_of(columns: Sequence[ArrowArray], *, is_saved: bool) -> pa.RecordBatch:
    """Rows with the schema ``ROWS``, of the columns of ``_SAVED``."""
    count = len(columns[0])
    cells = [pa.nulls(count, pa.string()), *columns, pa.repeat(pa.scalar(is_saved), count)]
    return pa.RecordBatch.from_arrays(cells, schema=ROWS)


def _pieces(row_of: dict[bytes, int]) -> Iterator[tuple[Sequence[bytes], pa.Int64Array]]:
    """The keys and their rows, some at a time."""
    keys, rows = iter(row_of), iter(row_of.values())
    while some := [*islice(keys, LARGEST_ROW_BATCH)]:
        yield some, pa.array([*islice(rows, LARGEST_ROW_BATCH)], pa.int64())


def _flags(cells: pa.BooleanArray) -> Sequence[int]:
    """1 where a cell is true, without a list of them; none is null."""
    flags = cells.cast(pa.uint8())
    octets = flags.buffers()[1]
    return () if octets is None else memoryview(octets)[flags.offset : flags.offset + len(flags)]
