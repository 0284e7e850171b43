"""The protocol of tables, their parts, and the columns that they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import pyarrow as pa

from kafkawire.column_roles import ColumnRole
from kafkawire.columns.arrow_types import ArrowField
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.errors import UnknownColumnError
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.times import TIMESTAMP

PROVENANCE: Final = (
    pa.field("cluster", pa.string()),
    pa.field("file", pa.string()),
    pa.field("batch_position", pa.int64()),
    pa.field("log_offset", pa.int64()),
    pa.field("leader_epoch", pa.int32()),
    pa.field("append_time", TIMESTAMP),
)
"""The first columns of every table with a row for each record: the place of the record."""

PROVENANCE_ROLES: Final[Mapping[str, ColumnRole]] = {
    **{field.name: ColumnRole.ORIGIN for field in PROVENANCE if field.name != "cluster"},
    "log_offset": ColumnRole.PLACE,
    "append_time": ColumnRole.TIME,
}
"""The roles of these columns, in tables with a row for each record or batch; ``last_roles`` has the cluster."""


@dataclass(frozen=True)
class Part:
    """The unit of reading: ranges of files, in order. Spark makes a task of each part."""

    files: tuple[FileRange, ...]

    @property
    def bytes(self) -> int:
        """The bytes of all ranges."""
        return sum(each.end - each.start for each in self.files)


class Table(Protocol):
    """A table over logs, bound to the options that it was made with."""

    @property
    def name(self) -> str:
        """As in ``table_names``."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of every batch of its rows."""

    @property
    def roles(self) -> Mapping[str, ColumnRole]:
        """The roles of its columns, also of those that are not chosen; the most important of a role comes first."""

    @property
    def splittable(self) -> bool:
        """Whether ranges of a file can be read independently; otherwise a part is a whole log, or several."""

    @property
    def spans_logs(self) -> bool:
        """Whether all logs of a cluster are read together, also those of other topics; they are one part then."""

    @property
    def logs(self) -> frozenset[str]:
        """The topics whose logs it reads; empty for all topics."""

    def read(self, part: Part, options: ReadOptions, accounts: Accounts, store: FileStore) -> Iterator[pa.RecordBatch]:
        """The rows of a part.

        Raises:
            LogReadError: mode FAILFAST: at the first bytes that cannot be decoded. Any mode: a file cannot be opened.
        """


def reads(table: Table, file: LogFile) -> bool:
    """Whether a table reads a file: the topic of the file is one of the table's, or unknown, or it reads all logs."""
    return table.spans_logs or is_own(table, file)


def is_own(table: Table, file: LogFile) -> bool:
    """Whether the rows of a table are from a file."""
    return not table.logs or file.topic is None or file.topic in table.logs


def error_fields(options: ReadOptions) -> tuple[ArrowField, ...]:
    """The last columns in mode PERMISSIVE: the error of a row, and its bytes."""
    if options.mode is not ReadMode.PERMISSIVE:
        return ()
    return pa.field("_error", pa.string()), pa.field(options.corrupt_record_column, pa.binary())


def last_roles(options: ReadOptions) -> Mapping[str, ColumnRole]:
    """The roles of the last columns: those of ``error_fields``, and the cluster, which few tables have several of."""
    return {"cluster": ColumnRole.VALUE, "_error": ColumnRole.ERROR, options.corrupt_record_column: ColumnRole.ORIGIN}


def chosen_schema(name: str, fields: tuple[ArrowField, ...], options: ReadOptions) -> pa.Schema:
    """The schema of a table with these columns: all of them, or those that the options choose, in the order chosen.

    Raises:
        UnknownColumnError: the options choose a column that the table does not have.
    """
    if options.columns is None:
        return pa.schema(fields)
    by_name = {field.name: field for field in fields}
    for column in options.columns:
        if column not in by_name:
            raise UnknownColumnError(name, column, list(by_name))
    return pa.schema([by_name[column] for column in dict.fromkeys(options.columns)])
