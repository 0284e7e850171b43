"""Offset commits, each with the time during which it was the offset of its group.

A commit in a transaction is pending until the marker of its producer (KIP-98). The epoch of the marker may be one above
that of the commits (KIP-890), so markers and commits are matched by producer id alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray, ArrowField
from kafkawire.logs.folding.coordinator_log import LogRows, TransactionEnd
from kafkawire.logs.folding.division import LeftByPart, bucket_of
from kafkawire.logs.folding.saved_state import SavedStateError
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.histories.offset_columns import COMMIT_RECORDS, COMMITS, Change, CommitDecoder, Commits
from kafkawire.logs.limits import OCTETS_AT_A_TIME, RECORDS_AT_A_TIME, SHOWN_CORRUPT_OCTETS
from kafkawire.logs.records.markers import Outcome
from kafkawire.logs.tables.rows import repeated, together

_CELLS: Final[tuple[ArrowField, ...]] = (
    *COMMITS,
    pa.field("txn_outcome", pa.string()),
    pa.field("valid_from", pa.int64()),
    pa.field("lost", pa.bool_()),
)
_ROWS: Final = pa.schema([pa.field("file", pa.int32()), *_CELLS])
_OF_FOLD: Final[tuple[ArrowField, ...]] = (
    pa.field("key", pa.binary()),
    pa.field("producer_id", pa.int64()),
    pa.field("superseded", pa.bool_()),
    pa.field("bucket", pa.int32()),
)
_LEFT_ROWS: Final = pa.schema([pa.field("file", pa.dictionary(pa.int32(), pa.string())), *_CELLS, *_OF_FOLD])
"""A row that is the offset of its key, or with a producer a pending commit."""

_CHANGE_FIELDS: Final[tuple[ArrowField, ...]] = (
    pa.field("key", pa.binary()),
    pa.field("time", pa.int64()),
    pa.field("offset", pa.int64()),
    pa.field("producer_id", pa.int64()),
    pa.field("outcome", pa.string()),
    pa.field("bucket", pa.int32()),
)
_CHANGES: Final = pa.schema(_CHANGE_FIELDS)
"""The first change of the offset of a key, or with a producer the first end of a transaction of it."""


class _Changing(NamedTuple):
    """A record that is no plain commit."""

    change: Change
    time: int
    offset: int
    producer_id: int


_LEAST_ROWS: Final = 2 * RECORDS_AT_A_TIME
"""Rows that are gathered together. The open rows are copied then, so at least half of all rows must have ended."""

_LEAST_OCTETS: Final = 4 * OCTETS_AT_A_TIME
"""The same in bytes."""


_End: TypeAlias = tuple[int | None, int | None]
"""Time and offset of what ended a row; None for a row that a flaw is, and for an open row."""

_Change: TypeAlias = tuple[bytes | None, int, int, int | None, Outcome | None]
"""What a part of a log does to rows of earlier parts, without the bucket: as a row of ``_CHANGES``."""


class OffsetFold:
    """The rows of one log.

    A row has a number in the order of the log. ``valid_from`` and ``valid_to`` are the same for rows that never were
    the offset of a group: tombstones, and commits of transactions that were not committed.

    Memory is bounded by the keys that have an offset, and the commits of open transactions.

    Args:
        source: counts errors.
    """

    needed: Final[frozenset[str]] = COMMIT_RECORDS

    def __init__(self, source: FoldSource) -> None:
        self._has_past = False
        self._saved: pa.RecordBatch | None = None
        self._changes: list[_Change] = []
        self._changed: set[bytes | None] = set()
        self._producers_with_marker: set[int] = set()
        self._decoder = CommitDecoder(source)
        self._files: list[str] = []
        self._chunks: list[pa.RecordBatch] = []
        self._count = self._octets = self._octets_lost = 0
        self._held: dict[bytes | None, int] = {}
        self._pending: dict[int, dict[int, bytes | None]] = {}
        self._pending_of_key: dict[bytes | None, set[int]] = {}
        self._superseded: set[int] = set()
        self._lost: list[Flaw] = []
        self._clear_ended()

    def _clear_ended(self) -> None:
        self._ended: list[int] = []
        self._ended_by: list[int] = []
        self._other_ends: list[_End] = []
        self._began: dict[int, int] = {}
        self._outcomes: dict[int, str] = {}

    def apply(self, rows: LogRows) -> None:
        """See ``CoordinatorFold``."""
        self._add_lost()
        commits = self._decoder.decode(rows.records)
        columns = commits.columns
        count, done = columns.num_rows, 0
        for row, step in _steps(commits, rows):
            self._commit(commits, done, row)
            if isinstance(step, TransactionEnd):
                self._end_transaction(step)
                done = row
            else:
                self._change(self._count + row, commits.keys[row], step)
                done = row + 1
        self._commit(commits, done, count)
        self._count += count
        file = pa.repeat(pa.scalar(self._number_of(rows.records.file.shown_path), pa.int32()), count)
        self._add(columns, columns.column("append_time"), file)

    def lose(self, flaw: Flaw) -> None:
        """See ``CoordinatorFold``."""
        self._end(self._count, (None, None))
        self._count += 1
        self._octets_lost += len(flaw.raw or b"")
        self._lost.append(flaw)

    def ended(self) -> Iterator[pa.RecordBatch]:
        """See ``CoordinatorFold``."""
        ended = len(self._ended)
        is_half = ended >= self._count - ended
        is_much = ended >= _LEAST_ROWS or self._octets >= _LEAST_OCTETS
        if (is_half and is_much) or self._octets_lost >= SHOWN_CORRUPT_OCTETS:
            rows = self._rows()
            yield self._shown(rows, self._ended, self._ends(rows))
            self._keep(rows)

    def rest(self) -> Iterator[pa.RecordBatch]:
        """See ``CoordinatorFold``."""
        yield from self.last_ended()
        rows = self._rows()
        pending = {row for rows in self._pending.values() for row in rows}
        rows = _patched(rows, "txn_outcome", dict.fromkeys(pending, "open"))
        still_open = self._not_saved(array("q", sorted(chain(self._held.values(), pending))), pending, rows)
        self._held.clear()
        of_open = pa.array(still_open, pa.int64())
        is_pending = pc.is_in(of_open, pa.array(sorted(pending), pa.int64()))
        never = pa.scalar(None, pa.int64())
        valid_to = pc.if_else(is_pending, rows.column("append_time").take(of_open), never)
        yield from self._shown_in_pieces(rows, still_open, (valid_to, pa.nulls(len(still_open), pa.int64())))

    def save(self) -> bytes:
        """See ``CoordinatorFold``."""
        return self.left(1).encode()

    def resume(self, octets: bytes) -> None:
        """See ``CoordinatorFold``."""
        try:
            left = LeftByPart.decode(octets)
        except (pa.ArrowInvalid, ValueError) as error:
            raise SavedStateError(f"it cannot be decoded: {error}") from None
        self.join(left)
        self._saved = left.rows.select(["log_offset", "producer_id"])

    def begin_after_others(self) -> None:
        """See ``JoinableFold``."""
        self._has_past = True

    def last_ended(self) -> Iterator[pa.RecordBatch]:
        """See ``JoinableFold``."""
        rows = self._rows()
        yield from self._shown_in_pieces(rows, self._ended, self._ends(rows))
        self._keep(rows)

    def left(self, buckets: int) -> LeftByPart:
        """See ``JoinableFold``."""
        rows = self._rows()
        keys: list[bytes | None] = [None] * self._count
        producers: list[int | None] = [None] * self._count
        for key, row in self._held.items():
            keys[row] = key
        for producer, pending in self._pending.items():
            for row, key in pending.items():
                keys[row], producers[row] = key, producer
        superseded = (
            [row in self._superseded for row in range(self._count)] if self._superseded else [False] * self._count
        )
        of_fold = (keys, producers, superseded, _buckets(keys, buckets))
        files = pa.DictionaryArray.from_arrays(
            cast("pa.Int32Array", rows.column("file")), pa.array(self._files, pa.string())
        )
        columns = [files, *rows.columns[1:], *_arrays(of_fold, [each.type for each in _OF_FOLD])]
        changed = tuple(zip(*self._changes, strict=True)) or ((),) * (len(_CHANGES) - 1)
        of_keys = zip(_buckets((key for key, *_ in self._changes), buckets), changed[3], strict=True)
        changes = [*changed, [bucket if producer is None else None for bucket, producer in of_keys]]
        return LeftByPart(
            pa.RecordBatch.from_arrays(columns, schema=_LEFT_ROWS),
            pa.RecordBatch.from_arrays(_arrays(changes, _CHANGES.types), schema=_CHANGES),
        )

    def join(self, left: LeftByPart) -> None:
        """See ``JoinableFold``."""
        for key, time, offset, producer, outcome in _changes_of(left.changes):
            if producer is None or outcome is None:
                self._remove(key, time, offset)
            else:
                self._end_transaction(TransactionEnd(0, producer, time, offset, outcome))
        rows, columns = left.rows, left.rows.columns
        keys, producers, superseded, _ = (each.to_pylist() for each in columns[len(_ROWS) :])
        owners = zip(cast("list[bytes]", keys), cast("list[int | None]", producers), strict=True)
        for row, (held, pending_of) in enumerate(owners, self._count):
            if pending_of is None:
                self._held[held] = row
            else:
                self._add_pending(row, pending_of, held)
        self._superseded.update(row for row, each in enumerate(superseded, self._count) if each)
        self._count += rows.num_rows
        paths = cast("pa.DictionaryArray[pa.lib.Int32Type, pa.lib.StringType]", columns[0])
        numbers = pa.array([self._number_of(path) for path in cast("list[str]", paths.dictionary.to_pylist())])
        files = numbers.cast(pa.int32()).take(paths.indices)
        self._chunks.append(pa.RecordBatch.from_arrays([files, *columns[1 : len(_ROWS)]], schema=_ROWS))
        self._octets += rows.nbytes

    def _not_saved(self, still_open: array[int], pending: Set[int], rows: pa.RecordBatch) -> array[int]:
        """The open rows, without those that an earlier reading returned in the same state: held or pending."""
        if self._saved is None:
            return still_open
        offsets = rows.column("log_offset").take(pa.array(still_open, pa.int64()))
        was_pending = self._saved.column("producer_id").is_valid()
        of_saved = self._saved.column("log_offset")
        as_pending, as_held = (
            cast("list[bool]", pc.is_in(offsets, of_saved.filter(state)).to_pylist())
            for state in (was_pending, pc.invert(was_pending))
        )
        states = zip(still_open, as_pending, as_held, strict=True)
        return array("q", (row for row, *was in states if not was[row not in pending]))

    def _number_of(self, path: str) -> int:
        if not self._files or self._files[-1] != path:
            self._files.append(path)
        return len(self._files) - 1

    def _add_lost(self) -> None:
        """Add rows for the bytes that could not be read since the last records."""
        cells = [
            {"batch_position": each.position, "log_offset": each.base_offset, "error": each.code, "corrupt": each.raw}
            for each in self._lost
        ]
        if cells:
            file = pa.array([self._number_of(each.file.shown_path) for each in self._lost], pa.int32())
            never = pa.nulls(len(cells), pa.int64())
            self._add(pa.RecordBatch.from_pylist(cells, schema=COMMITS), never, file, lost=True)
            self._lost.clear()

    def _add(self, columns: pa.RecordBatch, valid_from: ArrowArray, file: ArrowArray, *, lost: bool = False) -> None:
        count = columns.num_rows
        of_fold = (pa.nulls(count, pa.string()), valid_from, pa.repeat(pa.scalar(lost), count))
        self._chunks.append(pa.RecordBatch.from_arrays([file, *columns.columns, *of_fold], schema=_ROWS))
        self._octets += columns.nbytes

    def _commit(self, commits: Commits, first: int, last: int) -> None:
        """Apply a range of records that are all commits outside of transactions, as nearly all are."""
        held, ended, ended_by, row = self._held, self._ended, self._ended_by, self._count + first
        new: list[int] = []
        for key in commits.keys[first:last]:
            before = held.get(key)
            held[key] = row
            if before is not None:
                ended.append(before)
                ended_by.append(row)
            else:
                new.append(row)
            row += 1
        if self._has_past:
            for at in (row - self._count for row in new):
                if commits.keys[at] not in self._changed:
                    times, offsets = commits.moments
                    self._change_past(commits.keys[at], times[at], offsets[at])

    def _change(self, row: int, key: bytes | None, changing: _Changing) -> None:
        """Apply a record of another kind."""
        moment = changing.time, changing.offset
        if changing.change == "pending":
            self._add_pending(row, changing.producer_id, key)
        elif changing.change == "tombstone":
            self._remove(key, *moment)
            self._end(row, moment)
        elif changing.change == "unknown":
            self._end(row, moment)

    def _end_transaction(self, end: TransactionEnd) -> None:
        """Apply the pending commits of a producer, or drop them."""
        if self._has_past and end.producer_id not in self._producers_with_marker:
            self._producers_with_marker.add(end.producer_id)
            self._changes.append((None, end.time, end.offset, end.producer_id, end.outcome))
        for row, key in self._pending.pop(end.producer_id, {}).items():
            self._outcomes[row] = end.outcome
            self._began[row] = end.time
            is_superseded = row in self._superseded
            self._no_longer_pending(row, key)
            if end.outcome == "committed" and not is_superseded and self._held.get(key, -1) < row:
                self._end_held(key, end.time, end.offset)
                self._held[key] = row
            else:
                self._end(row, (end.time, end.offset))

    def _remove(self, key: bytes | None, time: int, offset: int) -> None:
        """Remove an offset. Pending commits of the key take no effect any more."""
        self._end_held(key, time, offset)
        if self._pending_of_key:
            self._superseded |= self._pending_of_key.pop(key, set())

    def _end_held(self, key: bytes | None, time: int, offset: int) -> None:
        """End the row that is the offset of a key; it may be in an earlier part."""
        before = self._held.pop(key, None)
        if before is not None:
            self._end(before, (time, offset))
        elif self._has_past:
            self._change_past(key, time, offset)

    def _change_past(self, key: bytes | None, time: int, offset: int) -> None:
        """End what earlier parts have of a key, its offset and its pending commits: only the first change does."""
        if key not in self._changed:
            self._changed.add(key)
            self._changes.append((key, time, offset, None, None))

    def _add_pending(self, row: int, producer_id: int, key: bytes | None) -> None:
        self._pending.setdefault(producer_id, {})[row] = key
        self._pending_of_key.setdefault(key, set()).add(row)

    def _no_longer_pending(self, row: int, key: bytes | None) -> None:
        self._superseded.discard(row)
        same_key = self._pending_of_key.get(key, set())
        same_key.discard(row)
        if not same_key:
            self._pending_of_key.pop(key, None)

    def _end(self, row: int, end: _End) -> None:
        """End a row by something else than a commit outside of transactions, whose number says it."""
        self._ended.append(row)
        self._other_ends.append(end)
        self._ended_by.append(-len(self._other_ends))

    def _ends(self, rows: pa.RecordBatch) -> tuple[ArrowArray, ArrowArray]:
        """The times and offsets of what ended rows, in the order in which they ended."""
        by = pa.array(self._ended_by, pa.int64())
        before_others = pa.scalar(rows.num_rows - 1, pa.int64())
        places = pc.if_else(pc.less(by, pa.scalar(0, pa.int64())), pc.subtract(before_others, by), by)
        others = tuple(zip(*self._other_ends, strict=True)) or ((), ())
        times, offsets = (
            pa.concat_arrays([rows.column(name), pa.array(cells, pa.int64())]).take(places)
            for name, cells in zip(("append_time", "log_offset"), others, strict=True)
        )
        return times, offsets

    def _keep(self, rows: pa.RecordBatch) -> None:
        """Keep the open rows of all rows."""
        pending = (row for rows in self._pending.values() for row in rows)
        kept = array("q", sorted(chain(self._held.values(), pending)))
        if len(kept) < self._count:
            self._renumber(kept)
            rows = rows.take(pa.array(kept, pa.int64()))
        self._chunks = [rows]
        self._count = len(kept)
        self._octets = self._octets_lost = 0
        self._clear_ended()

    def _renumber(self, kept: Sequence[int]) -> None:
        """Give the open rows new numbers: their places among those that are kept."""
        numbers = array("q", bytes(8 * self._count))
        for number, row in enumerate(kept):
            numbers[row] = number
        for key, row in self._held.items():
            self._held[key] = numbers[row]
        self._pending = {
            producer: {numbers[row]: key for row, key in rows.items()} for producer, rows in self._pending.items()
        }
        self._pending_of_key = {key: {numbers[row] for row in rows} for key, rows in self._pending_of_key.items()}
        self._superseded = {numbers[row] for row in self._superseded}

    def _rows(self) -> pa.RecordBatch:
        """All rows by their numbers, with what the ends of transactions changed."""
        self._add_lost()
        rows = together(self._chunks, _ROWS)
        self._chunks = [rows]
        for name, cells in (("txn_outcome", self._outcomes), ("valid_from", self._began)):
            rows = _patched(rows, name, cells)
        return rows

    def _shown(
        self, rows: pa.RecordBatch, numbers: Sequence[int], ends: tuple[ArrowArray, ArrowArray]
    ) -> pa.RecordBatch:
        """The rows with some numbers, with what ended them and the paths of their files."""
        valid_to, to_offset = ends
        shown = rows.take(pa.array(numbers, pa.int64()))
        shown = shown.set_column(0, "file", self._paths(shown))
        return shown.append_column("valid_to", valid_to).append_column("to_offset", to_offset)

    def _paths(self, rows: pa.RecordBatch) -> ArrowArray:
        if len(self._files) == 1:
            return repeated(self._files[0], rows.num_rows)
        return pa.array(self._files, pa.string()).take(cast("pa.Int32Array", rows.column("file")))

    def _shown_in_pieces(
        self, rows: pa.RecordBatch, numbers: Sequence[int], ends: tuple[ArrowArray, ArrowArray]
    ) -> Iterator[pa.RecordBatch]:
        valid_to, to_offset = ends
        for start in range(0, len(numbers), _LEAST_ROWS):
            piece = slice(start, start + _LEAST_ROWS)
            yield self._shown(rows, numbers[piece], (valid_to[piece], to_offset[piece]))


def _steps(commits: Commits, rows: LogRows) -> list[tuple[int, _Changing | TransactionEnd]]:
    """The records that are no plain commits, and the ends of transactions, each before the record that follows it."""
    places = sorted(commits.changes)
    cells = _cells_at(places, rows.records.columns, ("timestamp", "log_offset", "producer_id"))
    changing = map(_Changing, map(commits.changes.__getitem__, places), *cells)
    steps: list[tuple[int, _Changing | TransactionEnd]] = list(zip(places, changing, strict=True))
    if rows.ends:
        steps = sorted([*((end.row, end) for end in rows.ends), *steps], key=itemgetter(0))
    return steps


def _cells_at(places: Sequence[int], columns: pa.RecordBatch, names: Sequence[str]) -> Iterator[list[int]]:
    """The numbers of some rows, by column."""
    rows = pa.array(places, pa.int64())
    return (cast("list[int]", columns.column(name).take(rows).to_pylist()) for name in names)


def _patched(rows: pa.RecordBatch, name: str, cells: Mapping[int, object]) -> pa.RecordBatch:
    """Rows with other cells in one column, by the numbers of the rows."""
    if not cells:
        return rows
    index = rows.schema.get_field_index(name)
    column = rows.column(index)
    mask = pa.array([row in cells for row in range(rows.num_rows)], pa.bool_())
    values = pa.array([cell for _, cell in sorted(cells.items())], column.type)
    return rows.set_column(index, rows.schema.field(index), pc.replace_with_mask(column, mask, values))


def _buckets(keys: Iterable[bytes | None], buckets: int) -> list[int]:
    return [bucket_of(key or b"", buckets) for key in keys]


def _arrays(columns: Sequence[Sequence[object]], kinds: Sequence[pa.DataType]) -> list[ArrowArray]:
    return [pa.array(cells, kind) for cells, kind in zip(columns, kinds, strict=True)]


def _changes_of(rows: pa.RecordBatch) -> Iterator[_Change]:
    keys, times, offsets, producers, outcomes, _ = (each.to_pylist() for each in rows.columns)
    return zip(
        cast("list[bytes | None]", keys),
        cast("list[int]", times),
        cast("list[int]", offsets),
        cast("list[int | None]", producers),
        cast("list[Outcome | None]", outcomes),
        strict=True,
    )
