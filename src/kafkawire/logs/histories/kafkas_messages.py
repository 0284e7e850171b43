"""Kafka's messages, by whatever definition of them is known: histories rest on the fields that Kafka gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from kafkawire.layout import FieldLayout, StructLayout
from kafkawire.logs.registry import RecordRegistry
from kafkawire.protocol import message_class
from kafkawire.wire import DecodeError, Message

__all__ = ["KafkasMessage", "Reader"]

Reader: TypeAlias = Callable[[bytes, int], tuple[Message, int]]
"""Reads a message at an offset; fails with one of ``FAST_PATH_FAILS``."""


class KafkasMessage:
    """A message of Kafka's. A user's own definition of it may have other versions, and further fields.

    An own definition that lacks a field, or has it as something else, tells no history: then no version can be read.

    Args:
        name: of the message.
        registry: knows the definition.

    Attributes:
        name: the same.
        readers: what reads each version that can be read.
    """

    def __init__(self, name: str, registry: RecordRegistry) -> None:
        self.name = name
        self._kafkas = message_class(name)
        self._defined = registry.message(name)
        self._is_own = self._defined is not self._kafkas
        self._lacks = tuple(_lacking(_layouts(self._kafkas), _layouts(self._defined))) if self._is_own else ()
        versions = range(0) if self._lacks else self._defined.VERSIONS
        self.readers: Mapping[int, Reader] = {version: self._reader(version) for version in versions}

    def decode_from(self, buffer: bytes, at: int, version: int) -> tuple[Message, int]:
        """The message at an offset, and where it ends.

        Raises:
            DecodeError: kind ``version``: there is no such version, or none that can be read; else what is wrong.
        """
        if version not in self.readers:
            raise DecodeError("version", self._refusal(version), message_name=self.name, version=version, offset=at)
        message, end = self._defined.decode_from(buffer, at, version)
        return self._as_kafkas(message), end

    def _refusal(self, version: int) -> str:
        if self._lacks:
            return f"its own definition does not have these fields of Kafka's: {', '.join(self._lacks)}"
        known = self._defined.VERSIONS
        return f"there is no version {version}; versions are {known.start} to {known.stop - 1}"

    def _reader(self, version: int) -> Reader:
        read = self._defined.fast_reader(version)
        if not self._is_own:
            return read

        def read_as_kafkas(buffer: bytes, at: int) -> tuple[Message, int]:
            message, end = read(buffer, at)
            return self._as_kafkas(message), end

        return read_as_kafkas

    def _as_kafkas(self, message: Message) -> Message:
        """The message in Kafka's class. Structs in it stay what they are: they have the fields that are looked at."""
        if not self._is_own:
            return message
        fields = (name for name in self._kafkas.__struct_fields__ if name != "unknown_tagged_fields")
        return msgspec.structs.replace(self._kafkas(), **{name: getattr(message, name) for name in fields})


def _layouts(message: type[Message]) -> Sequence[StructLayout]:
    return message.layouts().layouts


def _lacking(kafkas: Sequence[StructLayout], defined: Sequence[StructLayout]) -> Iterator[str]:
    """The fields of a struct that another definition of it does not have, or not as the same."""
    others = {field.attribute: field for field in defined[-1].fields}
    for field in kafkas[-1].fields:
        other = others.get(field.attribute)
        if other is None or not _is_same(field, other):
            yield field.name
        elif field.type == "struct":
            yield from _lacking(_structs(kafkas, field), _structs(defined, field))


def _is_same(field: FieldLayout, other: FieldLayout) -> bool:
    """Whether the values of the other may stand for those of a field."""
    return (field.type, field.array) == (other.type, other.array) and (field.ever_nullable or not other.ever_nullable)


def _structs(layouts: Sequence[StructLayout], field: FieldLayout) -> list[StructLayout]:
    """The layouts of the struct that a field is, in the versions that have it."""
    fields = (each for layout in layouts for each in layout.fields if each.attribute == field.attribute)
    return [each.struct for each in fields if each.struct is not None]
