"""The histories of groups and their offsets: a row for each record or state, with the time of its validity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowField
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.columns import Columns, record_batch
from kafkawire.logs.folding.coordinator_fold import CONSUMER_OFFSETS, CoordinatorFold, HistoryRow, R, RowReducer
from kafkawire.logs.folding.history import History
from kafkawire.logs.folding.selection import Selection
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.limits import LARGEST_ROW_BATCH, SHOWN_CORRUPT_OCTETS
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.tables.secret_records import shows_broken_bytes
from kafkawire.logs.tables.table import PROVENANCE, error_fields


@dataclass(frozen=True)
class CoordinatorHistory(History, Generic[R]):
    """A history that is folded from the log of a group coordinator.

    A row is returned when it ends, since nothing can change it then. Rows that are still valid come last, in the order
    of the log. Memory holds these, the records of open transactions, and some rows.

    Attributes:
        make_reducer: makes an empty history.
        own_cells: the cells of ``own_columns`` for some rows.
    """

    make_reducer: Callable[[], RowReducer[R]]
    own_cells: Callable[[Sequence[R]], Columns]

    @property
    def logs(self) -> frozenset[str]:
        """See ``History``."""
        return frozenset({CONSUMER_OFFSETS})

    def fields(self, options: ReadOptions) -> tuple[ArrowField, ...]:
        """See ``History``."""
        own = (pa.field(name, kind) for name, kind in self.own_columns.items())
        return (*PROVENANCE, *own, *error_fields(options))

    def read(self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource) -> Iterator[pa.RecordBatch]:
        """See ``History``."""
        options = source.options
        cluster = options.cluster or (files[0].cluster if files else None)
        shows_bytes = all(shows_broken_bytes(file, options) for file in files)
        for rows in self._row_batches(files, source):
            places = [row.place for row in rows]
            columns: Columns = {
                "cluster": [cluster] * len(rows),
                "file": [place.file for place in places],
                "batch_position": [place.batch_position for place in places],
                "log_offset": [place.log_offset if place.log_offset >= 0 else None for place in places],
                "leader_epoch": [place.leader_epoch for place in places],
                "append_time": [place.append_time for place in places],
                **self.own_cells(rows),
                "_error": [row.error for row in rows],
                options.corrupt_record_column: [row.corrupt if shows_bytes else None for row in rows],
            }
            yield record_batch(schema, columns)

    def _row_batches(self, files: Sequence[LogFile], source: FoldSource) -> Iterator[Sequence[R]]:
        row_filter = _RowFilter(source)
        fold = CoordinatorFold(self.make_reducer(), source)
        folder = files[0].shown_folder if files else ""
        rows: list[R] = []
        for _ in fold.run(files):
            ended = fold.reducer.ended
            rows += filter(row_filter, ended)
            ended.clear()
            if fold.known_since is not None:
                row_filter.selection.refuse_unknown(folder, fold.known_since)
            while len(rows) >= LARGEST_ROW_BATCH or row_filter.corrupt_octets >= SHOWN_CORRUPT_OCTETS:
                yield rows[:LARGEST_ROW_BATCH]
                del rows[:LARGEST_ROW_BATCH]
                row_filter.corrupt_octets = 0
        row_filter.selection.refuse_unknown(folder, fold.known_since)
        rows += filter(row_filter, (*fold.reducer.ended, *fold.reducer.still_open()))
        for start in range(0, len(rows), LARGEST_ROW_BATCH):
            yield rows[start : start + LARGEST_ROW_BATCH]


class _RowFilter:
    """Decides which rows the options include, and counts them.

    Attributes:
        selection: the limits that the options set.
        corrupt_octets: undecoded bytes in the included rows. The caller resets it.
    """

    def __init__(self, source: FoldSource) -> None:
        self.corrupt_octets = 0
        self._options = source.options
        self.selection = Selection.of(source.options)
        self._accounts = source.accounts

    def __call__(self, row: HistoryRow) -> bool:
        reason = self._reason_to_drop(row)
        if reason is None and row.is_lost:
            self._accounts.flaw_rows += 1
            self.corrupt_octets += len(row.corrupt or b"")
        elif reason is None:
            self._accounts.rows += 1
        elif not row.is_lost:
            self._accounts.dropped(reason, 1)
        return reason is None

    def _reason_to_drop(self, row: HistoryRow) -> str | None:
        if row.error is not None and self._options.mode is not ReadMode.PERMISSIVE:
            return row.error
        if row.is_lost and self.selection.as_of is not None:
            return "filtered"
        offset = row.place.log_offset
        return None if self.selection.keeps_span(row.valid_from, row.valid_to, offset, offset) else "filtered"
