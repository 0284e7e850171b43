"""The histories of the cluster's metadata: a row for each interval with the same values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from operator import itemgetter
from typing import Any, Final, Generic, Protocol

import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowField
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.folding.columns import Columns, record_batch
from kafkawire.logs.folding.coordinator_log import PartOfLog, Past
from kafkawire.logs.folding.division import Bucket, DivisibleHistory, LeftByPart
from kafkawire.logs.folding.history import INTERVAL_ID, HistoryOfLog, id_fields, interval_id
from kafkawire.logs.folding.interval_columns import IntervalColumns
from kafkawire.logs.folding.intervals import K
from kafkawire.logs.folding.metadata_fold import MARKER_IDS, Loss, MetadataFold, StateReducer
from kafkawire.logs.folding.metadata_log import snapshots_of
from kafkawire.logs.folding.metadata_parts import JoinedLog, MetadataPart, Routes
from kafkawire.logs.folding.metadata_replay import replay, replay_log
from kafkawire.logs.folding.saved_state import SavedLog, tagged
from kafkawire.logs.folding.selection import Selection
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.continuing import Reached
from kafkawire.logs.limits import LARGEST_ROW_BATCH
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.logs.tables.rows import repeated
from kafkawire.logs.times import TIMESTAMP

_ERROR: Final = "_error"

_INTERVAL: Final = (
    pa.field("valid_from", TIMESTAMP),
    pa.field("valid_to", TIMESTAMP),
    pa.field("from_offset", pa.int64()),
    pa.field("to_offset", pa.int64()),
    pa.field("added_by_snapshot", pa.bool_()),
)
"""The columns with the ends of an interval."""


@dataclass(frozen=True)
class MetadataHistory(HistoryOfLog, DivisibleHistory, Generic[K]):
    """A history that is folded from a metadata log.

    Rows come in the order in which their intervals end; the intervals that are still open follow, in the order in which
    they began. Memory holds the open intervals, the state of a snapshot while it is compared with them, and some rows.

    Attributes:
        make_reducer: makes an empty history as of a time in milliseconds, or of all times if it is None.
        own_cells: the cells of ``own_columns`` for some intervals.
    """

    make_reducer: Callable[[int | None], StateReducer[K]]
    own_cells: Callable[[IntervalColumns[K], ReadOptions], Columns]

    @property
    def logs(self) -> frozenset[str]:
        """See ``History``."""
        return frozenset({METADATA_TOPIC})

    def fields(self, options: ReadOptions) -> tuple[ArrowField, ...]:
        """See ``History``."""
        errors = (pa.field(_ERROR, pa.string()),) if options.mode is ReadMode.PERMISSIVE else ()
        own = (pa.field(name, kind) for name, kind in self.own_columns.items())
        return (
            pa.field("cluster", pa.string()),
            *own,
            *_INTERVAL,
            pa.field("log", pa.string()),
            *errors,
            *id_fields(options),
        )

    def read(self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource) -> Iterator[pa.RecordBatch]:
        """See ``History``."""
        return map(itemgetter(1), read_together([self], files, {self.name: schema}, source))

    def changes(
        self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource, since: SavedLog | None
    ) -> _Changes[K]:
        """See ``History``."""
        rows = _Rows(self, files, schema, source)
        if since is not None:
            rows.fold.resume(since.fold)
        return _Changes(rows, files, source, None if since is None else since.reached)

    def part(
        self,
        ranges: Sequence[FileRange],
        files: Sequence[LogFile],
        schema: pa.Schema,
        source: FoldSource,
        past: Past | None,
    ) -> MetadataPart:
        """See ``DivisibleHistory``."""
        return MetadataPart(ranges, files, self._routes(source), source)

    def joined(
        self,
        lefts: Iterable[Iterable[LeftByPart]],
        files: Sequence[LogFile],
        schema: pa.Schema,
        source: FoldSource,
        bucket: Bucket,
    ) -> Iterator[pa.RecordBatch]:
        """See ``DivisibleHistory``."""
        counting = source if bucket.number == 0 else FoldSource(source.options, Accounts(), source.store)
        rows = _Rows(self, files, schema, counting)
        log = JoinedLog(lefts, files, bucket, self._routes(source), counting)
        for _ in replay_log(log, snapshots_of(files, None), [rows.fold], counting):
            rows.keep_losses(bucket.number == 0)
            yield from rows.ready()
        rows.keep_losses(bucket.number == 0)
        yield from rows.rest()
        if counting is not source:
            source.accounts.rows += counting.accounts.rows

    def check_known(
        self, files: Sequence[LogFile], source: FoldSource, found: Sequence[PartOfLog], *, is_last: bool
    ) -> None:
        """See ``DivisibleHistory``: the joins check it."""

    def _routes(self, source: FoldSource) -> Routes:
        reducer = self.make_reducer(Selection.of(source.options).as_of)
        return Routes({**dict.fromkeys(MARKER_IDS, ()), **reducer.RECORDS}, reducer.OWNERS)


class RowsBeside(Protocol):
    """Rows that are made of the folds of histories, of all times."""

    @property
    def name(self) -> str:
        """Of their table."""

    @property
    def folds(self) -> Mapping[str, MetadataFold[Any]]:
        """The folds, by the names of their histories."""

    def ready(self) -> Iterator[pa.RecordBatch]:
        """Full batches, after the folds have read more."""

    def rest(self) -> Iterator[pa.RecordBatch]:
        """All other rows, once the log was read."""


def read_together(
    histories: Sequence[MetadataHistory[Any]],
    files: Sequence[LogFile],
    schemas: Mapping[str, pa.Schema],
    source: FoldSource,
    beside: RowsBeside | None = None,
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of several histories of one log, each batch with the name of its history; the log is read once.

    Args:
        histories: what to read.
        files: segments and snapshots of the log.
        schemas: by the name of each history, some or all of its columns.
        source: reads the files; without ``as_of`` if there are rows beside.
        beside: other rows of the log, whose folds the histories use as well.

    Raises:
        LogReadError, BeforeKnowledgeError: as ``History.read``.
    """
    shared = {} if beside is None else beside.folds
    own = {
        history.name: _Rows(history, files, schemas[history.name], source, shared.get(history.name))
        for history in histories
    }
    folds = {**shared, **{name: rows.fold for name, rows in own.items()}}
    # Rows beside come last, because they forget what has ended.
    read: dict[str, _Rows[Any] | RowsBeside] = {**own, **({} if beside is None else {beside.name: beside})}
    for _ in replay(files, [*folds.values()], source):
        for name, rows in read.items():
            for batch in rows.ready():
                yield name, batch
    for name, rows in read.items():
        for batch in rows.rest():
            yield name, batch


@dataclass
class _Changes(Generic[K]):
    """See ``ChangedRows``."""

    _rows: _Rows[K]
    _files: Sequence[LogFile]
    _source: FoldSource
    _reached: Reached | None

    def rows(self) -> Iterator[pa.RecordBatch]:
        for reached in replay(self._files, [self._rows.fold], self._source, self._reached):
            self._reached = reached
            yield from self._rows.ready()
        yield from self._rows.rest()

    def saved(self) -> SavedLog:
        return SavedLog(self._reached, self._rows.fold.save())


class _Rows(Generic[K]):
    """The rows of one history of one log.

    Attributes:
        fold: where the rows come from.
    """

    def __init__(
        self,
        history: MetadataHistory[K],
        files: Sequence[LogFile],
        schema: pa.Schema,
        source: FoldSource,
        fold: MetadataFold[K] | None = None,
    ) -> None:
        self._history, self._schema, self._source = history, schema, source
        self._folder, self._cluster = (files[0].shown_folder, files[0].cluster) if files else ("", None)
        self._selection = Selection.of(source.options)
        self._losses = Counter[Loss]()
        if fold is None:
            has_snapshots = any(file.kind is FileKind.SNAPSHOT and file.base_offset for file in files)
            make_reducer = partial(history.make_reducer, self._selection.as_of)
            fold = MetadataFold(make_reducer, source, has_snapshots=has_snapshots)
        self.fold = fold
        self._waiting = fold.ledger.waiting(self._selection)

    def keep_losses(self, keeps: bool) -> None:
        """Whether rows of losses are returned."""
        if not keeps:
            self.fold.losses.clear()

    def ready(self) -> Iterator[pa.RecordBatch]:
        """Full batches of rows whose intervals have ended.

        Raises:
            BeforeKnowledgeError: ``as_of`` lies before the time from which the whole state is known.
        """
        fold = self.fold
        if fold.complete_since is not None:
            self._selection.refuse_unknown(self._folder, fold.complete_since)
        self._waiting.add_ended()
        if len(fold.losses) >= LARGEST_ROW_BATCH:
            yield from self._loss_rows()
        if self._selection.as_of is None:
            yield from map(self._interval_rows, self._waiting.full())

    def rest(self) -> Iterator[pa.RecordBatch]:
        """All other rows, once the log was read.

        Raises:
            BeforeKnowledgeError: as ``ready``.
        """
        fold = self.fold
        self._selection.refuse_unknown(self._folder, fold.known_since)
        yield from map(self._interval_rows, self._waiting.rest())
        yield from self._loss_rows()

    def _interval_rows(self, intervals: IntervalColumns[K]) -> pa.RecordBatch:
        count = len(intervals.keys)
        self._source.accounts.rows += count
        columns = {
            **self._provenance(count),
            _ERROR: [None] * count,
            "valid_from": intervals.valid_from,
            "valid_to": intervals.valid_to,
            "from_offset": intervals.from_offset,
            "to_offset": intervals.to_offset,
            "added_by_snapshot": intervals.added_by_snapshot,
            **self._history.own_cells(intervals, self._source.options),
        }
        if INTERVAL_ID.name in self._schema.names:
            columns[INTERVAL_ID.name] = list(starmap(self._id_of, intervals.beginnings()))
        return record_batch(self._schema, columns)

    def _loss_rows(self) -> Iterator[pa.RecordBatch]:
        """A row for each loss, so that the table shows that rows are missing; with ``as_of``, only for earlier losses.

        The row begins and ends at the time of the loss, so it is never valid.
        """
        as_of = self._selection.as_of
        losses = [loss for loss in self.fold.losses if as_of is None or (loss.time or 0) <= as_of]
        self.fold.losses.clear()
        if _ERROR not in self._schema.names:
            return
        for start in range(0, len(losses), LARGEST_ROW_BATCH):
            some = losses[start : start + LARGEST_ROW_BATCH]
            self._source.accounts.flaw_rows += len(some)
            times = [loss.time for loss in some]
            columns = {
                **{name: [None] * len(some) for name in self._schema.names},
                **self._provenance(len(some)),
                "valid_from": times,
                "valid_to": times,
                "from_offset": [loss.from_offset for loss in some],
                "to_offset": [loss.to_offset for loss in some],
                _ERROR: [loss.code for loss in some],
            }
            if INTERVAL_ID.name in self._schema.names:
                columns[INTERVAL_ID.name] = [self._id_of_loss(loss) for loss in some]
            yield record_batch(self._schema, columns)

    def _id_of(self, key: K, begin: int | None, end: int | None, has_values: bool, added_by_snapshot: bool) -> str:
        return interval_id(self._folder, tagged(key), begin if has_values else ("until", end), added_by_snapshot)

    def _id_of_loss(self, loss: Loss) -> str:
        self._losses[loss] += 1
        return interval_id(self._folder, loss, self._losses[loss])

    def _provenance(self, count: int) -> Columns:
        cluster = self._source.options.cluster or self._cluster
        return {"cluster": repeated(cluster, count), "log": repeated(self._folder, count)}
