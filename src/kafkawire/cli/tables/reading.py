"""A table that is read for the command line: errors in its words, a progress bar, and a limit to what may be broken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyarrow as pa
from rich.console import Console

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.tables.bytes_bar import BytesBar
from kafkawire.cli.tables.dates import in_utc
from kafkawire.logs import (
    Accounts,
    BeforeKnowledgeError,
    FileStore,
    LogFile,
    LogReadError,
    ReadOptions,
    RecordRegistry,
    Table,
    UnknownColumnError,
    UnknownTableError,
    find_log_files,
    plan,
    read_part,
    store_for,
    table_named,
    table_names,
)
from kafkawire.logs.errors import near_names
from kafkawire.logs.histories.tables import HISTORIES
from kafkawire.logs.planning import files_of_table
from kafkawire.logs.tables.record_types import record_type_names
from kafkawire.logs.tables.records_table import RecordsTable
from kafkawire.logs.tables.table import reads

__all__ = ["FoundLogs", "batches_of", "checked_table", "found_logs", "logs_of_table", "registry_of", "told_errors"]

_WILDCARDS: Final = frozenset("*?[")
_UNKNOWN_TYPE: Final = re.compile(r"UNKNOWN\(-?\d+\)")


def registry_of(folder: Path) -> RecordRegistry:
    """The record types that a folder of a user's own definitions adds to Kafka's.

    Raises:
        CommandError: the definitions cannot be used.
    """
    from kafkawire.logs.own_definitions import OwnDefinitionsError, own_definitions  # noqa: PLC0415 needs an extra

    try:
        return own_definitions(folder).registry
    except OwnDefinitionsError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None


def checked_table(name: str, options: ReadOptions) -> Table:
    """The table of a name, if the options fit it.

    Raises:
        CommandError: there is no such table, column or record type, or the table has no state as of a date.
    """
    try:
        table = table_named(name, options)
    except UnknownTableError:
        meant = _did_you_mean(name, table_names(options.registry))
        raise CommandError(f"there is no table {name}; {meant}--list tells them all", ExitCode.USAGE) from None
    except UnknownColumnError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    if options.as_of is not None and name not in HISTORIES:
        raise CommandError(f"--as-of needs a history; {name} has a row for each record", ExitCode.USAGE)
    if options.record_types is not None:
        _check_record_types(name, options.record_types, options.registry)
    return table


def _check_record_types(table: str, wanted: Sequence[str], registry: RecordRegistry) -> None:
    if table != RecordsTable.name:
        raise CommandError(f"--record-types chooses from table records; {table} has its own", ExitCode.USAGE)
    known = record_type_names(registry)
    for name in wanted:
        if name not in known and _UNKNOWN_TYPE.fullmatch(name) is None:
            meant = _did_you_mean(name, known)
            raise CommandError(
                f"there is no record type {name}; {meant}it is named as in column record_type", ExitCode.USAGE
            )


def _did_you_mean(name: str, names: Sequence[str]) -> str:
    near = near_names(name, names)
    return f"did you mean {near}? " if near else ""


@dataclass(frozen=True)
class FoundLogs:
    """Files of logs, and where they are.

    Attributes:
        files: segments and snapshots.
        store: reads them.
    """

    files: tuple[LogFile, ...]
    store: FileStore

    @property
    def bytes(self) -> int:
        """How large they are."""
        return sum(file.size for file in self.files)

    def of_table(self, table: Table) -> FoundLogs:
        """Those that a table reads."""
        return replace(self, files=tuple(file for file in self.files if reads(table, file)))


def found_logs(paths: Sequence[str]) -> FoundLogs:
    """The files of logs.

    Raises:
        CommandError: there are none.
    """
    if not all(paths):
        raise CommandError("--log names no folder: it is empty", ExitCode.USAGE)
    if len({type(store_for(path)) for path in paths}) > 1:
        raise CommandError("--log: files of this machine and addresses are not read together", ExitCode.USAGE)
    for path in paths:
        if "://" not in path and _WILDCARDS.isdisjoint(path) and not Path(path).exists():
            raise CommandError(f"{path}: there is no such folder or file")
    store = store_for(paths[0])
    try:
        files = find_log_files(paths, store=store)
    except LogReadError as error:
        raise CommandError(f"{error.path}: {error.reason}") from None
    if not files:
        raise CommandError(f"{', '.join(paths)}: no segment (.log) and no snapshot (.checkpoint) of Kafka is there")
    return FoundLogs(files, store)


def logs_of_table(paths: Sequence[str], table: Table) -> FoundLogs:
    """The files that a table reads.

    Raises:
        CommandError: there are none.
    """
    found = found_logs(paths)
    try:
        return replace(found, files=files_of_table(table, found.files, paths))
    except LogReadError as error:
        raise CommandError(error.reason) from None


def batches_of(
    table: Table,
    logs: FoundLogs,
    options: ReadOptions,
    accounts: Accounts,
    console: Console,
    max_errors: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """All rows of a table.

    Args:
        table: what is read.
        logs: where its logs are.
        options: what to read, and how.
        accounts: what is counted there.
        console: for the progress bar, if it is a terminal.
        max_errors: how many errors are allowed; None for any number.

    Raises:
        CommandError: the logs cannot be read, or there are too many errors.
    """
    with told_errors():
        parts = plan(table, logs.files, store=logs.store, options=options)
        total = sum(each.end - each.start for part in parts for each in part.files)
        with BytesBar(console, table.name, total, accounts):
            for part in parts:
                for batch in read_part(table, part, options, accounts, store=logs.store):
                    _refuse_more_errors(accounts, max_errors)
                    yield batch
            _refuse_more_errors(accounts, max_errors)


@contextmanager
def told_errors() -> Iterator[None]:
    """Errors of reading, in the words of the command line.

    Raises:
        CommandError: in their place.
    """
    try:
        yield
    except LogReadError as error:
        raise CommandError(str(error)) from None
    except BeforeKnowledgeError as error:
        raise CommandError(_before_knowledge(error), ExitCode.USAGE) from None


def _refuse_more_errors(accounts: Accounts, allowed: int | None) -> None:
    errors = sum(accounts.errors.values())
    if allowed is not None and errors > allowed:
        codes = ", ".join(f"{code} {count}" for code, count in sorted(accounts.errors.items()))
        raise CommandError(f"more errors than --max-errors {allowed} allows: {codes}")


def _before_knowledge(error: BeforeKnowledgeError) -> str:
    begins = "it is empty" if error.begins is None else f"it begins at {in_utc(error.begins)}"
    return f"{error.log}: nothing is known as of {in_utc(error.as_of)}: {begins}"
