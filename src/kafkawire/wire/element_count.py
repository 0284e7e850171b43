"""Count the elements of a message without decoding it.

A byte of a message can become an object of a hundred bytes. A broker counts the elements of a request before it
decodes it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from struct import Struct
from typing import Final, TypeAlias

from kafkawire.layout import FIELD_TYPES, FieldLayout, StructLayout
from kafkawire.wire.message import Message
from kafkawire.wire.message_codec import FAST_PATH_FAILS
from kafkawire.wire.structs import read_uvarint

_NULL_MARKER: Final = 0x80


def element_count(message: type[Message], version: int, buffer: bytes, offset: int, *, most: int) -> int:
    """Count the elements of all arrays of a message, at any depth, and its tagged fields.

    Args:
        message: the class of the message.
        version: of the message in the buffer.
        buffer: the bytes.
        offset: start of the message.
        most: counting stops when there are more.

    Returns:
        The count, or a number above ``most``. In malformed bytes, the elements before the malformed place.

    Raises:
        KeyError: the message has no such version.
    """
    count = _Count(buffer, most)
    # The decoder reports malformed bytes, so the count only ends there.
    with suppress(_TooManyError, *FAST_PATH_FAILS):
        _message_step(message, version)(count, offset)
    return count.elements


class _TooManyError(Exception):
    """There are more elements than the limit."""


class _Count:
    """The elements that were found so far."""

    __slots__ = ("buffer", "elements", "most")

    def __init__(self, buffer: bytes, most: int) -> None:
        self.buffer = buffer
        self.most = most
        self.elements = 0

    def add(self, elements: int) -> None:
        self.elements += max(elements, 0)
        if self.elements > self.most:
            raise _TooManyError


_Step: TypeAlias = Callable[[_Count, int], int]
"""Passes over a value from a position; returns the position after it."""

_ReadLength: TypeAlias = Callable[[bytes, int], tuple[int, int]]


@cache
def _message_step(message: type[Message], version: int) -> _Step:
    return _struct_step(message.layouts().of_version(version))


def _struct_step(layout: StructLayout) -> _Step:
    steps = _steps(layout)
    tagged = {field.tag: _field_step(field) for field in layout.tagged}

    def tags(count: _Count, at: int) -> int:
        if not count.buffer[at]:
            return at + 1
        entries, at = read_uvarint(count.buffer, at)
        count.add(entries)
        for _ in range(entries):
            tag, at = read_uvarint(count.buffer, at)
            size, at = read_uvarint(count.buffer, at)
            if tag in tagged:
                tagged[tag](count, at)
            at += size
        return at

    def struct(count: _Count, at: int) -> int:
        for step in steps:
            at = step(count, at)
        return at

    if layout.flexible:
        steps.append(tags)
    return steps[0] if len(steps) == 1 else struct


def _steps(layout: StructLayout) -> list[_Step]:
    """The steps of the inline fields; one for each run of fixed-width fields."""
    steps: list[_Step] = []
    width = 0
    for field in layout.inline:
        type_ = FIELD_TYPES.get(field.type)
        if type_ is not None and type_.size is not None and not field.array:
            width += type_.size
            continue
        if width:
            steps.append(_skip(width))
        width = 0
        steps.append(_field_step(field))
    return [*steps, _skip(width)] if width else steps


def _field_step(field: FieldLayout) -> _Step:
    if field.struct is not None:
        element = _struct_step(field.struct)
        return _array(field, element) if field.array else _marked(field, element)
    type_ = FIELD_TYPES[field.type]
    element = (
        _octets(_length_reader(type_.length_code or "", compact=field.compact))
        if type_.size is None
        else _skip(type_.size)
    )
    return _array(field, element) if field.array else element


def _skip(size: int) -> _Step:
    return lambda _, at: at + size


def _octets(read_length: _ReadLength) -> _Step:
    def octets(count: _Count, at: int) -> int:
        length, at = read_length(count.buffer, at)
        return at + max(length, 0)

    return octets


def _array(field: FieldLayout, element: _Step) -> _Step:
    read_length = _length_reader("i", compact=field.compact)

    def array(count: _Count, at: int) -> int:
        elements, at = read_length(count.buffer, at)
        count.add(elements)
        for _ in range(elements):
            at = element(count, at)
        return at

    return array


def _marked(field: FieldLayout, struct: _Step) -> _Step:
    """A struct after its null marker, if it has one: null is a negative int8 in line, 0 in a tagged field."""
    marker = field.null_marker

    def marked(count: _Count, at: int) -> int:
        octet = count.buffer[at]
        is_null = octet >= _NULL_MARKER if marker == "inline" else octet == 0
        return at + 1 if is_null else struct(count, at + 1)

    return struct if marker == "none" else marked


def _length_reader(code: str, *, compact: bool) -> _ReadLength:
    """Reads a length or count, which is negative for null, and the position after it."""
    plain = Struct(f">{code}")

    def read_plain(buffer: bytes, at: int) -> tuple[int, int]:
        return plain.unpack_from(buffer, at)[0], at + plain.size

    def read_compact(buffer: bytes, at: int) -> tuple[int, int]:
        length = buffer[at]
        if length > 127:
            length, at = read_uvarint(buffer, at)
            return length - 1, at
        return length - 1, at + 1

    return read_compact if compact else read_plain
