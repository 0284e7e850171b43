"""The shape of a message: the positions of its fields. Arrow's kernels read all messages of a shape at once.

Two messages of one version whose lengths, counts and tags are the same bytes have their fields at the same positions.
Most messages in a log repeat a few shapes with other values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from struct import Struct
from typing import Final, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.columns.field_arrays import array_of_octets, column_value
from kafkawire.layout import FIELD_TYPES, FieldLayout, FieldType, StructLayout
from kafkawire.wire.varint import read_uvarint

_ARRAY_COUNT: Final = Struct(">i")

_Column: TypeAlias = Callable[["pa.BinaryArray"], ArrowArray]
"""Makes a column of the bytes of a field."""


class _NoShape(Exception):  # noqa: N818 no error: such messages are decoded one by one
    """The message has a struct or an array of variable-length values."""


@dataclass(frozen=True)
class _Place:
    """The position of a field, and the function that makes a column of the bytes there."""

    start: int
    end: int
    column: _Column


@dataclass(frozen=True)
class _Constant:
    """The value that a field has in all messages of the shape."""

    value: object


@dataclass(frozen=True)
class MessageShape:
    """The positions of the fields in messages of one version and length.

    Attributes:
        first: a message of the shape.
        prefixes: the ranges of its lengths, counts and tags. A message with the same bytes there has the same shape.
        fields: a column for each field of the message.
    """

    first: bytes
    prefixes: Sequence[tuple[int, int]]
    fields: Sequence[_Place | _Constant]

    def mask(self, octets: pa.BinaryArray) -> pa.BooleanArray:
        """True for each message of the shape; all messages have the length of the first."""
        mask = pa.repeat(pa.scalar(True), len(octets))
        for start, end in self.prefixes:
            same = pc.equal(pc.binary_slice(octets, start, end), pa.scalar(self.first[start:end], pa.binary()))
            mask = pc.and_(mask, same)
        return mask

    def columns(self, octets: pa.BinaryArray, types: Sequence[pa.DataType]) -> list[ArrowArray]:
        """The fields of messages of the shape.

        Raises:
            ArrowInvalid: some text is not UTF-8.
        """
        return [
            pa.repeat(cast("pa.Int64Scalar", pa.scalar(field.value, type_)), len(octets))
            if isinstance(field, _Constant)
            else field.column(pc.binary_slice(octets, field.start, field.end))
            for field, type_ in zip(self.fields, types, strict=True)
        ]


def shape_of(layout: StructLayout, message: bytes, start: int) -> MessageShape | None:
    """The shape of a message.

    Args:
        layout: of its version.
        message: bytes that are such a message from ``start`` to their end.
        start: where it begins.

    Returns:
        The shape, or None if the message has structs, arrays of structs or arrays of text that are not empty.
    """
    walk = _Walk(message, start)
    try:
        fields = walk.struct(layout)
    except _NoShape:
        return None
    return MessageShape(message, walk.prefixes, fields)


class _Walk:
    """Goes through a message field by field, and notes positions."""

    def __init__(self, message: bytes, start: int) -> None:
        self._message = message
        self._at = start
        self.prefixes: list[tuple[int, int]] = []

    def struct(self, layout: StructLayout) -> list[_Place | _Constant]:
        found: dict[str, _Place | _Constant] = {field.name: _Constant(None) for field in layout.absent}
        for field in layout.inline:
            found[field.name] = self._field(field)
        if layout.flexible:
            found |= self._tagged(layout)
        return [found[field.name] for field in layout.fields]

    def _tagged(self, layout: StructLayout) -> dict[str, _Place | _Constant]:
        """The tagged fields in the section, and the defaults of the others."""
        known = {field.tag: field for field in layout.tagged}
        found = {field.name: _Constant(_default(field)) for field in layout.tagged}
        places: dict[str, _Place | _Constant] = {}
        for _ in range(self._uvarint()):
            tag, size = self._uvarint(), self._uvarint()
            end = self._at + size
            if tag in known:
                places[known[tag].name] = self._field(known[tag])
            self._at = end
        return {**found, **places}

    def _field(self, field: FieldLayout) -> _Place | _Constant:
        type_ = FIELD_TYPES.get(field.type)
        if field.array:
            return self._array(type_, compact=field.compact)
        if type_ is None:
            raise _NoShape
        if type_.size is not None:
            return self._place(type_.size, partial(array_of_octets, type_))
        if type_.length_code is None:
            raise _NoShape
        size = self._length(field.compact, Struct(">" + type_.length_code))
        return _Constant(None) if size < 0 else self._place(size, partial(array_of_octets, type_))

    def _array(self, type_: FieldType | None, *, compact: bool) -> _Place | _Constant:
        """An empty array, or one of fixed-width elements."""
        count = self._length(compact, _ARRAY_COUNT)
        if count <= 0:
            return _Constant(None if count < 0 else [])
        if type_ is None or type_.size is None:
            raise _NoShape
        return self._place(count * type_.size, partial(_lists, type_, type_.size, count))

    def _place(self, size: int, column: _Column) -> _Place:
        start = self._at
        self._at += size
        return _Place(start, self._at, column)

    def _length(self, compact: bool, plain: Struct) -> int:
        """A length or count; -1 for null."""
        if compact:
            return self._uvarint() - 1
        (length,) = plain.unpack_from(self._message, self._at)
        self._prefix(self._at + plain.size)
        return int(length)

    def _uvarint(self) -> int:
        number, end = read_uvarint(self._message, self._at)
        self._prefix(end)
        return number

    def _prefix(self, end: int) -> None:
        """Add the bytes up to ``end`` to the prefixes; adjacent ranges become one."""
        start = self.prefixes.pop()[0] if self.prefixes and self.prefixes[-1][1] == self._at else self._at
        self.prefixes.append((start, end))
        self._at = end


def _default(field: FieldLayout) -> object:
    """The value of a tagged field in messages without it (tagged-read-absent)."""
    if field.struct is not None and not field.array and field.default is not None:
        raise _NoShape
    if field.default == ():
        return []
    return field.default if field.struct is not None else column_value(FIELD_TYPES[field.type], field.default)


def _lists(type_: FieldType, size: int, count: int, octets: pa.BinaryArray) -> ArrowArray:
    """Arrays of ``count`` elements, of ``size`` bytes each."""
    lists = octets.cast(pa.binary(count * size))
    elements = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(size), len(octets) * count, [None, lists.buffers()[1]], offset=lists.offset * count
    )
    offsets = pa.array(range(0, (len(octets) + 1) * count, count), pa.int32())
    return pa.ListArray.from_arrays(offsets, array_of_octets(type_, cast("pa.BinaryArray", elements.cast(pa.binary()))))
