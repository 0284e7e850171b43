"""Rows of histories, as Python sees them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import find_log_files
from kafkawire.logs.files.store import LOCAL
from kafkawire.logs.histories.tables import history_table
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.scanning.found import FileRange
from kafkawire.logs.tables.table import Part

Row: TypeAlias = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def history(
    name: str, *paths: Path, options: ReadOptions = DEFAULT_OPTIONS, accounts: Accounts | None = None
) -> list[Row]:
    """The rows of a history of the logs that paths lead to."""
    table = history_table(name, options)
    files = find_log_files([str(path) for path in paths])
    part = Part(tuple(FileRange(file, 0, file.size) for file in files if file.topic in table.logs))
    booked = Accounts() if accounts is None else accounts
    batches = list(table.read(part, options, booked, LOCAL))
    assert all(batch.schema.equals(table.schema) for batch in batches)
    assert booked.balanced
    return pa.Table.from_batches(batches, table.schema).to_pylist()


def still_open(rows: Sequence[Row]) -> list[Row]:
    """The rows that say what is so at the end of the log."""
    return [row for row in rows if row["valid_to"] is None]


def time(milliseconds: int) -> datetime:
    """A time of Kafka."""
    return _EPOCH + timedelta(milliseconds=milliseconds)
