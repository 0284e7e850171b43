"""Columns of a history from Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.logs.times import TIMESTAMP, timestamps

_Column: TypeAlias = "Sequence[object] | ArrowArray"
Columns: TypeAlias = Mapping[str, _Column]
"""The cells of columns by their names; times are in milliseconds since the epoch."""


def value_columns(values: Sequence[Sequence[object] | None], width: int) -> Sequence[Sequence[object]]:
    """Tuples of ``width`` values column by column; null where there is no tuple."""
    return [[None if each is None else each[at] for each in values] for at in range(width)]


def record_batch(schema: pa.Schema, columns: Columns) -> pa.RecordBatch:
    """Rows with the columns of a schema.

    Raises:
        KeyError: a column is missing.
    """
    arrays = [_array(columns[field.name], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(cells: _Column, kind: pa.DataType) -> ArrowArray:
    if kind.equals(TIMESTAMP):
        return timestamps(cells if isinstance(cells, pa.Int64Array) else pa.array(cells, pa.int64()))
    return cells if isinstance(cells, pa.Array) else pa.array(cells, kind)
