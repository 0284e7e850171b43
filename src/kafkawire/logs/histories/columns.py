"""Columns of a table out of intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import pyarrow as pa

from kafkawire.layout import Uuid
from kafkawire.logs.histories.intervals import Interval, K
from kafkawire.logs.histories.times import LATEST

__all__ = ["TIMESTAMP", "Column", "Columns", "record_batch", "schema_of", "texts_of_uuids", "value_columns"]

TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
Column: TypeAlias = Sequence[object]
"""The cells of a column; a time is in milliseconds since the epoch, and null in the table if no calendar has it."""
Columns: TypeAlias = Mapping[str, Column]
"""Columns by their names."""

_MICROSECONDS: Final = 1000


def schema_of(types: Mapping[str, pa.DataType]) -> pa.Schema:
    """Columns of some names and types, all of which may be null."""
    return pa.schema(types)


def value_columns(intervals: Sequence[Interval[K]], width: int) -> Sequence[Column]:
    """The values of intervals column by column; null where only the end is known."""
    unknown = (None,) * width
    columns = tuple(zip(*[interval.values or unknown for interval in intervals], strict=True))
    return columns or ((),) * width


def texts_of_uuids(ids: Iterable[Uuid]) -> Column:
    """Ids in Kafka's base64."""
    return [str(each) for each in ids]


def record_batch(schema: pa.Schema, columns: Columns) -> pa.RecordBatch:
    """The rows of a table.

    Raises:
        KeyError: a column is missing.
    """
    arrays = [pa.array(_cells(columns[field.name], field.type), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _cells(cells: Column, kind: pa.DataType) -> Column:
    if not kind.equals(TIMESTAMP):
        return cells
    return [cell * _MICROSECONDS if isinstance(cell, int) and cell <= LATEST else None for cell in cells]
