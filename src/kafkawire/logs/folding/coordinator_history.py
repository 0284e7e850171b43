"""The histories of coordinators: a row for each record or state, with the time of its validity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray, ArrowField
from kafkawire.logs.files.log_files import LogFile, segments_of
from kafkawire.logs.folding.coordinator_fold import CoordinatorFold
from kafkawire.logs.folding.coordinator_log import CONSUMER_OFFSETS, NO_PAST, CoordinatorLog, PartOfLog, Past
from kafkawire.logs.folding.history import INTERVAL_ID, HistoryOfLog, id_fields, interval_id
from kafkawire.logs.folding.saved_state import SavedLog, decode_saved
from kafkawire.logs.folding.selection import SINCE_EVER, Selection
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import LARGEST_ROW_BATCH
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.tables.rows import repeated
from kafkawire.logs.tables.secret_records import shows_broken_bytes
from kafkawire.logs.tables.table import PROVENANCE, error_fields
from kafkawire.logs.times import TIMESTAMP, timestamps


@dataclass(frozen=True)
class CoordinatorHistory(HistoryOfLog):
    """A history that is folded from the log of a coordinator.

    A row is returned when it ends, since nothing can change it then. Rows that are still valid come last, in the order
    of the log. Memory holds these, the records of open transactions, and some rows.

    Attributes:
        make_fold: makes the fold of one log.
        topic: of the coordinator.
    """

    make_fold: Callable[[FoldSource], CoordinatorFold]
    topic: str = field(default=CONSUMER_OFFSETS, kw_only=True)

    @property
    def logs(self) -> frozenset[str]:
        """See ``History``."""
        return frozenset({self.topic})

    def fields(self, options: ReadOptions) -> tuple[ArrowField, ...]:
        """See ``History``."""
        own = (pa.field(name, kind) for name, kind in self.own_columns.items())
        return (*PROVENANCE, *own, *error_fields(options), *id_fields(options))

    def read(self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource) -> Iterator[pa.RecordBatch]:
        """See ``History``."""
        reading = self._reading(files, schema, source, None)
        yield from reading.ended()
        yield from reading.rest()

    def changes(
        self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource, since: SavedLog | None
    ) -> _Changes:
        """See ``History``."""
        return _Changes(replace(self._reading(files, schema, source, since), is_growing=True))

    def _reading(
        self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource, since: SavedLog | None
    ) -> _Reading:
        fold, past = self.make_fold(source), NO_PAST
        if since is not None:
            saved = decode_saved(since.fold, _Saved)
            fold.resume(saved.fold)
            past = saved.past
        reached = None if since is None else since.reached
        log = CoordinatorLog(source, fold.needed, past, reached, topic=self.topic)
        ranges = [*source.ranges_from(segments_of(files), log.reached, is_compacted=True)]
        return _Reading(ranges, log, fold, ShownRows(files, schema, source, keys=self.keys))


class _Saved(msgspec.Struct, frozen=True, array_like=True):
    """The state of a fold, and what the next records depend on."""

    past: Past
    fold: bytes


@dataclass(frozen=True)
class _Reading:
    """A log, or what was appended to it, that is being read."""

    ranges: Sequence[FileRange]
    log: CoordinatorLog
    fold: CoordinatorFold
    shown: ShownRows
    is_growing: bool = False

    def ended(self) -> Iterator[pa.RecordBatch]:
        """The rows that ended, as soon as there are many."""
        for _ in folded(self.log, self.fold, self.ranges, is_growing=self.is_growing):
            self.shown.refuse_unknown(known_since(self.ranges, [self.log.read_so_far]), is_last=False)
            for rows in self.fold.ended():
                yield from self.shown.batches(rows)
        self.shown.refuse_unknown(known_since(self.ranges, [self.log.read_so_far]))

    def rest(self) -> Iterator[pa.RecordBatch]:
        """The other rows."""
        for rows in self.fold.rest():
            yield from self.shown.batches(rows)


class _Changes:
    """See ``ChangedRows``."""

    def __init__(self, reading: _Reading) -> None:
        self._reading = reading
        self._fold = b""

    def rows(self) -> Iterator[pa.RecordBatch]:
        reading = self._reading
        yield from reading.ended()
        for rows in reading.fold.last_ended():
            yield from reading.shown.batches(rows)
        self._fold = reading.fold.save()
        yield from reading.rest()

    def saved(self) -> SavedLog:
        log = self._reading.log
        return SavedLog(log.reached, msgspec.msgpack.encode(_Saved(log.past, self._fold)))


def ranges_of_log(files: Sequence[LogFile]) -> Sequence[FileRange]:
    """All of a log."""
    return [FileRange(file, 0, file.size) for file in segments_of(files)]


def known_since(ranges: Sequence[FileRange], parts: Sequence[PartOfLog]) -> int | None:
    """The time, in milliseconds, since which the whole state is known.

    A log that begins at offset 0 was empty before: partitions of coordinators are written to long after they are
    created, or never. Otherwise it is the time of the first record, and None without one.

    Args:
        ranges: of the log, in order.
        parts: what was found in them, in order.
    """
    is_empty = bool(ranges) and ranges[0].file.base_offset == 0 and all(part.is_empty for part in parts)
    if is_empty or any(part.begins_log for part in parts):
        return SINCE_EVER
    return next((part.first_time for part in parts if part.first_time is not None), None)


def folded(
    log: CoordinatorLog, fold: CoordinatorFold, ranges: Sequence[FileRange], *, is_growing: bool = False
) -> Iterator[None]:
    """Apply the records of a log; the rows of the fold can be taken after each step.

    Args:
        log: reads the records.
        fold: gets them.
        ranges: of the log.
        is_growing: whether an incomplete batch at the end is left to the next reading.
    """
    for found in log.read(ranges):
        if isinstance(found, Flaw):
            if not (is_growing and found.is_expected):
                fold.lose(found)
        else:
            fold.apply(found)
        yield


class ShownRows:
    """The rows that the options include, with the columns of a table."""

    def __init__(
        self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource, *, keys: Sequence[str] = ()
    ) -> None:
        self._schema, self._keys = schema, keys
        self._options, self._accounts = source.options, source.accounts
        self._selection = Selection.of(source.options)
        self._folder, self._cluster = (files[0].shown_folder, files[0].cluster) if files else ("", None)
        self._shows_bytes = all(shows_broken_bytes(file, source.options) for file in files)

    def refuse_unknown(self, since: int | None, *, is_last: bool = True) -> None:
        """See ``Selection.refuse_unknown``; None is refused after the last record only."""
        if since is None and not is_last:
            return
        self._selection.refuse_unknown(self._folder, since)

    def batches(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Rows as batches of the table; they are counted."""
        kept = self._kept(rows)
        made = pa.RecordBatch.from_arrays([self._column(each, kept) for each in self._schema], schema=self._schema)
        for start in range(0, made.num_rows, LARGEST_ROW_BATCH):
            yield made.slice(start, LARGEST_ROW_BATCH)

    def _kept(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that the options include."""
        if self._options.mode is not ReadMode.PERMISSIVE:
            rows = self._without_errors(rows)
        chosen = self._selection.chosen(rows)
        if self._selection.as_of is not None:
            chosen = pc.and_not(chosen, _lost(rows))
        kept = rows.filter(chosen)
        lost, lost_kept = (_lost(each).true_count for each in (rows, kept))
        self._accounts.flaw_rows += lost_kept
        self._accounts.rows += kept.num_rows - lost_kept
        self._accounts.dropped("filtered", (rows.num_rows - lost) - (kept.num_rows - lost_kept))
        return kept

    def _without_errors(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        errors = rows.column("error")
        dropped = errors.filter(pc.and_not(errors.is_valid(), _lost(rows)))
        for code, count in Counter(cast("list[str]", dropped.to_pylist())).items():
            self._accounts.dropped(code, count)
        return rows.filter(errors.is_null())

    def _column(self, field: ArrowField, rows: pa.RecordBatch) -> ArrowArray:
        options = self._options
        if field.name == "cluster":
            return repeated(options.cluster or self._cluster, rows.num_rows)
        if field.name == INTERVAL_ID.name:
            return self._ids(rows)
        if field.name == options.corrupt_record_column:
            return rows.column("corrupt") if self._shows_bytes else pa.nulls(rows.num_rows, pa.binary())
        column = rows.column("error" if field.name == "_error" else field.name)
        if field.type.equals(TIMESTAMP):
            return timestamps(cast("pa.Int64Array", column))
        return column

    def _ids(self, rows: pa.RecordBatch) -> ArrowArray:
        """An interval begins with a record about its keys; lost bytes have their place."""
        identity = ("log_offset", *self._keys), ("file", "batch_position")
        columns, places = (zip(*(rows.column(name).to_pylist() for name in names), strict=True) for names in identity)
        cells = zip(columns, places, cast("list[bool]", _lost(rows).to_pylist()), strict=True)
        ids = [interval_id(self._folder, *each, *(place if lost else ())) for each, place, lost in cells]
        return pa.array(ids, pa.string())


def _lost(rows: pa.RecordBatch) -> pa.BooleanArray:
    return cast("pa.BooleanArray", rows.column("lost"))
