"""From the schema of a generated module to Arrow's."""

from __future__ import annotations

import pyarrow as pa

from kafkawire.wire.columns import ColumnType, Schema


def arrow_schema(schema: Schema) -> pa.Schema:
    """The fields of a message; any of them may be null, for a version may lack it."""
    return pa.schema(_fields(schema))


def _fields(schema: Schema) -> list[pa.Field]:
    return [pa.field(name, _arrow_type(type_)) for name, type_ in schema]


def _arrow_type(type_: ColumnType) -> pa.DataType:
    if isinstance(type_, str):
        return pa.type_for_alias(type_)
    return pa.list_(_arrow_type(type_[0])) if isinstance(type_, list) else pa.struct(_fields(type_))
