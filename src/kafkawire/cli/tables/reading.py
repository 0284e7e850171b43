"""A table that is read for the command line: errors in its words, a progress bar, and a limit to what may be broken."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
from rich.console import Console

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.progress import progress_bar
from kafkawire.cli.tables.dates import in_utc
from kafkawire.logs import (
    Accounts,
    LogFile,
    LogReadError,
    ReadOptions,
    RecordRegistry,
    Table,
    UnknownColumnError,
    UnknownTableError,
    find_log_files,
    read_table,
    store_for,
    table_named,
    table_names,
)
from kafkawire.logs.histories.as_of import BeforeKnowledgeError

__all__ = ["batches_of", "checked_table", "found_logs", "registry_of"]

_MEBIBYTE: Final = 1 << 20
_NAMED_LOGS: Final = 8
_WILDCARDS: Final = frozenset("*?[")


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
        CommandError: there is no such table or column, or it has no state as of a date.
    """
    try:
        table = table_named(name, options)
    except UnknownTableError:
        near = difflib.get_close_matches(name, table_names(options.registry), 3)
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        raise CommandError(f"there is no table {name}; {meant}--list tells them all", ExitCode.USAGE) from None
    except UnknownColumnError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    if options.as_of is not None and "valid_from" not in table.schema.names and options.columns is None:
        raise CommandError(f"--as-of needs a history; {name} has a row for each record", ExitCode.USAGE)
    return table


def found_logs(paths: Sequence[str], table: Table | None = None) -> tuple[LogFile, ...]:
    """The files of logs, those that a table reads if one is given.

    Raises:
        CommandError: there are none.
    """
    for path in paths:
        if "://" not in path and _WILDCARDS.isdisjoint(path) and not Path(path).exists():
            raise CommandError(f"{path}: there is no such folder or file")
    try:
        files = find_log_files(paths, store=store_for(paths[0]))
    except LogReadError as error:
        raise CommandError(f"{error.path}: {error.reason}") from None
    if not files:
        raise CommandError(f"{', '.join(paths)}: no segment (.log) and no snapshot (.checkpoint) of Kafka is there")
    if table is None or not table.logs:
        return files
    read = tuple(file for file in files if file.topic is None or file.topic in table.logs)
    if not read:
        there = ", ".join(sorted({file.log for file in files})[:_NAMED_LOGS])
        raise CommandError(f"{table.name} is in the log of {' or '.join(sorted(table.logs))}; there are only {there}")
    return read


def batches_of(
    table: str,
    paths: Sequence[str],
    options: ReadOptions,
    accounts: Accounts,
    console: Console,
    max_errors: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """All rows of a table.

    Args:
        table: its name.
        paths: where the logs are.
        options: what to read, and how.
        accounts: what is counted there.
        console: for the progress bar, if it is a terminal.
        max_errors: how many errors are allowed; None for any number.

    Raises:
        CommandError: there are no logs, they cannot be read, or there are too many errors.
    """
    try:
        with progress_bar(console) as report:

            def tell(done: int, total: int) -> None:
                report(f"{table} (MiB)", done // _MEBIBYTE, total // _MEBIBYTE)

            for batch in read_table(table, paths, options, accounts=accounts, progress=tell):
                _refuse_more_errors(accounts, max_errors)
                yield batch
            _refuse_more_errors(accounts, max_errors)
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
