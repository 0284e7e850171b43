"""Columns of a history from Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from kafkawire.logs.times import TIMESTAMP, microseconds

_Column: TypeAlias = Sequence[object]
Columns: TypeAlias = Mapping[str, _Column]
"""The cells of columns by their names; times are in milliseconds since the epoch."""


def value_columns(values: Sequence[Sequence[object] | None], width: int) -> Sequence[_Column]:
    """Tuples of ``width`` values column by column; null where there is no tuple."""
    unknown = (None,) * width
    return tuple(zip(*[each or unknown for each in values], strict=True)) or ((),) * width


def record_batch(schema: pa.Schema, columns: Columns) -> pa.RecordBatch:
    """Rows with the columns of a schema.

    Raises:
        KeyError: a column is missing.
    """
    arrays = [pa.array(_cells(columns[field.name], field.type), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _cells(cells: _Column, kind: pa.DataType) -> _Column:
    if not kind.equals(TIMESTAMP):
        return cells
    return [microseconds(cell) if isinstance(cell, int) else None for cell in cells]
