"""The histories of groups and their offsets as tables: rows of records, with the time during which they were so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic

import pyarrow as pa

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.histories.as_of import BeforeKnowledgeError, milliseconds
from kafkawire.logs.histories.columns import Columns, record_batch
from kafkawire.logs.histories.coordinator_fold import CONSUMER_OFFSETS, CoordinatorFold, HistoryRow, R, RowReducer
from kafkawire.logs.histories.groups import GROUP_SCHEMA, GroupsReducer, group_columns
from kafkawire.logs.histories.offsets import OFFSET_SCHEMA, OffsetsReducer, offset_columns
from kafkawire.logs.histories.places import provenance_columns
from kafkawire.logs.histories.selection import Selection
from kafkawire.logs.histories.source import FoldSource
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.tables.secret_records import shows_broken_bytes
from kafkawire.logs.tables.table import PROVENANCE, error_fields

__all__ = ["GROUP_HISTORY", "OFFSET_COMMITS", "RowHistory"]

_ROWS_IN_BATCH: Final = 8192
_MOST_OCTETS: Final = 16 * 1024 * 1024


@dataclass(frozen=True)
class RowHistory(Generic[R]):
    """A table of records and of when they were so, folded from a coordinator's log.

    Rows come when nothing can change them any more, which is when they end; those that are still so come last, in the
    order of the log. Memory holds these, what transactions left open, and some rows.

    Attributes:
        name: of the table.
        own_schema: its columns after the provenance.
        make_reducer: makes an empty history.
        own_columns: these columns of some rows.
    """

    name: str
    own_schema: pa.Schema
    make_reducer: Callable[[], RowReducer[R]]
    own_columns: Callable[[Sequence[R]], Columns]

    @property
    def logs(self) -> frozenset[str]:
        """The topics whose logs it is folded from."""
        return frozenset({CONSUMER_OFFSETS})

    def fields(self, options: ReadOptions) -> tuple[pa.Field[pa.DataType], ...]:
        """All columns."""
        return (*PROVENANCE, *self.own_schema, *error_fields(options))

    def read(
        self,
        files: Sequence[LogFile],
        schema: pa.Schema,
        options: ReadOptions,
        accounts: Accounts,
        store: FileStore,
    ) -> Iterator[pa.RecordBatch]:
        """The rows of one log.

        Args:
            files: its segments.
            schema: some or all of its columns.
            options: what to read, and how.
            accounts: what is counted there.
            store: where the files are.

        Raises:
            LogReadError: mode FAILFAST: something is wrong with the log. Any mode: a file cannot be read.
            BeforeKnowledgeError: ``options.as_of`` lies before the first record, which is not the first that there was.
        """
        cluster = options.cluster or (files[0].cluster if files else None)
        shows_bytes = all(shows_broken_bytes(file, options) for file in files)
        for rows in self._portions(files, options, FoldSource(options, accounts, store)):
            places = [row.place for row in rows]
            columns = {
                **provenance_columns(cluster, places),
                **self.own_columns(rows),
                "_error": [row.error for row in rows],
                options.corrupt_record_column: [row.corrupt if shows_bytes else None for row in rows],
            }
            yield record_batch(schema, columns)

    def _portions(self, files: Sequence[LogFile], options: ReadOptions, source: FoldSource) -> Iterator[Sequence[R]]:
        wanted = _Wanted(options, source.accounts)
        fold = CoordinatorFold(self.make_reducer(), source, high_watermark=options.high_watermark)
        rows: list[R] = []
        for _ in fold.run(files):
            ended = fold.reducer.ended
            rows += filter(wanted, ended)
            ended.clear()
            _refuse_before(fold.known_since, files, options)
            while len(rows) >= _ROWS_IN_BATCH or wanted.octets_lost >= _MOST_OCTETS:
                yield rows[:_ROWS_IN_BATCH]
                del rows[:_ROWS_IN_BATCH]
                wanted.octets_lost = 0
        rows += filter(wanted, (*fold.reducer.ended, *fold.reducer.still_open()))
        for start in range(0, len(rows), _ROWS_IN_BATCH):
            yield rows[start : start + _ROWS_IN_BATCH]


def _refuse_before(known_since: int | None, files: Sequence[LogFile], options: ReadOptions) -> None:
    if options.as_of is not None and known_since is not None and milliseconds(options.as_of) < known_since:
        raise BeforeKnowledgeError(files[0].folder, options.as_of, known_since)


class _Wanted:
    """Says which rows are asked for, and counts them.

    Attributes:
        octets_lost: size of what could not be read and is shown. Whoever looks resets it.
    """

    def __init__(self, options: ReadOptions, accounts: Accounts) -> None:
        self.octets_lost = 0
        self._selection = Selection.of(options)
        self._shows_errors = options.mode is ReadMode.PERMISSIVE
        self._accounts = accounts

    def __call__(self, row: HistoryRow) -> bool:
        reason = self._reason_against(row)
        if reason is None and row.is_lost:
            self._accounts.flaw_rows += 1
            self.octets_lost += len(row.corrupt or b"")
        elif reason is None:
            self._accounts.rows += 1
        elif not row.is_lost:
            self._accounts.dropped(reason, 1)
        return reason is None

    def _reason_against(self, row: HistoryRow) -> str | None:
        if row.error is not None and not self._shows_errors:
            return row.error
        if row.is_lost and self._selection.as_of is not None:
            return "filtered"
        offset = row.place.log_offset
        return None if self._selection.keeps_span(row.valid_from, row.valid_to, offset, offset) else "filtered"


OFFSET_COMMITS: Final = RowHistory("offset_commits", OFFSET_SCHEMA, OffsetsReducer, offset_columns)
GROUP_HISTORY: Final = RowHistory("group_history", GROUP_SCHEMA, GroupsReducer, group_columns)
