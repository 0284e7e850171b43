"""Two sides of a message with codecs of their own, and values that bring out whether they understand each other."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec
from tests.laws.codegen.evolve.understanding import came_out_right
from tests.made.example_messages import random_instance

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, StructLayout
from kafkawire.wire.errors import DecodeError, EncodeError
from kafkawire.wire.message import Message
from kafkawire.wire.reference import decode_struct, encode_struct
from kafkawire.wire.reference.annotation import annotate
from kafkawire.wire.values import FIRST_UNKNOWN_TAG


class Peer:
    """A side that reads and writes with the reference codec, its classes made up from the layout."""

    def __init__(self, layout: StructLayout) -> None:
        self.layout = layout
        self.cls = _message_class(layout)

    def encode(self, value: msgspec.Struct) -> bytes:
        return encode_struct(value, self.layout, message_name=self.layout.name, version=0)

    def decode(self, buffer: bytes) -> msgspec.Struct:
        value, end = decode_struct(self.cls, self.layout, buffer, 0, message_name=self.layout.name, version=0)
        if end != len(buffer):
            raise DecodeError("trailing", "bytes are left", message_name=self.layout.name, version=0)
        return value


class GeneratedPeer(Peer):
    """A side that reads and writes with a generated class."""

    def __init__(self, cls: type[Message], version: int) -> None:
        self.layout = cls.layouts().of_version(version)
        self.cls = self._message_cls = cls
        self._version = version

    def encode(self, value: msgspec.Struct) -> bytes:
        assert isinstance(value, Message)
        return value.encode(self._version)

    def decode(self, buffer: bytes) -> msgspec.Struct:
        return self._message_cls.decode(buffer, self._version)

    def cuts(self, buffer: bytes) -> list[tuple[int, int, str, bool]]:
        """Which bytes belong to which field, and whether they are a section of tagged fields."""
        found, _ = annotate(self._message_cls, buffer, 0, self._version)
        return [(cut.start, cut.end, cut.path, cut.what.endswith("tagged fields")) for cut in found]


Outcome = Literal["right", "wrong", "unreadable"]
"""Whether a value came out right on the other side; ``unreadable`` if not even the writer reads it back."""


@dataclass(frozen=True)
class Trial:
    """A value, its bytes, and the value that was read."""

    value: msgspec.Struct
    octets: bytes
    outcome: Outcome


def trials(writer: Peer, reader: Peer, rng: random.Random, count: int) -> Iterator[Trial]:
    """Write random values with one side and read them with the other; plain small values and wild ones in turn."""
    for number in range(count):
        if number % 4 == 3:
            value = random_instance(rng, writer.cls, writer.layout, unknown_tags=number % 8 == 3)
        else:
            value = _small(rng, writer.cls, writer.cls, writer.layout)
        try:
            octets = writer.encode(value)
        except EncodeError:
            continue  # A non-nullable field of type records that was not set (null-encode-refused).
        yield Trial(value, octets, _outcome(writer, reader, value, octets))


def _outcome(writer: Peer, reader: Peer, value: msgspec.Struct, octets: bytes) -> Outcome:
    try:
        writer.decode(octets)
    except DecodeError:
        return "unreadable"  # An array whose elements take no bytes (wire-array-bound).
    try:
        got = reader.decode(octets)
    except DecodeError:
        return "wrong"
    return "right" if came_out_right(writer.layout, value, reader.layout, got) else "wrong"


def _small(
    rng: random.Random, message_cls: type[msgspec.Struct], cls: type[msgspec.Struct], layout: StructLayout
) -> msgspec.Struct:
    """A value with few elements, whose fields are often at their defaults, null, empty, or equal."""
    values: dict[str, object] = {}
    for field in layout.fields:
        if field.presence != "absent" and rng.random() < 0.7:
            values[field.attribute] = _small_value(rng, message_cls, field)
    if layout.flexible and rng.random() < 0.15:
        values["unknown_tagged_fields"] = ((FIRST_UNKNOWN_TAG, b"?"),)
    return cls(**values)


def _small_value(rng: random.Random, message_cls: type[msgspec.Struct], field: FieldLayout) -> object:
    if field.nullable and rng.random() < 0.4:
        return None
    if field.array:
        return tuple(_small_element(rng, message_cls, field) for _ in range(rng.choice((0, 0, 1, 1, 2))))
    return _small_element(rng, message_cls, field)


def _small_element(rng: random.Random, message_cls: type[msgspec.Struct], field: FieldLayout) -> object:
    if field.struct is not None:
        return _small(rng, message_cls, getattr(message_cls, field.struct.name), field.struct)
    type_ = FIELD_TYPES[field.type]
    match type_.domain:
        case "bool":
            return rng.random() < 0.5
        case "int":
            return rng.choice((0, 1, 1, type_.minimum, type_.maximum, max(type_.minimum, -1), 77))
        case "float":
            return rng.choice((0.0, 1.5, 3.25))
        case "uuid":
            return rng.randbytes(16)
        case "text":
            return rng.choice(("", "a", "xyz"))
    return rng.choice((b"", b"a", b"\xff", b"xyz"))


def _message_class(layout: StructLayout) -> type[msgspec.Struct]:
    structs: dict[str, type[msgspec.Struct]] = {}
    return _struct_class(layout, structs, structs)


def _struct_class(
    layout: StructLayout, known: dict[str, type[msgspec.Struct]], namespace: dict[str, type[msgspec.Struct]]
) -> type[msgspec.Struct]:
    defaults: list[tuple[str, type, object]] = []
    for field in layout.fields:
        default: object = field.default
        if field.struct is not None:
            cls = known.get(field.struct.name) or _struct_class(field.struct, known, {})
            known[field.struct.name] = cls
            if field.type == STRUCT and not field.array and default == ():
                default = cls()
        defaults.append((field.attribute, object, default))
    defaults.append(("unknown_tagged_fields", tuple[tuple[int, bytes], ...], ()))
    return msgspec.defstruct(layout.name, defaults, frozen=True, namespace=dict(namespace))
