"""From the columns of the native engine to Arrow arrays, without a copy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowArray, nulls
from kafkawire.layout import FieldLayout, StructLayout
from kafkawire.wire.programs import fields_of_program

if TYPE_CHECKING:
    from kafkawire._native import NativeColumn


def arrays_of_struct(
    layout: StructLayout, columns: Sequence[NativeColumn], types: Iterable[pa.DataType], count: int
) -> list[ArrowArray]:
    """An array for each field of a struct.

    Args:
        layout: of the struct.
        columns: of its fields, in the order of its program.
        types: of its fields, in the order of the layout.
        count: of the structs.
    """
    by_name = {field.name: column for field, column in zip(fields_of_program(layout), columns, strict=True)}
    return [
        _array_of_field(field, by_name[field.name], type_, count)
        for field, type_ in zip(layout.fields, types, strict=True)
    ]


def flat_array(column: NativeColumn, type_: pa.DataType) -> ArrowArray:
    """An array of a column without children."""
    count, buffers, _ = column
    return _array(type_, count, buffers)


def _array_of_field(field: FieldLayout, column: NativeColumn, type_: pa.DataType, count: int) -> ArrowArray:
    if field.presence == "absent":
        return nulls(count, type_)
    if not field.array:
        return _array_of_element(field, column, type_)
    of_lists, buffers, (elements,) = column
    element_type = cast("pa.ListType[pa.DataType]", type_).value_type
    return _array(type_, of_lists, buffers, [_array_of_element(field, elements, element_type)])


def _array_of_element(field: FieldLayout, column: NativeColumn, type_: pa.DataType) -> ArrowArray:
    if field.struct is None:
        return flat_array(column, type_)
    count, buffers, children = column
    types = (each.type for each in cast("pa.StructType", type_))
    return _array(type_, count, buffers, arrays_of_struct(field.struct, children, types, count))


def _array(
    type_: pa.DataType, count: int, buffers: Sequence[bytes | None] | None, children: list[ArrowArray] | None = None
) -> ArrowArray:
    in_arrow = [None if each is None else pa.py_buffer(each) for each in buffers or ()]
    return cast("ArrowArray", pa.Array.from_buffers(type_, count, in_arrow, children=children))
