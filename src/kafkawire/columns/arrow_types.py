"""The Arrow types of messages and their fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias, cast

import pyarrow as pa

from kafkawire.layout import FIELD_TYPES, FieldType, MessageLayouts, StructLayout

ArrowArray: TypeAlias = "pa.Array[pa.Scalar[pa.DataType]]"
"""An array of any type."""

ArrowField: TypeAlias = "pa.Field[pa.DataType]"
"""A column of any type."""


def arrow_type(type_: FieldType) -> pa.DataType:
    """The type of a column of such values."""
    return cast("pa.DataType", pa.type_for_alias(cast("Any", type_.arrow)))


def message_schema(layouts: MessageLayouts) -> pa.Schema:
    """The fields of all versions of a message; any of them may be null, because a version may lack it."""
    return pa.schema(_fields(layouts.layouts))


def _fields(layouts: Iterable[StructLayout]) -> list[ArrowField]:
    """The fields of a struct. Each of its layouts has all of them, but only the versions of a field have its struct."""
    made = []
    for fields in zip(*(layout.fields for layout in layouts), strict=True):
        structs = dict.fromkeys(field.struct for field in fields if field.struct is not None)
        first = fields[0]
        element = pa.struct(_fields(structs)) if first.struct_name else arrow_type(FIELD_TYPES[first.type])
        made.append(pa.field(first.attribute, pa.list_(element) if first.array else element))
    return made


def nulls(count: int, type_: pa.DataType) -> ArrowArray:
    """An array of a type without any value."""
    return pa.nulls(count).cast(type_)
