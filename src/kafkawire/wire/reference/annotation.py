"""The bytes of each value of a message, for display."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from kafkawire.layout import STRUCT, FieldLayout, StructLayout, Uuid
from kafkawire.wire.message import Message
from kafkawire.wire.reference.decoder import Reader


class Annotation(msgspec.Struct, frozen=True):
    """A range of bytes and its meaning.

    Attributes:
        start, end: position in the buffer, the end exclusive.
        path: the value, ``topics[3].name``; empty for bytes that belong to no value.
        what: the value as text, or the purpose of the bytes (``2 elements``, ``tagged fields``).
    """

    start: int
    end: int
    path: str
    what: str


def annotate(cls: type[Message], buffer: bytes, offset: int, version: int) -> tuple[list[Annotation], int]:
    """Read a message and account for each of its bytes, in order and without gaps.

    Returns:
        The annotations, and the position after the message.

    Raises:
        DecodeError: if the bytes are not a message of the version.
        KeyError: if the message has no such version.
    """
    reader = _AnnotatingReader(cls, buffer, offset)
    reader.message(cls, cls.layouts().of_version(version), message_name=cls.NAME, version=version)
    return list(_without_gaps(reader.found, offset, reader.offset)), reader.offset


class _AnnotatingReader(Reader):
    """A reader that notes the bytes of every value."""

    def __init__(self, message_cls: type[msgspec.Struct], buffer: bytes, offset: int) -> None:
        super().__init__(message_cls, buffer, offset)
        self.found: list[Annotation] = []
        self._path: list[str] = []
        # For each array that is being read: -1 before its count, then the index of the next element.
        self._counts: list[int] = []

    def _inline(self, field: FieldLayout) -> object:
        with self._inside(field.attribute):
            return super()._inline(field)

    def _tagged_value(self, field: FieldLayout) -> object:
        with self._inside(field.attribute):
            return super()._tagged_value(field)

    def _marker_is_null(self) -> bool:
        start = self.offset
        is_null = super()._marker_is_null()
        self._note(start, "null" if is_null else "present")
        return is_null

    def _tagged_section(self, layout: StructLayout) -> dict[str, object]:
        start, before = self.offset, len(self.found)
        values = super()._tagged_section(layout)
        if len(self.found) == before:
            unknown = self.offset - start > 1
            self._note(start, "unknown tagged fields" if unknown else "no tagged fields")
        return values

    def _array(self, field: FieldLayout) -> tuple[object, ...] | None:
        self._counts.append(-1)
        try:
            return super()._array(field)
        finally:
            self._counts.pop()

    def _length(self, what: str, code: str, *, compact: bool) -> int | None:
        start = self.offset
        length = super()._length(what, code, compact=compact)
        if self._counts and self._counts[-1] < 0:
            self._counts[-1] = 0
            self._note(start, "null" if length is None else f"{length} element{'' if length == 1 else 's'}")
        return length

    def _element(self, field: FieldLayout, *, nullable: bool) -> object:
        label = ""
        if field.array:
            label = f"[{self._counts[-1]}]"
            self._counts[-1] += 1
        self._counts.append(0)
        with self._inside(label):
            start = self.offset
            value = super()._element(field, nullable=nullable)
            if field.type != STRUCT:
                self._note(start, _shown(value))
        self._counts.pop()
        return value

    @contextmanager
    def _inside(self, label: str) -> Iterator[None]:
        self._path.append(label)
        yield
        self._path.pop()

    def _note(self, start: int, what: str) -> None:
        path = "".join(part if part.startswith("[") else f".{part}" for part in self._path if part).lstrip(".")
        self.found.append(Annotation(start, self.offset, path, what))


def _shown(value: object) -> str:
    """A value as text; only the size of octets."""
    if isinstance(value, bytes | memoryview) and not isinstance(value, Uuid):
        return f"<{len(value)} bytes>"
    return str(value)


def _without_gaps(found: list[Annotation], start: int, end: int) -> Iterator[Annotation]:
    """The annotations, and one for each gap: the counts, tags and sizes of tagged-field sections."""
    at = start
    for annotation in found:
        if annotation.start > at:
            yield Annotation(at, annotation.start, "", "tagged fields")
        yield annotation
        at = annotation.end
    if end > at:
        yield Annotation(at, end, "", "tagged fields")
