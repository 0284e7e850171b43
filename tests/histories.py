"""Rows of histories, as Python sees them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from kafkawire.logs import Accounts, ReadOptions, read_table, table_named

Row: TypeAlias = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def history(name: str, *paths: Path, options: ReadOptions | None = None, accounts: Accounts | None = None) -> list[Row]:
    """The rows of a history of the logs that paths lead to."""
    options = options or ReadOptions()
    booked = Accounts() if accounts is None else accounts
    batches = list(read_table(name, [str(path) for path in paths], options, accounts=booked))
    schema = table_named(name, options).schema
    assert all(batch.schema.equals(schema) for batch in batches)
    assert booked.balanced
    return pa.Table.from_batches(batches, schema).to_pylist()


def still_open(rows: Sequence[Row]) -> list[Row]:
    """The rows that say what is so at the end of the log."""
    return [row for row in rows if row["valid_to"] is None]


def time(milliseconds: int) -> datetime:
    """A time of Kafka."""
    return _EPOCH + timedelta(milliseconds=milliseconds)
