"""Bytes to values, field by field, see docs/reference/wire-format.md."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec

from kafkawire.layout import FIELD_TYPES, FieldLayout, FieldType, StructLayout
from kafkawire.layout.fault import FaultError
from kafkawire.wire.errors import DecodeError
from kafkawire.wire.values import LARGEST_TAG, UNKNOWN_TAGS

S = TypeVar("S", bound=msgspec.Struct)

_LARGEST_UVARINT = 0x7FFFFFFF
_LONGEST_UVARINT = 5


def decode_struct(
    cls: type[S],
    layout: StructLayout,
    buffer: bytes | bytearray | memoryview,
    offset: int,
    *,
    message_name: str,
    version: int,
) -> tuple[S, int]:
    """Read a message at an offset; bytes may follow it.

    Args:
        cls: the class of the message, with the classes of its structs as attributes.
        layout: the layout of the version.
        buffer: what to read from.
        offset: where the message begins, 0 to the length of the buffer.
        message_name: Kafka's name of the message, for errors.
        version: the version, for errors.

    Returns:
        The message and the position of the first byte after it.

    Raises:
        DecodeError: if the bytes are not a message of the version, with kind, path and position.
    """
    reader = Reader(cls, bytes(buffer), offset)
    return reader.message(cls, layout, message_name=message_name, version=version), reader.offset


class Reader:
    """Reads one message: a position in a buffer, and the end of what it may read."""

    def __init__(self, message_cls: type[msgspec.Struct], buffer: bytes, offset: int) -> None:
        self.offset: int = offset
        self._message_cls = message_cls
        self._buffer = buffer
        self._view = memoryview(buffer)
        self._end = len(buffer)
        self._in_tagged_field = False

    def message(self, cls: type[S], layout: StructLayout, *, message_name: str, version: int) -> S:
        """The message; arguments and errors as ``decode_struct``."""
        try:
            return self.struct(cls, layout)
        except FaultError as fault:
            raise DecodeError(
                fault.kind,
                fault.reason,
                message_name=message_name,
                version=version,
                path=fault.path,
                offset=fault.offset,
            ) from None

    def struct(self, cls: type[S], layout: StructLayout) -> S:
        """In-line fields in file order, then the tagged section (wire-struct, wire-section-everywhere)."""
        values: dict[str, object] = {}
        for field in layout.fields:
            if field.presence == "inline":
                try:
                    values[field.attribute] = self._inline(field)
                except FaultError as fault:
                    fault.inside_field(field.attribute)
                    raise
        if layout.flexible:
            values |= self._tagged_section(layout)
        return cls(**values)

    def _inline(self, field: FieldLayout) -> object:
        if field.null_marker == "inline" and self._marker_is_null():
            return None
        return self._value(field)

    def _marker_is_null(self) -> bool:
        """One byte before a nullable struct; any negative one means null (wire-nullable-struct)."""
        at = self._take(1)
        return self._buffer[at] >= 0x80

    def _value(self, field: FieldLayout) -> object:
        if field.array:
            return self._array(field)
        return self._element(field, nullable=field.nullable)

    def _element(self, field: FieldLayout, *, nullable: bool) -> object:
        if field.struct is not None:
            cls: type[msgspec.Struct] = getattr(self._message_cls, field.struct.name)
            return self.struct(cls, field.struct)
        type_ = FIELD_TYPES[field.type]
        if type_.size is None:
            return self._variable(type_, compact=field.compact, nullable=nullable)
        at = self._take(type_.size)
        return type_.unpack(self._buffer[at : self.offset])

    def _variable(self, type_: FieldType, *, compact: bool, nullable: bool) -> object:
        """A length and its bytes (wire-length-bound)."""
        at = self.offset
        length = self._length("the length", f">{type_.length_code}", compact=compact)
        if length is None:
            _check_null(at, nullable=nullable)
            return None
        if length > type_.maximum_length:
            raise FaultError("length", f"takes {length} bytes, at most {type_.maximum_length} are allowed", at)
        start = self._take(length)
        if type_.view:
            return self._view[start : self.offset]
        return type_.of_octets(self._buffer[start : self.offset], start)

    def _array(self, field: FieldLayout) -> tuple[object, ...] | None:
        """A count and its elements, none of them null (wire-array-elements)."""
        at = self.offset
        count = self._length("the number of elements", ">i", compact=field.compact)
        if count is None:
            _check_null(at, nullable=field.nullable)
            return None
        if count > self._left:
            # wire-array-bound: also if elements take no bytes. Otherwise a few bytes could claim any amount of memory.
            raise self._shortage(f"claims {count} elements", at)
        elements: list[object] = []
        try:
            while len(elements) < count:
                elements.append(self._element(field, nullable=False))
        except FaultError as fault:
            fault.inside_element(len(elements))
            raise
        return tuple(elements)

    def _length(self, what: str, code: str, *, compact: bool) -> int | None:
        """A length or count, or None for null: 0 in compact form, else any negative number (wire-negative-length)."""
        if compact:
            number = self._uvarint(what)
            return number - 1 if number else None
        at = self._take(struct.calcsize(code))
        (length,) = struct.unpack_from(code, self._buffer, at)
        return int(length) if length >= 0 else None

    def _tagged_section(self, layout: StructLayout) -> dict[str, object]:
        """The tagged fields that occur, and the unknown ones as they are (tagged-unknown-kept)."""
        known = {field.tag: field for field in layout.fields if field.presence == "tagged"}
        values: dict[str, object] = {}
        unknown = []
        for tag, size in self._tagged_entries():
            field = known.get(tag)
            if field is None:
                # tagged-unknown-kept; a tag that the struct has in other versions only is unknown in this one.
                start = self._take(size)
                unknown.append((tag, self._buffer[start : self.offset]))
            else:
                try:
                    values[field.attribute] = self._tagged(field, size)
                except FaultError as fault:
                    fault.inside_field(field.attribute)
                    raise
        values[UNKNOWN_TAGS] = tuple(unknown)
        return values

    def _tagged_entries(self) -> Iterator[tuple[int, int]]:
        """Tag and size of each entry; between two of them the caller reads the payload."""
        at = self.offset
        count = self._uvarint("the number of tagged fields")
        if count > self._left:
            raise self._shortage(f"claims {count} tagged fields", at)
        previous = -1
        for _ in range(count):
            at = self.offset
            tag = self._uvarint("the tag")
            if not previous < tag <= LARGEST_TAG:
                reason = f"tag {tag} after tag {previous}" if tag <= previous else f"tag {tag} is above {LARGEST_TAG}"
                raise FaultError("tag", f"{reason}; tags go up", at)
            previous = tag
            at = self.offset
            size = self._uvarint(f"the size of tagged field {tag}")
            if size > self._left:
                raise self._shortage(f"tagged field {tag} needs {size} bytes", at)
            yield tag, size

    def _tagged(self, field: FieldLayout, size: int) -> object:
        """The value of a known tagged field, which must use up exactly its bytes."""
        start = self.offset
        with self._bounded(start + size):
            value = self._tagged_value(field)
            used = self.offset - start
        if used != size:
            raise FaultError("tag", f"the value takes {used} of the {size} bytes of its tagged field", start)
        return value

    def _tagged_value(self, field: FieldLayout) -> object:
        # wire-nullable-struct-tagged: the marker differs from the one in line.
        if field.null_marker == "tagged" and self._uvarint("the null marker") == 0:
            return None
        return self._value(field)

    @contextmanager
    def _bounded(self, end: int) -> Iterator[None]:
        outer = self._end, self._in_tagged_field
        self._end, self._in_tagged_field = end, True
        yield
        self._end, self._in_tagged_field = outer

    def _uvarint(self, what: str) -> int:
        """An unsigned varint below 2^31 of at most five bytes; padded forms are accepted (wire-uvarint)."""
        start = self.offset
        value = 0
        for index in range(_LONGEST_UVARINT):
            byte = self._buffer[self._take(1)]
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                break
        else:
            raise FaultError("varint", f"a varint has at most {_LONGEST_UVARINT} bytes", start)
        if value > _LARGEST_UVARINT:
            raise FaultError("varint", f"{what} is the varint {value}, at most {_LARGEST_UVARINT} is allowed", start)
        return value

    @property
    def _left(self) -> int:
        return self._end - self.offset

    def _take(self, count: int) -> int:
        """Move past ``count`` bytes, and return where they begin (wire-length-bound)."""
        if count > self._left:
            raise self._shortage(f"needs {count} byte{'' if count == 1 else 's'}", self.offset)
        start = self.offset
        self.offset = start + count
        return start

    def _shortage(self, claim: str, at: int) -> FaultError:
        """A claim of more bytes than are left: truncated, or a fault of the tagged field that ends there."""
        verb = "is" if self._left == 1 else "are"
        if self._in_tagged_field:
            return FaultError("tag", f"{claim}, {self._left} {verb} left in the tagged field", at)
        return FaultError("truncated", f"{claim}, {self._left} {verb} left", at)


def _check_null(at: int, *, nullable: bool) -> None:
    if not nullable:
        raise FaultError("null", "null is not allowed here", at)
