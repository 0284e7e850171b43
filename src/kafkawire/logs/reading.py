"""Tables as streams of Arrow's record batches, part by part or all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike, fspath
from typing import TypeAlias

import pyarrow as pa

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.catalogue import table_named
from kafkawire.logs.files.arrow_store import store_for
from kafkawire.logs.files.log_files import find_log_files
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.planning import plan
from kafkawire.logs.tables.table import Part, Table

__all__ = ["Progress", "read_part", "read_table"]

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how many bytes of how many have been read."""


def read_part(
    table: Table, part: Part, options: ReadOptions, accounts: Accounts, *, store: FileStore = LOCAL
) -> Iterator[pa.RecordBatch]:
    """The rows of a part of a table, in batches with exactly the schema of the table and no more than 8192 rows.

    Raises:
        LogReadError: mode FAILFAST: at the first thing that cannot be read. Any mode: a file that cannot be opened.
    """
    return table.read(part, options, accounts, store)


def read_table(
    name: str,
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    options: ReadOptions = DEFAULT_OPTIONS,
    *,
    accounts: Accounts | None = None,
    progress: Progress | None = None,
    store: FileStore | None = None,
) -> Iterator[pa.RecordBatch]:
    """All rows of a table, in the order of the logs.

    Args:
        name: one of ``table_names()``.
        paths: see ``find_log_files``; a URI that Arrow knows, such as ``s3://bucket/logs``, is read through Arrow.
        options: what to read, and how.
        accounts: gets the counts.
        progress: is told how far the reading is.
        store: where the paths are, if neither here nor Arrow's.

    Raises:
        UnknownTableError, UnknownColumnError: there is no such table or column.
        LogReadError: a path cannot be read; in mode FAILFAST, bytes.
    """
    table = table_named(name, options)
    listed = [fspath(each) for each in ((paths,) if isinstance(paths, str | PathLike) else paths)]
    place = store or (store_for(listed[0]) if listed else LOCAL)
    files = find_log_files(listed, store=place)
    parts = plan(table, files, store=place, options=options)
    booked = Accounts() if accounts is None else accounts
    rows = (batch for part in parts for batch in read_part(table, part, options, booked, store=place))
    return rows if progress is None else _watched(rows, parts, booked, progress)


def _watched(
    rows: Iterator[pa.RecordBatch], parts: Sequence[Part], accounts: Accounts, progress: Progress
) -> Iterator[pa.RecordBatch]:
    total = sum(each.end - each.start for part in parts for each in part.files)
    for batch in rows:
        progress(min(accounts.bytes_read, total), total)
        yield batch
    progress(total, total)
