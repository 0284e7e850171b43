"""Rows of histories, as Python sees them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from kafkawire.logs import Accounts, ReadOptions, read_table, table_named

Row: TypeAlias = dict[str, Any]

OF_METADATA = (
    *("acl_history", "quota_history", "config_history", "scram_history", "topic_history", "feature_history"),
    *("broker_history", "controller_history", "token_history", "partition_history"),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def history(name: str, *paths: Path, options: ReadOptions | None = None, accounts: Accounts | None = None) -> list[Row]:
    """The rows of a history of the logs at some paths; for a history of metadata, without the rows about losses."""
    rows, _ = history_and_losses(name, *paths, options=options, accounts=accounts)
    return rows


def history_and_losses(
    name: str, *paths: Path, options: ReadOptions | None = None, accounts: Accounts | None = None
) -> tuple[list[Row], list[Row]]:
    """The rows of a history, and of one of the metadata those of losses by themselves: one for each error."""
    rows = _rows(name, paths, options or ReadOptions(), booked := Accounts())
    if accounts is not None:
        accounts.merge(booked)
    if name not in OF_METADATA or "_error" not in rows.schema.names:
        return rows.to_pylist(), []
    found = rows.drop_columns(["_error", "log"]).to_pylist()
    errors = rows.column("_error").to_pylist()
    lost = [row for row in rows.to_pylist() if row["_error"] is not None]
    if options is None or options.as_of is None:
        assert sorted(error for error in errors if error) == sorted(Counter(booked.errors).elements())
    return [row for row, error in zip(found, errors, strict=True) if error is None], lost


def _rows(name: str, paths: Sequence[Path], options: ReadOptions, booked: Accounts) -> pa.Table:
    batches = list(read_table(name, [str(path) for path in paths], options, accounts=booked))
    schema = table_named(name, options).schema
    assert all(batch.schema.equals(schema) for batch in batches)
    assert booked.balanced
    return pa.Table.from_batches(batches, schema)


def still_open(rows: Sequence[Row]) -> list[Row]:
    """The rows that hold at the end of the log."""
    return [row for row in rows if row["valid_to"] is None]


def time(milliseconds: int) -> datetime:
    """A time of Kafka."""
    return _EPOCH + timedelta(milliseconds=milliseconds)
