"""How many things a message holds, found out without making any of them.

A byte of a message can become an object that takes a hundred. Whoever decodes what strangers send counts first.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Final, TypeAlias

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, StructLayout
from kafkawire.wire.message import Message
from kafkawire.wire.structs import read_uvarint

__all__ = ["element_count"]

_NULL_MARKER: Final = 0x80
_WIDTHS: Final[Mapping[str, int]] = {"h": 2, "i": 4}


def element_count(message: type[Message], version: int, buffer: bytes, offset: int, *, most: int) -> int:
    """Count the elements of all arrays of a message, at any depth, and its tagged fields.

    Args:
        message: its class.
        version: which version the bytes are of.
        buffer: has the message.
        offset: where it begins.
        most: the count ends beyond it, so it takes no longer than so many elements do.

    Returns:
        The count; some number above ``most`` if there are more. Of bytes that are no message of the version, the
        elements that come before what is wrong.

    Raises:
        KeyError: the message has no such version.
    """
    counter = _Counter(buffer, most)
    # It ends with what is more than may be, or no message, which the decoder explains.
    with suppress(_EnoughError, IndexError, ValueError):
        counter.struct(_steps_of(message, version), offset)
    return counter.count


class _EnoughError(Exception):
    """There are more elements than anyone wants to know of."""


class _Skip:
    """So many bytes that are no length."""

    __slots__ = ("size",)

    def __init__(self, size: int) -> None:
        self.size = size


class _Octets:
    """A length, and so many bytes; width 0 for a compact length."""

    __slots__ = ("width",)

    def __init__(self, width: int) -> None:
        self.width = width


class _Array:
    """A count, and so many elements: of one size, of a length each, or structs."""

    __slots__ = ("compact", "element")

    def __init__(self, element: _Skip | _Octets | _Struct, *, compact: bool) -> None:
        self.compact = compact
        self.element = element


class _Struct:
    """Fields in line, and tagged ones."""

    __slots__ = ("flexible", "has_marker", "simple", "steps", "tagged")

    def __init__(
        self, steps: tuple[_Step, ...], tagged: Mapping[int, _Step], *, flexible: bool, has_marker: bool = False
    ) -> None:
        self.steps = steps
        self.tagged = tagged
        self.flexible = flexible
        self.has_marker = has_marker
        self.simple = _simple(steps)


_Step: TypeAlias = "_Skip | _Octets | _Array | _Struct"


def _simple(steps: tuple[_Step, ...]) -> tuple[int, ...] | None:
    """The steps as numbers, which are quicker: bytes to skip, 0 for octets of compact length, -2 or -4 for plain ones.

    None if there are other steps.
    """
    codes = []
    for step in steps:
        match step:
            case _Skip():
                codes.append(step.size)
            case _Octets():
                codes.append(-step.width)
            case _:
                return None
    return tuple(codes)


@cache
def _steps_of(message: type[Message], version: int) -> _Struct:
    return _struct(message.layouts().of_version(version))


def _struct(layout: StructLayout, *, has_marker: bool = False) -> _Struct:
    steps: list[_Step] = []
    for field in layout.inline:
        step = _step(field)
        last = steps[-1] if steps else None
        if isinstance(step, _Skip) and isinstance(last, _Skip):
            steps[-1] = _Skip(last.size + step.size)
        else:
            steps.append(step)
    tagged = {field.tag: _step(field) for field in layout.tagged if field.tag is not None}
    return _Struct(tuple(steps), tagged, flexible=layout.flexible, has_marker=has_marker)


def _step(field: FieldLayout) -> _Step:
    element = _element(field)
    return _Array(element, compact=field.compact) if field.array else element


def _element(field: FieldLayout) -> _Skip | _Octets | _Struct:
    if field.type == STRUCT and field.struct is not None:
        return _struct(field.struct, has_marker=not field.array and field.nullable)
    type_ = FIELD_TYPES[field.type]
    if type_.size is not None:
        return _Skip(type_.size)
    return _Octets(0 if field.compact else _WIDTHS[type_.length_code or "i"])


class _Counter:
    """Walks over a message.

    Attributes:
        count: of the elements so far.
    """

    def __init__(self, buffer: bytes, most: int) -> None:
        self.count = 0
        self._buffer = buffer
        self._most = most

    def struct(self, struct: _Struct, at: int) -> int:
        """Walk over a struct; where it ends."""
        if struct.has_marker:
            at += 1
            if self._buffer[at - 1] >= _NULL_MARKER:
                return at
        for step in struct.steps:
            at = self._walk(step, at)
        return self._tags(struct.tagged, at) if struct.flexible else at

    def _walk(self, step: _Step, at: int) -> int:
        match step:
            case _Skip():
                return at + step.size
            case _Octets():
                return self._octets(step.width, at)
            case _Array():
                return self._array(step, at)
        return self.struct(step, at)

    def _octets(self, width: int, at: int) -> int:
        if width:
            end = at + width
            if end > len(self._buffer):
                raise IndexError
            return end + max(int.from_bytes(self._buffer[at:end], signed=True), 0)
        size, at = read_uvarint(self._buffer, at)
        return at + max(size - 1, 0)

    def _array(self, array: _Array, at: int) -> int:
        if array.compact:
            count, at = read_uvarint(self._buffer, at)
            count -= 1
        else:
            count, at = int.from_bytes(self._buffer[at : at + 4], signed=True), at + 4
        self._add(count)
        element = array.element
        if isinstance(element, _Skip):
            return at + max(count, 0) * element.size
        if isinstance(element, _Octets):
            for _ in range(count):
                at = self._octets(element.width, at)
            return at
        if element.simple is not None:
            return self._simple_structs(element, element.simple, count, at)
        for _ in range(count):
            at = self.struct(element, at)
        return at

    def _simple_structs(self, struct: _Struct, codes: tuple[int, ...], count: int, at: int) -> int:
        """The hot loop: what large requests are full of. Lengths of one byte are read in place."""
        buffer = self._buffer
        for _ in range(count):
            for code in codes:
                if code > 0:
                    at += code
                elif code:
                    at = self._octets(-code, at)
                else:
                    size = buffer[at]
                    if size > 127:
                        size, at = read_uvarint(buffer, at)
                    else:
                        at += 1
                    at += size - 1 if size else 0
            if struct.flexible:
                if buffer[at]:
                    at = self._tags(struct.tagged, at)
                else:
                    at += 1
        return at

    def _tags(self, known: Mapping[int, _Step], at: int) -> int:
        count, at = read_uvarint(self._buffer, at)
        self._add(count)
        for _ in range(count):
            tag, at = read_uvarint(self._buffer, at)
            size, at = read_uvarint(self._buffer, at)
            if tag in known:
                self._walk(known[tag], at)
            at += size
        return at

    def _add(self, count: int) -> None:
        self.count += max(count, 0)
        if self.count > self._most:
            raise _EnoughError
