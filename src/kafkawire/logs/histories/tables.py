"""The histories as tables of ``kafkawire.logs``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Final, Protocol

import pyarrow as pa

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.histories.metadata_walk import Folding, fold_together
from kafkawire.logs.histories.row_tables import GROUP_HISTORY, OFFSET_COMMITS
from kafkawire.logs.histories.source import FoldSource
from kafkawire.logs.histories.state_tables import ACL_HISTORY, CONFIG_HISTORY, QUOTA_HISTORY, TOPIC_HISTORY
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.logs.tables.table import Part, chosen_schema

__all__ = ["HISTORIES", "HistoryTable", "history_table", "read_metadata_histories"]


class _History(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def logs(self) -> frozenset[str]: ...

    def fields(self, options: ReadOptions) -> tuple[pa.Field[pa.DataType], ...]: ...

    def read(
        self, files: Sequence[LogFile], schema: pa.Schema, options: ReadOptions, accounts: Accounts, store: FileStore
    ) -> Iterator[pa.RecordBatch]: ...


class _MetadataHistory(_History, Protocol):
    def folding(self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource) -> Folding: ...


@dataclass(frozen=True)
class HistoryTable:
    """A history, bound to options. It cannot be split: what is so depends on all that came before.

    Attributes:
        history: what it is about.
        schema: its columns.
    """

    history: _History
    schema: pa.Schema

    @property
    def name(self) -> str:
        """As in ``HISTORIES``."""
        return self.history.name

    @property
    def splittable(self) -> bool:
        """No: a part is a whole log."""
        return False

    @property
    def logs(self) -> frozenset[str]:
        """Topics whose logs it reads."""
        return self.history.logs

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.name, self.schema)

    def read(self, part: Part, options: ReadOptions, accounts: Accounts, store: FileStore) -> Iterator[pa.RecordBatch]:
        """The rows of the logs of a part, one log after the other.

        Raises:
            LogReadError: mode FAILFAST: something is wrong with a log. Any mode: a file cannot be read.
            BeforeKnowledgeError: it is not known what was so at ``options.as_of``.
        """
        files = sorted((each.file for each in part.files), key=attrgetter("folder"))
        for _, of_log in groupby(files, key=attrgetter("folder")):
            yield from self.history.read(tuple(of_log), self.schema, options, accounts, store)


_OF_METADATA: Final[Mapping[str, _MetadataHistory]] = {
    history.name: history for history in (ACL_HISTORY, QUOTA_HISTORY, CONFIG_HISTORY, TOPIC_HISTORY)
}
HISTORIES: Final[Mapping[str, _History]] = {
    **_OF_METADATA,
    OFFSET_COMMITS.name: OFFSET_COMMITS,
    GROUP_HISTORY.name: GROUP_HISTORY,
}
"""The histories by their names."""


def history_table(name: str, options: ReadOptions) -> HistoryTable:
    """The table of a history.

    Raises:
        KeyError: there is no such history.
        UnknownColumnError: the options choose a column that there is not.
    """
    history = HISTORIES[name]
    return HistoryTable(history, chosen_schema(name, history.fields(options), options))


def read_metadata_histories(
    columns: Mapping[str, tuple[str, ...] | None],
    files: Sequence[LogFile],
    options: ReadOptions,
    accounts: Accounts,
    *,
    store: FileStore = LOCAL,
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of histories of the metadata log, each with its name; every log is read once for all of them.

    Args:
        columns: names of histories, and which of their columns; None for all.
        files: those of metadata logs; others are left out.
        options: how to read; its columns do not count.
        accounts: gets the counts of all histories together.
        store: where the files are.

    Raises:
        KeyError: there is no such history of the metadata log.
        UnknownColumnError: a history has no such column.
        LogReadError: mode FAILFAST: something is wrong with a log. Any mode: a file cannot be read.
        BeforeKnowledgeError: it is not known what was so at ``options.as_of``.
    """
    tables = {name: history_table(name, replace(options, columns=chosen)) for name, chosen in columns.items()}
    read = [file for file in files if file.topic is None or file.topic == METADATA_TOPIC]
    for _, of_log in groupby(sorted(read, key=attrgetter("folder")), key=attrgetter("folder")):
        log, source = tuple(of_log), FoldSource(options, accounts, store)
        foldings = {name: _OF_METADATA[name].folding(log, table.schema, source) for name, table in tables.items()}
        yield from fold_together(foldings, log, source)


def _restored(name: str, schema: pa.Schema) -> HistoryTable:
    return HistoryTable(HISTORIES[name], schema)
