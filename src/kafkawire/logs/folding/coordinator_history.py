"""The histories of coordinators: a row for each record or state, with the time of its validity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray, ArrowField
from kafkawire.logs.files.log_files import LogFile, segments_of
from kafkawire.logs.folding.coordinator_fold import CoordinatorFold
from kafkawire.logs.folding.coordinator_log import CONSUMER_OFFSETS, CoordinatorLog, PartOfLog
from kafkawire.logs.folding.history import History
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
class CoordinatorHistory(History):
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
        return (*PROVENANCE, *own, *error_fields(options))

    def read(self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource) -> Iterator[pa.RecordBatch]:
        """See ``History``."""
        shown = ShownRows(files, schema, source)
        fold = self.make_fold(source)
        log = CoordinatorLog(source, fold.needed, topic=self.topic)
        ranges = ranges_of_log(files)
        for _ in folded(log, fold, ranges):
            shown.refuse_unknown(known_since(ranges, [log.read_so_far]), is_last=False)
            for rows in fold.ended():
                yield from shown.batches(rows)
        shown.refuse_unknown(known_since(ranges, [log.read_so_far]))
        for rows in fold.rest():
            yield from shown.batches(rows)


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


def folded(log: CoordinatorLog, fold: CoordinatorFold, ranges: Sequence[FileRange]) -> Iterator[None]:
    """Apply the records of a log; the rows of the fold can be taken after each step."""
    for found in log.read(ranges):
        if isinstance(found, Flaw):
            fold.lose(found)
        else:
            fold.apply(found)
        yield


class ShownRows:
    """The rows that the options include, with the columns of a table."""

    def __init__(self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource) -> None:
        self._schema = schema
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
        if field.name == options.corrupt_record_column:
            return rows.column("corrupt") if self._shows_bytes else pa.nulls(rows.num_rows, pa.binary())
        column = rows.column("error" if field.name == "_error" else field.name)
        if field.type.equals(TIMESTAMP):
            return timestamps(cast("pa.Int64Array", column))
        return column


def _lost(rows: pa.RecordBatch) -> pa.BooleanArray:
    return cast("pa.BooleanArray", rows.column("lost"))
