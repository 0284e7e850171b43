"""The histories of the cluster's metadata as tables: one row for each interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic

import pyarrow as pa

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.histories.acl import ACL_SCHEMA, AclReducer, acl_columns
from kafkawire.logs.histories.as_of import BeforeKnowledgeError, milliseconds
from kafkawire.logs.histories.columns import Columns, record_batch
from kafkawire.logs.histories.config import CONFIG_SCHEMA, ConfigReducer, config_columns
from kafkawire.logs.histories.intervals import Interval, K
from kafkawire.logs.histories.losses import ERROR, loss_rows
from kafkawire.logs.histories.metadata_fold import MetadataFold
from kafkawire.logs.histories.metadata_state import StateReducer
from kafkawire.logs.histories.metadata_walk import Folding, WalkedFold, fold_together
from kafkawire.logs.histories.quota import QUOTA_SCHEMA, QuotaReducer, quota_columns
from kafkawire.logs.histories.selection import Selection
from kafkawire.logs.histories.source import FoldSource
from kafkawire.logs.histories.topic import TOPIC_SCHEMA, TopicReducer, topic_columns
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.registry import METADATA_TOPIC

__all__ = ["ACL_HISTORY", "CONFIG_HISTORY", "QUOTA_HISTORY", "TOPIC_HISTORY", "StateHistory"]

_ROWS_IN_BATCH: Final = 8192


@dataclass(frozen=True)
class StateHistory(Generic[K]):
    """A table of intervals, folded from a metadata log.

    Rows come in the order in which their intervals ended, then those that are still open in the order in which they
    began. Memory holds the open intervals, what a snapshot says while it is compared with them, and some rows.

    Attributes:
        name: of the table.
        own_schema: its columns after ``cluster`` and before ``log``.
        make_reducer: makes an empty history as of a time in milliseconds, or of all times.
        own_columns: the columns of some intervals, but for those that all histories have.
    """

    name: str
    own_schema: pa.Schema
    make_reducer: Callable[[int | None], StateReducer[K]]
    own_columns: Callable[[Sequence[Interval[K]], ReadOptions], Columns]

    @property
    def logs(self) -> frozenset[str]:
        """The topics whose logs it is folded from."""
        return frozenset({METADATA_TOPIC})

    def fields(self, options: ReadOptions) -> tuple[pa.Field[pa.DataType], ...]:
        """All columns."""
        errors = (pa.field(ERROR, pa.string()),) if options.mode is ReadMode.PERMISSIVE else ()
        return (pa.field("cluster", pa.string()), *self.own_schema, pa.field("log", pa.string()), *errors)

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
            files: its segments and snapshots.
            schema: some or all of its columns.
            options: what to read, and how.
            accounts: what is counted there.
            store: where the files are.

        Raises:
            LogReadError: mode FAILFAST: something is wrong with the log. Any mode: a file cannot be read.
            BeforeKnowledgeError: it is not known what was so at ``options.as_of``.
        """
        source = FoldSource(options, accounts, store)
        folding = self.folding(files, schema, source)
        for _, batch in fold_together({self.name: folding}, files, source):
            yield batch

    def folding(self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource) -> Folding:
        """The history of a log, of which nothing has been read so far.

        Args:
            files: the log's segments and snapshots.
            schema: some or all of its columns.
            source: reads the log.
        """
        return _IntervalFolding(self, files, schema, source)

    def columns(self, intervals: Sequence[Interval[K]], options: ReadOptions) -> Columns:
        """The columns of some intervals, without those that name their log."""
        return {
            ERROR: [None] * len(intervals),
            "valid_from": [interval.valid_from for interval in intervals],
            "valid_to": [interval.valid_to for interval in intervals],
            "from_offset": [interval.from_offset for interval in intervals],
            "to_offset": [interval.to_offset for interval in intervals],
            "added_by_snapshot": [interval.added_by_snapshot for interval in intervals],
            **self.own_columns(intervals, options),
        }


class _IntervalFolding(Generic[K]):
    """See ``Folding``."""

    def __init__(
        self, history: StateHistory[K], files: Sequence[LogFile], schema: pa.Schema, source: FoldSource
    ) -> None:
        options = source.options
        self._history, self._schema, self._source = history, schema, source
        self._folder, self._cluster = (files[0].shown_folder, files[0].cluster) if files else ("", None)
        self._shows_losses = ERROR in schema.names
        self._as_of = None if options.as_of is None else milliseconds(options.as_of)
        self._selection = Selection.of(options)
        self._rows: list[Interval[K]] = []
        self._fold = MetadataFold(
            lambda: history.make_reducer(self._as_of),
            source,
            high_watermark=options.high_watermark,
            has_snapshots=any(file.kind is FileKind.SNAPSHOT and file.base_offset for file in files),
        )

    @property
    def fold(self) -> WalkedFold:
        return self._fold

    def ready(self) -> Iterator[pa.RecordBatch]:
        if self._fold.complete_since is not None:
            self._refuse_before(self._fold.complete_since)
        ended = self._fold.reducer.ledger.ended
        self._rows += filter(self._selection.keeps, ended)
        ended.clear()
        if len(self._fold.losses) >= _ROWS_IN_BATCH:
            yield from self._losses()
        while len(self._rows) >= _ROWS_IN_BATCH and self._as_of is None:
            yield self._batch(self._rows[:_ROWS_IN_BATCH])
            del self._rows[:_ROWS_IN_BATCH]

    def rest(self) -> Iterator[pa.RecordBatch]:
        fold = self._fold
        self._refuse_before(fold.first_time if fold.complete_since is None else fold.complete_since)
        self._rows += filter(self._selection.keeps, fold.reducer.ledger.still_open())
        for start in range(0, len(self._rows), _ROWS_IN_BATCH):
            yield self._batch(self._rows[start : start + _ROWS_IN_BATCH])
        yield from self._losses()

    def _losses(self) -> Iterator[pa.RecordBatch]:
        """What could not be read, as rows; as of a time, only what came before it."""
        found = [loss for loss in self._fold.losses if self._as_of is None or (loss.time or 0) <= self._as_of]
        self._fold.losses.clear()
        if not self._shows_losses:
            return
        for start in range(0, len(found), _ROWS_IN_BATCH):
            some = found[start : start + _ROWS_IN_BATCH]
            self._source.accounts.flaw_rows += len(some)
            yield loss_rows(some, self._schema, self._provenance(len(some)))

    def _provenance(self, count: int) -> Columns:
        cluster = self._source.options.cluster or self._cluster
        return {"cluster": [cluster] * count, "log": [self._folder] * count}

    def _refuse_before(self, begins: int | None) -> None:
        as_of = self._source.options.as_of
        if as_of is not None and (begins is None or milliseconds(as_of) < begins):
            raise BeforeKnowledgeError(self._folder, as_of, begins)

    def _batch(self, intervals: Sequence[Interval[K]]) -> pa.RecordBatch:
        options = self._source.options
        self._source.accounts.rows += len(intervals)
        columns = {**self._provenance(len(intervals)), **self._history.columns(intervals, options)}
        return record_batch(self._schema, columns)


ACL_HISTORY: Final = StateHistory("acl_history", ACL_SCHEMA, lambda _: AclReducer(), lambda rows, _: acl_columns(rows))
QUOTA_HISTORY: Final = StateHistory(
    "quota_history", QUOTA_SCHEMA, lambda _: QuotaReducer(), lambda rows, _: quota_columns(rows)
)
CONFIG_HISTORY: Final = StateHistory(
    "config_history",
    CONFIG_SCHEMA,
    lambda _: ConfigReducer(),
    lambda rows, options: config_columns(rows, secrets=options.secrets),
)
TOPIC_HISTORY: Final = StateHistory("topic_history", TOPIC_SCHEMA, TopicReducer, lambda rows, _: topic_columns(rows))
