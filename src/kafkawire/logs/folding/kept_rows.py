"""Rows of Arrow columns that are kept by number until they are no longer needed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray, ArrowField
from kafkawire.logs.limits import GATHERED_OCTETS, LARGEST_ROW_BATCH, RECORDS_AT_A_TIME
from kafkawire.logs.tables.rows import together

_CELLS: Final[tuple[ArrowField, ...]] = (
    pa.field("key", pa.string()),
    pa.field("values", pa.binary()),
    pa.field("valid_from", pa.int64()),
    pa.field("from_offset", pa.int64()),
    pa.field("added_by_snapshot", pa.bool_()),
    pa.field("is_saved", pa.bool_()),
)
ROWS: Final = pa.schema(_CELLS)
"""A row: an interval without its end. See ``Interval``. The key is null where the values have it."""

_FEW: Final = 1024
"""Rows that are put together with others: a chunk takes thousands of bytes, however few rows it has."""

_NUMBER: Final = "number"
_NUMBERED: Final = pa.schema([pa.field(_NUMBER, pa.int64()), *_CELLS])


class KeptRow(NamedTuple):
    """A row of ``ROWS``."""

    key: str | None
    values: bytes | None
    valid_from: int | None
    from_offset: int | None
    added_by_snapshot: bool = False
    is_saved: bool = False


class KeptRows:
    """Rows by number, which grow with each row that is added.

    Memory is bounded by the rows that were not dropped: dropped ones are at most half as many, or a batch, and take at
    most half as many bytes, or some megabytes.
    """

    def __init__(self) -> None:
        self.next: int = 0
        self._chunks: list[pa.RecordBatch] = []
        self._firsts: list[int] = []
        self._single: list[tuple[int, KeptRow]] = []
        self._dropped: list[pa.Int64Array] = []
        self._count = self._octets = self._count_dropped = self._octets_dropped = 0

    def add(self, numbers: pa.Int64Array, rows: pa.RecordBatch, beyond: int) -> None:
        """Add rows.

        Args:
            numbers: of the rows, ascending from ``next`` on.
            rows: with the schema ``ROWS``; no parts of larger ones, whose memory they would keep.
            beyond: a number that is greater than all of them, from which on others are added.
        """
        self._flush()
        self.next = beyond
        self._append(pa.RecordBatch.from_arrays([numbers, *rows.columns], schema=_NUMBERED))

    def add_one(self, row: KeptRow) -> int:
        """Add a row, and return its number."""
        number = self.next
        self.next += 1
        self._single.append((number, row))
        if len(self._single) >= RECORDS_AT_A_TIME:
            self._flush()
        return number

    def values(self, number: int) -> bytes | None:
        """The values of one row."""
        if self._single and number >= self._single[0][0]:
            return self._single[number - self._single[0][0]][1].values
        chunk = self._chunks[bisect_right(self._firsts, number) - 1]
        place = bisect_left(_view(chunk.column(_NUMBER)), number)
        return cast("bytes | None", chunk.column("values")[place].as_py())

    def take(self, numbers: pa.Int64Array, names: Sequence[str] = ROWS.names) -> pa.RecordBatch:
        """Some rows, in the order of their numbers in an array.

        Args:
            numbers: of rows that were not dropped.
            names: of the columns.
        """
        self._flush()
        order = pc.sort_indices(numbers)
        in_order = numbers.take(order)
        found = [
            chunk.select(names).take(pc.index_in(some, chunk.column(_NUMBER)))
            for chunk, some in zip(self._chunks, self._by_chunk(in_order), strict=True)
            if len(some)
        ]
        rows = together(found, pa.schema([ROWS.field(name) for name in names]))
        return rows if in_order.equals(numbers) else rows.take(pc.sort_indices(order))

    def drop(self, numbers: pa.Int64Array, octets: int) -> None:
        """Forget rows, each once.

        Args:
            numbers: of the rows.
            octets: how many bytes they take, about.
        """
        self._dropped.append(numbers)
        self._count_dropped += len(numbers)
        self._octets_dropped += octets
        is_third = 3 * self._count_dropped >= self._count
        is_third_of_octets = 3 * self._octets_dropped >= self._octets
        if (is_third and self._count_dropped >= LARGEST_ROW_BATCH) or (
            is_third_of_octets and self._octets_dropped >= GATHERED_OCTETS
        ):
            self._clean()

    def _clean(self) -> None:
        """Free the memory of dropped rows. Chunks that became small are put together."""
        self._flush()
        dropped = pa.concat_arrays(self._dropped)
        of_chunks = self._by_chunk(dropped.take(pc.sort_indices(dropped)))
        chunks, small, count = deque(self._chunks), list[pa.RecordBatch](), 0
        self._chunks, self._firsts, self._dropped = [], [], []
        self._count = self._octets = self._count_dropped = self._octets_dropped = 0
        for some in of_chunks:
            chunk = chunks.popleft()
            if len(some):
                chunk = chunk.filter(pc.invert(pc.is_in(chunk.column(_NUMBER), some)))
            small.append(chunk)
            count += chunk.num_rows
            if count >= LARGEST_ROW_BATCH:
                self._append(together(small, _NUMBERED))
                small, count = [], 0
        self._append(together(small, _NUMBERED))

    def _by_chunk(self, in_order: pa.Int64Array) -> list[pa.Int64Array]:
        """The ascending numbers of rows, by the chunk that has them."""
        numbers = _view(in_order)
        ends = [*(bisect_left(numbers, first) for first in self._firsts[1:]), len(numbers)] if self._firsts else []
        return [in_order.slice(begin, end - begin) for begin, end in pairwise([0, *ends])]

    def _flush(self) -> None:
        """Make a chunk of the rows that were added one by one."""
        if self._single:
            numbers = [number for number, _ in self._single]
            columns = zip(*(row for _, row in self._single), strict=True)
            self._single = []
            cells = [pa.array(each, kind) for each, kind in zip((numbers, *columns), _NUMBERED.types, strict=True)]
            self._append(pa.RecordBatch.from_arrays(cells, schema=_NUMBERED))

    def _append(self, chunk: pa.RecordBatch) -> None:
        if not chunk.num_rows:
            return
        self._count += chunk.num_rows
        self._octets += chunk.nbytes
        if self._chunks and self._chunks[-1].num_rows + chunk.num_rows <= _FEW:
            self._chunks[-1] = together([self._chunks[-1], chunk], _NUMBERED)
            return
        self._chunks.append(chunk)
        self._firsts.append(_view(chunk.column(_NUMBER))[0])


def _view(numbers: ArrowArray) -> Sequence[int]:
    """The numbers, none of which is null, without a list of them."""
    octets = numbers.buffers()[1]
    if octets is None:
        return ()
    return memoryview(octets).cast("q")[numbers.offset : numbers.offset + len(numbers)]
