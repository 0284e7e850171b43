"""Messages of equal shape: those whose fields stand at the same places, so that Arrow cuts all of them at once.

A log holds the same few records over and over with other numbers in them. Where the lengths and counts in two messages
of one version are the same bytes, so are the places of all fields.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Final, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray, nulls
from kafkawire.layout import FIELD_TYPES, FieldLayout, FieldType, StructLayout, Uuid
from kafkawire.wire.columns import uuid_text
from kafkawire.wire.varint import read_uvarint

__all__ = ["MessageShape", "shape_of"]

_SIGNED: Final = {"uint16": pa.int32(), "uint32": pa.int64()}
_FIXED: Final[dict[str, pa.DataType]] = {
    "int8": pa.int8(),
    "int16": pa.int16(),
    "uint16": pa.uint16(),
    "int32": pa.int32(),
    "uint32": pa.uint32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
}
_FALSE: Final = pa.scalar(0, pa.uint8())
_ARRAY_COUNT: Final = Struct(">i")


_Column: TypeAlias = Callable[["pa.BinaryArray"], ArrowArray]
"""Makes a column of the octets of a field."""


class _NoShape(Exception):  # noqa: N818 no error: such messages are read one by one
    """A field of the message has no place of its own."""


@dataclass(frozen=True)
class _Place:
    """Where a field stands, and what makes a column of the octets there."""

    start: int
    end: int
    column: _Column


@dataclass(frozen=True)
class _Constant:
    """The value that a field has in all messages of the shape."""

    value: object


@dataclass(frozen=True)
class MessageShape:
    """Where the fields of some messages stand.

    Attributes:
        first: a message of the shape.
        signs: the ranges of octets that make the shape: messages of the same length with the same octets there have it.
        fields: a column for each field of the message.
    """

    first: bytes
    signs: Sequence[tuple[int, int]]
    fields: Sequence[_Place | _Constant]

    def mask(self, octets: pa.BinaryArray) -> pa.BooleanArray:
        """Which of the messages, all of the same length, have the shape."""
        mask = pa.repeat(pa.scalar(True), len(octets))
        for start, end in self.signs:
            same = pc.equal(pc.binary_slice(octets, start, end), pa.scalar(self.first[start:end], pa.binary()))
            mask = pc.and_(mask, same)
        return mask

    def columns(self, octets: pa.BinaryArray, types: Sequence[pa.DataType]) -> list[ArrowArray]:
        """The fields of messages that all have the shape.

        Raises:
            ArrowInvalid: some text is not UTF-8.
        """
        return [
            _repeated(field.value, len(octets), type_)
            if isinstance(field, _Constant)
            else field.column(pc.binary_slice(octets, field.start, field.end))
            for field, type_ in zip(self.fields, types, strict=True)
        ]


def shape_of(layout: StructLayout, message: bytes, start: int) -> MessageShape | None:
    """The shape of a message.

    Args:
        layout: of its version.
        message: octets that are such a message from ``start`` to their end.
        start: where it begins.

    Returns:
        The shape, or None if the message has structs, arrays of structs or arrays of text that are not empty.
    """
    walk = _Walk(message, start)
    try:
        fields = walk.struct(layout)
    except _NoShape:
        return None
    return MessageShape(message, walk.signs, fields)


class _Walk:
    """A way through a message, field by field."""

    def __init__(self, message: bytes, start: int) -> None:
        self._message = message
        self._at = start
        self.signs: list[tuple[int, int]] = []

    def struct(self, layout: StructLayout) -> list[_Place | _Constant]:
        found: dict[str, _Place | _Constant] = {field.name: _Constant(None) for field in layout.absent}
        for field in layout.inline:
            found[field.name] = self._field(field)
        if layout.flexible:
            found |= self._tagged(layout)
        return [found[field.name] for field in layout.fields]

    def _tagged(self, layout: StructLayout) -> dict[str, _Place | _Constant]:
        """The tagged fields that are there, and the defaults of the others."""
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
            return self._place(type_.size, _column_of(type_.name))
        if type_.length_code is None:
            raise _NoShape
        size = self._length(field.compact, Struct(">" + type_.length_code))
        return _Constant(None) if size < 0 else self._place(size, _column_of(type_.name))

    def _array(self, type_: FieldType | None, *, compact: bool) -> _Place | _Constant:
        """An array of nothing, or of elements of fixed size."""
        count = self._length(compact, _ARRAY_COUNT)
        if count <= 0:
            return _Constant(None if count < 0 else [])
        if type_ is None or type_.size is None:
            raise _NoShape
        return self._place(count * type_.size, _lists_of(count, type_.size, _column_of(type_.name)))

    def _place(self, size: int, column: _Column) -> _Place:
        start = self._at
        self._at += size
        return _Place(start, self._at, column)

    def _length(self, compact: bool, plain: Struct) -> int:
        """A length or count; -1 for null."""
        if compact:
            return self._uvarint() - 1
        (length,) = plain.unpack_from(self._message, self._at)
        self._sign(self._at + plain.size)
        return int(length)

    def _uvarint(self) -> int:
        number, end = read_uvarint(self._message, self._at)
        self._sign(end)
        return number

    def _sign(self, end: int) -> None:
        """The octets up to there make the shape; those that follow each other are one range."""
        start = self.signs.pop()[0] if self.signs and self.signs[-1][1] == self._at else self._at
        self.signs.append((start, end))
        self._at = end


def _default(field: FieldLayout) -> object:
    """What a tagged field has in messages without it (tagged-read-absent)."""
    if field.struct is not None and not field.array and field.default is not None:
        raise _NoShape
    if field.default == ():
        return []
    return str(field.default) if isinstance(field.default, Uuid) else field.default


def _column_of(type_name: str) -> _Column:
    """What makes a column of the octets of values of a type."""
    match type_name:
        case "string":
            return lambda octets: octets.cast(pa.string())
        case "bytes" | "records":
            return lambda octets: octets
        case "uuid":
            return _uuid_texts
        case "bool":
            return lambda octets: pc.not_equal(octets.cast(pa.binary(1)).view(pa.uint8()), _FALSE)
    type_ = _FIXED[type_name]
    return lambda octets: _numbers(octets, type_, _SIGNED.get(type_name))


def _lists_of(count: int, size: int, elements_of: _Column) -> _Column:
    """What makes a column of arrays of so many elements, each of so many octets."""

    def column(octets: pa.BinaryArray) -> ArrowArray:
        together = octets.cast(pa.binary(count * size))
        apart = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(size), len(octets) * count, [None, together.buffers()[1]], offset=together.offset * count
        )
        offsets = pa.array(range(0, (len(octets) + 1) * count, count), pa.int32())
        return pa.ListArray.from_arrays(offsets, elements_of(cast("pa.BinaryArray", apart.cast(pa.binary()))))

    return column


def _numbers(octets: pa.BinaryArray, type_: pa.DataType, signed: pa.DataType | None) -> ArrowArray:
    own_order = pc.binary_reverse(octets) if sys.byteorder == "little" else octets
    numbers: ArrowArray = own_order.cast(pa.binary(type_.bit_width // 8)).view(type_)
    return numbers if signed is None else numbers.cast(signed)


def _uuid_texts(octets: pa.BinaryArray) -> ArrowArray:
    encoded = octets.dictionary_encode()
    texts: ArrowArray = pa.array([uuid_text(each) for each in encoded.dictionary.to_pylist()], pa.binary())
    return texts.cast(pa.string()).take(encoded.indices)


def _repeated(value: object, count: int, type_: pa.DataType) -> ArrowArray:
    repeated: ArrowArray
    if value is None:
        repeated = nulls(count, type_)
    elif value == []:
        repeated = pa.array([[]] * count, type_)
    else:
        repeated = pa.repeat(cast("pa.Int64Scalar", pa.scalar(value, type_)), count)
    return repeated
