"""Table ``alerts``: what the rules find in a metadata log, a row for each alert, in the order of the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

import pyarrow as pa

from kafkawire.column_roles import ColumnRole
from kafkawire.columns.arrow_types import ArrowArray, ArrowField
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.alert_rules.rules import ALERT_RULES
from kafkawire.logs.alerts.finding import Alert
from kafkawire.logs.alerts.watching import WatchedLog
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.folding.columns import record_batch
from kafkawire.logs.folding.continued import ChangedRows
from kafkawire.logs.folding.metadata_fold import Loss, MetadataFold
from kafkawire.logs.folding.saved_state import SavedLog
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.limits import LARGEST_ROW_BATCH
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.logs.tables.rows import repeated
from kafkawire.logs.tables.table import Part, chosen_schema, last_roles
from kafkawire.logs.times import TIMESTAMP, datetime_of, milliseconds

_ERROR: Final = "_error"
_FIELDS: Final[Mapping[str, tuple[pa.DataType, ColumnRole]]] = {
    "cluster": (pa.string(), ColumnRole.VALUE),
    "time": (TIMESTAMP, ColumnRole.TIME),
    "log_offset": (pa.int64(), ColumnRole.PLACE),
    "rule": (pa.string(), ColumnRole.KEY),
    "severity": (pa.string(), ColumnRole.VALUE),
    "resource_type": (pa.string(), ColumnRole.DETAIL),
    "resource_name": (pa.string(), ColumnRole.KEY),
    "principal": (pa.string(), ColumnRole.KEY),
    "message": (pa.string(), ColumnRole.CONTENT),
    "log": (pa.string(), ColumnRole.ORIGIN),
}


class AlertsTable:
    """The table. It cannot be split: whether a change is risky depends on what was there before.

    Raises:
        UnknownColumnError: the options choose a column that the table does not have.
    """

    name = "alerts"
    splittable = False
    spans_logs = False
    logs = frozenset({METADATA_TOPIC})

    def __init__(self, options: ReadOptions) -> None:
        self.schema: pa.Schema = chosen_schema(self.name, _fields(options), options)
        self.roles: Mapping[str, ColumnRole] = {
            **{name: role for name, (_, role) in _FIELDS.items()},
            **last_roles(options),
        }

    def read(self, part: Part, options: ReadOptions, accounts: Accounts, store: FileStore) -> Iterator[pa.RecordBatch]:
        """See ``Table``."""
        source = FoldSource(options, accounts, store)
        in_order = sorted((each.file for each in part.files), key=attrgetter("folder"))
        for _, files in groupby(in_order, key=attrgetter("folder")):
            yield from self.changes(tuple(files), source, None).rows()

    def changes(self, files: Sequence[LogFile], source: FoldSource, since: SavedLog | None) -> ChangedRows:
        """See ``ContinuedTable``. An alert has the same log, offset, rule and message in each reading that finds it."""
        return AlertRows(self.schema, files, source, since)


class AlertRows:
    """The rows of one log; see ``ChangedRows``, and ``RowsBeside``.

    Args:
        schema: the columns.
        files: segments and snapshots of the log.
        source: reads them.
        since: what an earlier reading left; None for all of the log.
        accounts: get the count of the rows; those of the source by default.
    """

    def __init__(
        self,
        schema: pa.Schema,
        files: Sequence[LogFile],
        source: FoldSource,
        since: SavedLog | None = None,
        *,
        accounts: Accounts | None = None,
    ) -> None:
        self._schema, self._file, self._source = schema, files[0], source
        self._accounts = source.accounts if accounts is None else accounts
        rules = (*ALERT_RULES.values(), *source.options.alert_rules)
        self._watched = WatchedLog(files, source, rules, since)
        self._waiting: list[Alert] = []

    @property
    def name(self) -> str:
        """Of the table."""
        return AlertsTable.name

    @property
    def folds(self) -> Mapping[str, MetadataFold[Any]]:
        """See ``RowsBeside``."""
        return self._watched.folds

    def rows(self) -> Iterator[pa.RecordBatch]:
        """See ``ChangedRows``."""
        yield from self._full_batches(self._watched.read())
        yield from self.rest()

    def ready(self) -> Iterator[pa.RecordBatch]:
        """See ``RowsBeside``."""
        yield from self._full_batches(self._watched.found())

    def rest(self) -> Iterator[pa.RecordBatch]:
        """See ``RowsBeside``."""
        if self._waiting:
            yield self._alert_rows(self._waiting)
        losses = self._watched.losses() if _ERROR in self._schema.names else []
        for start in range(0, len(losses), LARGEST_ROW_BATCH):
            yield self._loss_rows(losses[start : start + LARGEST_ROW_BATCH])

    def saved(self) -> SavedLog:
        """See ``ChangedRows``."""
        return self._watched.saved()

    def _full_batches(self, alerts: Iterable[Alert]) -> Iterator[pa.RecordBatch]:
        for alert in alerts:
            if is_chosen(alert, self._source.options):
                self._waiting.append(alert)
            if len(self._waiting) == LARGEST_ROW_BATCH:
                yield self._alert_rows(self._waiting)
                self._waiting.clear()

    def _alert_rows(self, alerts: Sequence[Alert]) -> pa.RecordBatch:
        self._accounts.rows += len(alerts)
        return record_batch(
            self._schema,
            {
                **self._origin(len(alerts)),
                "time": [None if alert.time is None else milliseconds(alert.time) for alert in alerts],
                "log_offset": [alert.log_offset for alert in alerts],
                "rule": [alert.rule for alert in alerts],
                "severity": [alert.severity for alert in alerts],
                "resource_type": [alert.resource_type for alert in alerts],
                "resource_name": [alert.resource_name for alert in alerts],
                "principal": [alert.principal for alert in alerts],
                "message": [alert.message for alert in alerts],
                _ERROR: [None] * len(alerts),
            },
        )

    def _loss_rows(self, losses: Sequence[Loss]) -> pa.RecordBatch:
        """A row for each loss, so that the table shows that alerts may be missing."""
        self._accounts.flaw_rows += len(losses)
        return record_batch(
            self._schema,
            {
                **{name: [None] * len(losses) for name in self._schema.names},
                **self._origin(len(losses)),
                "time": [loss.time for loss in losses],
                "log_offset": [loss.from_offset for loss in losses],
                _ERROR: [loss.code for loss in losses],
            },
        )

    def _origin(self, count: int) -> Mapping[str, ArrowArray]:
        return {
            "cluster": repeated(self._source.options.cluster or self._file.cluster, count),
            "log": repeated(self._file.shown_folder, count),
        }


def is_chosen(alert: Alert, options: ReadOptions) -> bool:
    """Whether an alert is in the ranges of the options; one without a time or an offset is in all."""
    time, offset = alert.time, alert.log_offset
    return not (
        (time is not None and options.from_time is not None and time < _whole(options.from_time))
        or (time is not None and options.until_time is not None and time >= _whole(options.until_time))
        or (offset is not None and options.from_offset is not None and offset < options.from_offset)
        or (offset is not None and options.until_offset is not None and offset >= options.until_offset)
    )


def _whole(time: datetime) -> datetime:
    """A time as a log has it: in whole milliseconds, and with a zone."""
    return datetime_of(milliseconds(time))


def _fields(options: ReadOptions) -> tuple[ArrowField, ...]:
    errors = (pa.field(_ERROR, pa.string()),) if options.mode is ReadMode.PERMISSIVE else ()
    return (*(pa.field(name, kind) for name, (kind, _) in _FIELDS.items()), *errors)
