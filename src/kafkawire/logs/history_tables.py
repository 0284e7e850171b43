"""Histories as tables: all that the modules of the package ``histories`` declare."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import groupby
from operator import attrgetter
from typing import Final, cast

import pyarrow as pa

from kafkawire.column_roles import ColumnRole
from kafkawire.logs import histories
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import LogFile, without_repeated
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.folding.continued import ChangedRows
from kafkawire.logs.folding.history import History, HistoryOfLog
from kafkawire.logs.folding.metadata_history import MetadataHistory, RowsBeside, read_together
from kafkawire.logs.folding.saved_state import SavedLog
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.logs.tables.table import Part, chosen_schema
from kafkawire.logs.typed_batches import RecordBatch
from kafkawire.wire.unknown_names import UnknownNameError


@dataclass(frozen=True)
class HistoryTable:
    """A history, bound to options. Its logs cannot be split: a state depends on all earlier records.

    Attributes:
        history: what it shows.
        schema: its columns.
        roles: of its columns.
    """

    history: History
    schema: pa.Schema
    roles: Mapping[str, ColumnRole]

    @property
    def name(self) -> str:
        """As in ``HISTORIES``."""
        return self.history.name

    @property
    def splittable(self) -> bool:
        """No: a part is a whole log, or several."""
        return False

    @property
    def spans_logs(self) -> bool:
        """As the history says."""
        return self.history.spans_logs

    @property
    def logs(self) -> frozenset[str]:
        """Topics whose logs it reads."""
        return self.history.logs

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.name, self.schema, dict(self.roles))

    def read(self, part: Part, options: ReadOptions, accounts: Accounts, store: FileStore) -> Iterator[pa.RecordBatch]:
        """The rows of the logs of a part, one log after the other, or together.

        Raises:
            LogReadError, BeforeKnowledgeError: as ``History.read``.
        """
        files = [each.file for each in part.files]
        for log in [files] if self.spans_logs else _logs(files):
            yield from self.history.read(log, self.schema, FoldSource(options, accounts, store))


@dataclass(frozen=True)
class HistoryOfLogTable(HistoryTable):
    """A history that is folded from one log after the other; see ``ContinuedTable``."""

    history: HistoryOfLog

    def changes(self, files: Sequence[LogFile], source: FoldSource, since: SavedLog | None) -> ChangedRows:
        """See ``ContinuedTable``."""
        return self.history.changes(files, self.schema, source, since)


def history_table(name: str, options: ReadOptions) -> HistoryTable:
    """The table of a history.

    Raises:
        KeyError: there is no such history.
        UnknownColumnError: the options choose a column that the table does not have.
    """
    history = HISTORIES.get(name)
    if history is None:
        raise UnknownNameError("history", name, HISTORIES)
    return _bound(history, chosen_schema(name, history.fields(options), options), history.roles(options))


def read_metadata_histories(
    columns: Mapping[str, tuple[str, ...] | None],
    files: Sequence[LogFile],
    options: ReadOptions,
    accounts: Accounts,
    *,
    store: FileStore = LOCAL,
) -> Iterator[tuple[str, RecordBatch]]:
    """The rows of histories of the metadata log, each batch with the name of its history; every log is read once.

    Args:
        columns: names of histories, and which of their columns; None for all.
        files: files of metadata logs; files of other logs are skipped.
        options: how to read; its columns do not count.
        accounts: gets the counts of all histories together.
        store: where the files are.

    Raises:
        KeyError: there is no such history of the metadata log.
        UnknownColumnError: a history has no such column.
        LogReadError, BeforeKnowledgeError: as ``History.read``.

    Example:
        ```python
        from kafkawire.logs import Accounts, ReadOptions, find_log_files, read_metadata_histories

        histories = {"topic_history": ("name", "valid_from", "valid_to"), "config_history": None}
        files = find_log_files(["/var/lib/kafka/data/__cluster_metadata-0"])
        for name, batch in read_metadata_histories(histories, files, ReadOptions(), Accounts()):
            print(name, batch.num_rows, "rows")
        ```
    """
    return read_histories_beside(columns, files, FoldSource(options, accounts, store), lambda _: None)


def read_histories_beside(
    columns: Mapping[str, tuple[str, ...] | None],
    files: Sequence[LogFile],
    source: FoldSource,
    beside: Callable[[Sequence[LogFile]], RowsBeside | None],
) -> Iterator[tuple[str, RecordBatch]]:
    """As ``read_metadata_histories``, with other rows of each log, which are made of its files."""
    options = source.options
    schemas = {name: history_table(name, replace(options, columns=chosen)).schema for name, chosen in columns.items()}
    chosen_histories = [_METADATA_HISTORIES[name] for name in columns]
    own = without_repeated([file for file in files if file.topic is None or file.topic == METADATA_TOPIC])
    for log in _logs(own):
        together = read_together(chosen_histories, log, schemas, source, beside(log))
        yield from cast(Iterator[tuple[str, RecordBatch]], together)


def _logs(files: Iterable[LogFile]) -> Iterator[tuple[LogFile, ...]]:
    for _, log in groupby(sorted(files, key=attrgetter("folder")), key=attrgetter("folder")):
        yield tuple(log)


def _declared() -> Iterator[History]:
    """The histories that the modules of the package declare, those of the metadata log first."""
    names = [module.name for module in pkgutil.iter_modules(histories.__path__)]
    modules = [import_module(f"{histories.__name__}.{name}") for name in names]
    declared = [module.HISTORY for module in modules if hasattr(module, "HISTORY")]
    yield from sorted(declared, key=lambda history: not isinstance(history, MetadataHistory))


HISTORIES: Final[Mapping[str, History]] = {history.name: history for history in _declared()}
"""The histories by their names."""

_METADATA_HISTORIES: Final = {
    name: history for name, history in HISTORIES.items() if isinstance(history, MetadataHistory)
}


def _restored(name: str, schema: pa.Schema, roles: Mapping[str, ColumnRole]) -> HistoryTable:
    return _bound(HISTORIES[name], schema, roles)


def _bound(history: History, schema: pa.Schema, roles: Mapping[str, ColumnRole]) -> HistoryTable:
    if isinstance(history, HistoryOfLog):
        return HistoryOfLogTable(history, schema, roles)
    return HistoryTable(history, schema, roles)
