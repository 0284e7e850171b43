"""From decoded structs to Arrow arrays, an array for each field; structs inside them become arrays in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from operator import attrgetter
from typing import Any, cast

import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowArray, nulls
from kafkawire.columns.field_arrays import array_of_values
from kafkawire.layout import FIELD_TYPES, FieldLayout, StructLayout
from kafkawire.wire import Struct

_OFFSETS = pa.int32()


def struct_arrays(layout: StructLayout, structs: Sequence[Struct], types: Sequence[pa.DataType]) -> list[ArrowArray]:
    """An array for each field of the structs, of the given type; all null if the layout lacks the field."""
    return [
        nulls(len(structs), type_)
        if field.presence == "absent"
        else _field_array(field, list(map(attrgetter(field.attribute), structs)), type_)
        for field, type_ in zip(layout.fields, types, strict=True)
    ]


def _field_array(field: FieldLayout, values: list[Any], type_: pa.DataType) -> ArrowArray:
    if not field.array:
        return _element_array(field, values, type_)
    lists = values if None not in values else [() if value is None else value for value in values]
    offsets: list[int | None] = list(accumulate(map(len, lists), initial=0))
    if lists is not values:
        offsets[:-1] = [None if value is None else at for value, at in zip(values, offsets, strict=False)]
    element_type = cast("pa.ListType[pa.DataType]", type_).value_type
    elements = _element_array(field, list(chain.from_iterable(lists)), element_type)
    return pa.ListArray.from_arrays(pa.array(offsets, _OFFSETS), elements)


def _element_array(field: FieldLayout, values: list[Any], type_: pa.DataType) -> ArrowArray:
    if field.struct is None:
        return array_of_values(FIELD_TYPES[field.type], values)
    structs = values if None not in values else [value for value in values if value is not None]
    fields = list(cast("pa.StructType", type_))
    arrays = struct_arrays(field.struct, structs, [each.type for each in fields])
    made = pa.StructArray.from_arrays(arrays, fields=fields) if fields else pa.array([{}] * len(structs), type_)
    if structs is values:
        return made
    places = iter(range(len(structs)))
    return made.take(pa.array([None if value is None else next(places) for value in values], _OFFSETS))
