"""From the schema of a generated module to Arrow's."""

from __future__ import annotations

from typing import TypeAlias

import pyarrow as pa

from kafkawire.wire.columns import ColumnType, ColumnTypes

ArrowArray: TypeAlias = "pa.Array[pa.Scalar[pa.DataType]]"
"""An array of any type."""

_TYPES: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
}


def arrow_schema(columns: ColumnTypes) -> pa.Schema:
    """The fields of a message; any of them may be null, for a version may lack it."""
    return pa.schema(_fields(columns))


def _fields(columns: ColumnTypes) -> list[pa.Field[pa.DataType]]:
    return [pa.field(name, _arrow_type(type_)) for name, type_ in columns]


def _arrow_type(type_: ColumnType) -> pa.DataType:
    if isinstance(type_, str):
        return _TYPES[type_]
    return pa.list_(_arrow_type(type_[0])) if isinstance(type_, list) else pa.struct(_fields(type_))


def nulls(count: int, type_: pa.DataType) -> ArrowArray:
    """An array of a type without any value."""
    return pa.nulls(count).cast(type_)
