"""Tables as streams of Arrow's record batches: a part, several parts, or all of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import TypeAlias, cast

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.catalogue import table_named
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.planning import find_logs, plan
from kafkawire.logs.tables.table import Part, Table
from kafkawire.logs.typed_batches import RecordBatch

Progress: TypeAlias = Callable[[int, int], None]
"""Gets how many bytes have been read, and how many there are."""


def read_part(
    table: Table, part: Part, options: ReadOptions, accounts: Accounts, *, store: FileStore = LOCAL
) -> Iterator[RecordBatch]:
    """The rows of a part of a table, in batches with exactly the schema of the table and no more than 8192 rows.

    Raises:
        LogReadError: mode FAILFAST: at the first bytes that cannot be decoded. Any mode: a file that cannot be opened.

    Example:
        ```python
        from kafkawire.logs import Accounts, ReadOptions, find_log_files, plan, read_part, table_named

        options, accounts = ReadOptions(), Accounts()
        table = table_named("records", options)
        for part in plan(table, find_log_files(["/var/lib/kafka/data"])):  # each may go to another process
            for batch in read_part(table, part, options, accounts):
                print(batch.num_rows, "rows")
        ```
    """
    return cast(Iterator[RecordBatch], table.read(part, options, accounts, store))


def read_parts(
    table: Table,
    parts: Sequence[Part],
    options: ReadOptions,
    accounts: Accounts,
    *,
    store: FileStore,
    max_errors: int | None = None,
    processes: int = 1,
) -> Iterator[RecordBatch]:
    """The rows of parts, one after the other.

    Args:
        table: what to read.
        parts: of the table.
        options: what to read, and how.
        accounts: gets the counts.
        store: where the files are.
        max_errors: how many errors are allowed; None for any number.
        processes: how many processes read; with one, this process does.

    Raises:
        LogReadError: as ``read_part``; with several processes, as ``read_in_processes``.
        TooManyErrorsError: the accounts have more errors than ``max_errors``.
    """
    for batch in _rows_of_parts(table, parts, options, accounts, store=store, processes=processes):
        accounts.check_errors(max_errors)
        yield batch
    accounts.check_errors(max_errors)


def _rows_of_parts(
    table: Table, parts: Sequence[Part], options: ReadOptions, accounts: Accounts, *, store: FileStore, processes: int
) -> Iterator[RecordBatch]:
    if processes > 1:
        from kafkawire.logs.parallel_reading import read_in_processes  # noqa: PLC0415 7 ms to import multiprocessing

        rows = read_in_processes(table, parts, options, accounts, store=store, processes=processes)
        yield from cast(Iterator[RecordBatch], rows)
        return
    for part in parts:
        yield from read_part(table, part, options, accounts, store=store)


def read_table(
    name: str,
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    options: ReadOptions = DEFAULT_OPTIONS,
    *,
    accounts: Accounts | None = None,
    progress: Progress | None = None,
    store: FileStore | None = None,
    processes: int = 1,
) -> Iterator[RecordBatch]:
    """All rows of a table, in the order of the logs.

    Args:
        name: one of ``table_names()``.
        paths: see ``find_log_files``; a URI that Arrow knows, such as ``s3://bucket/logs``, is read through Arrow.
        options: what to read, and how.
        accounts: gets the counts.
        progress: is called after each batch.
        store: where the paths are, if neither on this machine nor in a store that Arrow reads.
        processes: how many processes read parts of the logs, about 64 MiB each. The rows and their order are the same,
            except that several processes give the rows of a large log of a history in another order, which is the same
            for any number of them; ``lag_history`` is read by one. With more than one, a script needs
            ``if __name__ == "__main__":`` around its own work, since Python imports it again in each process.

    Raises:
        UnknownTableError, UnknownColumnError: there is no such table or column.
        OptionError: an option does not fit the table.
        LogReadError: a path cannot be read; in mode FAILFAST, bytes.

    Example:
        ```python
        from kafkawire.logs import ReadOptions, read_table

        options = ReadOptions(columns=("name", "topic_id"))
        for batch in read_table("topic", "/var/lib/kafka/data/__cluster_metadata-0", options):
            for row in batch.to_pylist():
                print(row["name"], row["topic_id"])
        ```
    """
    table = table_named(name, options)
    logs = find_logs([paths] if isinstance(paths, str | PathLike) else paths, store=store)
    parts = plan(table, logs.files, store=logs.store, options=options)
    counted = Accounts() if accounts is None else accounts
    rows = read_parts(table, parts, options, counted, store=logs.store, processes=processes)
    return rows if progress is None else _watched(rows, parts, counted, progress)


def _watched(
    rows: Iterator[RecordBatch], parts: Sequence[Part], accounts: Accounts, progress: Progress
) -> Iterator[RecordBatch]:
    total = sum(part.bytes for part in parts)
    for batch in rows:
        progress(min(accounts.bytes_read, total), total)
        yield batch
    progress(total, total)
