"""Decoding for histories: they need the fields of Kafka's own definition, even if a user's definition replaces it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from kafkawire.layout import FieldLayout, StructLayout
from kafkawire.logs.registry import RecordRegistry
from kafkawire.protocol import message_class
from kafkawire.wire import DecodeError, Message

Reader: TypeAlias = Callable[[bytes, int], tuple[Message, int]]
"""Decodes the message at an offset and returns it with its end; raises one of ``FAST_PATH_FAILS``."""


class MessageDecoder:
    """Decodes one message into the class of Kafka's own definition.

    A user's definition may have other versions and more fields. If it lacks a field of Kafka's, or gives the field
    another type, no version can be decoded.

    Args:
        name: of the message.
        registry: has the definition.

    Attributes:
        name: the same.
        readers: for each version that can be decoded, the function that decodes it.
    """

    def __init__(self, name: str, registry: RecordRegistry) -> None:
        self.name = name
        self._kafka_class = message_class(name)
        self._defined_class = registry.message(name)
        self._is_own = self._defined_class is not self._kafka_class
        self._missing = (
            tuple(_missing_fields(_layouts(self._kafka_class), _layouts(self._defined_class))) if self._is_own else ()
        )
        versions = range(0) if self._missing else self._defined_class.VERSIONS
        self.readers: Mapping[int, Reader] = {version: self._reader(version) for version in versions}

    def decode_from(self, buffer: bytes, at: int, version: int) -> tuple[Message, int]:
        """The message at an offset, and where it ends.

        Raises:
            DecodeError: kind ``version`` if that version cannot be decoded, otherwise as ``Message.decode_from``.
        """
        if version not in self.readers:
            raise DecodeError("version", self._refusal(version), message_name=self.name, version=version, offset=at)
        message, end = self._defined_class.decode_from(buffer, at, version)
        return self._in_kafka_class(message), end

    def _refusal(self, version: int) -> str:
        if self._missing:
            return f"its own definition does not have these fields of Kafka's: {', '.join(self._missing)}"
        known = self._defined_class.VERSIONS
        return f"there is no version {version}; versions are {known.start} to {known.stop - 1}"

    def _reader(self, version: int) -> Reader:
        read = self._defined_class.fast_codec(version).read
        if not self._is_own:
            return read

        def read_in_kafka_class(buffer: bytes, at: int) -> tuple[Message, int]:
            message, end = read(buffer, at)
            return self._in_kafka_class(message), end

        return read_in_kafka_class

    def _in_kafka_class(self, message: Message) -> Message:
        """The message in Kafka's class. The structs inside keep their classes; they have the fields that are needed."""
        if not self._is_own:
            return message
        fields = (name for name in self._kafka_class.__struct_fields__ if name != "unknown_tagged_fields")
        return msgspec.structs.replace(self._kafka_class(), **{name: getattr(message, name) for name in fields})


def _layouts(message: type[Message]) -> Sequence[StructLayout]:
    return message.layouts().layouts


def _missing_fields(kafkas: Sequence[StructLayout], defined: Sequence[StructLayout]) -> Iterator[str]:
    """The fields of a struct that another definition lacks, or has with another type."""
    others = {field.attribute: field for field in defined[-1].fields}
    for field in kafkas[-1].fields:
        other = others.get(field.attribute)
        if other is None or not _is_same(field, other):
            yield field.name
        elif field.type == "struct":
            yield from _missing_fields(_structs(kafkas, field), _structs(defined, field))


def _is_same(field: FieldLayout, other: FieldLayout) -> bool:
    """Whether another field has values of the same type, and null only if the field has."""
    return (field.type, field.array) == (other.type, other.array) and (field.ever_nullable or not other.ever_nullable)


def _structs(layouts: Sequence[StructLayout], field: FieldLayout) -> list[StructLayout]:
    """The layouts of the struct of a field, in the versions that have the field."""
    fields = (each for layout in layouts for each in layout.fields if each.attribute == field.attribute)
    return [each.struct for each in fields if each.struct is not None]
