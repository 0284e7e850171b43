"""From values of a field type, or from their bytes, to an Arrow array; the type's record says how."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray, arrow_type
from kafkawire.layout import FieldType

_OCTET = pa.uint8()
_NO_SEPARATOR = pa.scalar(b"", pa.binary())


def array_of_values(type_: FieldType, values: Iterable[object]) -> ArrowArray:
    """An array of decoded values; None is null."""
    if type_.arrow == "string" and type_.annotation != "str":
        values = list(values)
        texts = {value: column_value(type_, value) for value in set(values)}  # a log repeats a few
        values = [texts[value] for value in values]
    return cast("ArrowArray", pa.array(values, arrow_type(type_)))


def column_value(type_: FieldType, value: object) -> object:
    """A value as its column holds it."""
    return str(value) if type_.arrow == "string" and value is not None else value


def array_of_octets(type_: FieldType, octets: pa.BinaryArray) -> ArrowArray:
    """An array of values from the bytes of each; those of variable length without their length.

    Raises:
        ArrowInvalid: some text is not UTF-8.
    """
    arrow = arrow_type(type_)
    if type_.size is None:
        return octets.cast(arrow)
    if type_.load is None and pa.types.is_primitive(arrow):
        return _numbers(octets, type_, arrow)
    distinct = octets.dictionary_encode()
    values = map(type_.unpack, cast("list[bytes]", distinct.dictionary.to_pylist()))
    return array_of_values(type_, values).take(distinct.indices)


def _numbers(octets: pa.BinaryArray, type_: FieldType, arrow: pa.DataType) -> ArrowArray:
    """Big-endian numbers; zeros in front widen the unsigned ones to their column."""
    read_as = _OCTET if pa.types.is_boolean(arrow) else arrow
    width = read_as.bit_width // 8
    if width > (type_.size or 0):
        zeros = pa.repeat(bytes(width - (type_.size or 0)), len(octets))
        octets = pc.binary_join_element_wise(cast("Any", zeros), octets, _NO_SEPARATOR)
    if sys.byteorder == "little":
        octets = pc.binary_reverse(octets)
    return octets.cast(pa.binary(width)).view(read_as).cast(arrow)
