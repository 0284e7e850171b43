"""Hand-made messages with the layouts of their versions, as the generator would make them.

``NullableStructMessage`` has nullable structs. ``Everything`` is made from the table of field types: each
type in line, as array, nullable, tagged and nullable tagged, so that a new type is tested by being in the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, FieldType, Presence, StructLayout
from kafkawire.wire.reference import decode_struct, encode_struct

UnknownTags = tuple[tuple[int, bytes], ...]


class Pair(msgspec.Struct, frozen=True):
    """The struct of all four fields of NullableStructMessage."""

    text: str = ""
    number: int = 0
    unknown_tagged_fields: UnknownTags = ()


class NullableStructMessage(msgspec.Struct, frozen=True):
    """Nullable structs in line and tagged."""

    a: Pair | None = None
    b: Pair | None = Pair()
    c: Pair | None = None
    d: Pair | None = Pair()
    unknown_tagged_fields: UnknownTags = ()


NullableStructMessage.Pair = Pair  # type: ignore[attr-defined]


def nullable_struct_layout(version: int) -> StructLayout:
    """The layout of NullableStructMessage: flexible from 1, C and D tagged."""
    flexible = version >= 1
    text = FieldLayout("Text", "text", "string", compact=flexible, default="")
    number = FieldLayout("Number", "number", "int32", compact=flexible, default=0)
    shape = FieldLayout(
        "", "", STRUCT, struct=StructLayout("Pair", (text, number), flexible), nullable=True, ever_nullable=True,
        compact=flexible,
    )  # fmt: skip
    if flexible:
        c = replace(shape, name="C", attribute="c", presence="tagged", tag=0, default=None)
        d = replace(shape, name="D", attribute="d", presence="tagged", tag=1, default=())
    else:
        c = replace(shape, name="C", attribute="c", presence="absent", struct=None, nullable=False, default=None)
        d = replace(shape, name="D", attribute="d", presence="absent", struct=None, nullable=False, default=())
    a = replace(shape, name="A", attribute="a", default=None)
    b = replace(shape, name="B", attribute="b", nullable=flexible, default=())
    return StructLayout("NullableStructMessage", (a, b, c, d), flexible)


@dataclass(frozen=True)
class Synthetic:
    """A message class with one layout and the reference codec on it."""

    cls: type[msgspec.Struct]
    layout: StructLayout
    version: int = 0

    def __call__(self, *values: object, **named: object) -> msgspec.Struct:
        return self.cls(*values, **named)

    def encode(self, value: msgspec.Struct) -> bytes:
        return encode_struct(value, self.layout, message_name=self.layout.name, version=self.version)

    def decode_from(self, buffer: bytes, offset: int = 0) -> tuple[msgspec.Struct, int]:
        return decode_struct(self.cls, self.layout, buffer, offset, message_name=self.layout.name, version=self.version)

    def decode(self, buffer: bytes) -> msgspec.Struct:
        value, end = self.decode_from(buffer)
        assert end == len(buffer)
        return value


def message(*fields: FieldLayout, flexible: bool = False, **structs: type[msgspec.Struct]) -> Synthetic:
    """A message ``M`` of these fields; ``structs`` are the classes that its fields name."""
    return Synthetic(_make("M", fields, **structs), StructLayout("M", fields, flexible))


def field(type_: str, name: str = "Value", /, **more: object) -> FieldLayout:
    """A field of a type with the default of the type; other attributes of the layout as given."""
    default = () if type_ == STRUCT or more.get("array") else FIELD_TYPES[type_].default
    return replace(FieldLayout(name, name.lower(), type_, default=default), **more)


def nullable_struct_message(version: int) -> Synthetic:
    """A message with nullable structs at version 0 or 1."""
    return Synthetic(NullableStructMessage, nullable_struct_layout(version), version)


PLAIN, FLEXIBLE, TAGGED, ABSENT = range(4)
"""The versions of ``Everything``: in line, in line and flexible, tagged, absent."""


def everything(types: tuple[FieldType, ...] = tuple(FIELD_TYPES.values())) -> tuple[Synthetic, ...]:
    """A message with a field of every shape for each of the types, and with structs of them, at each version."""
    inner = _make("Inner", tuple(_shape(type_, "", version=PLAIN) for type_ in types))
    cls = _make("Everything", _everything_layout(types, PLAIN).fields, Inner=inner)
    return tuple(
        Synthetic(cls, _everything_layout(types, version), version) for version in (PLAIN, FLEXIBLE, TAGGED, ABSENT)
    )


def _everything_layout(types: tuple[FieldType, ...], version: int) -> StructLayout:
    flexible = version >= FLEXIBLE
    nested = StructLayout("Inner", tuple(_shape(t, "", version=min(version, FLEXIBLE)) for t in types), flexible)
    shapes = [shape for type_ in types for shape in _shapes(type_, version)]
    shapes += [_struct_shape(name, version, nested) for name in ("One", "Maybe", "Many", "MaybeMany")]
    return StructLayout("Everything", tuple(_numbered(shapes)), flexible)


def _shapes(type_: FieldType, version: int) -> list[FieldLayout]:
    shapes = [_shape(type_, "Plain", version=version)]
    if type_.element:
        shapes.append(_shape(type_, "Array", version=version, array=True))
        shapes.append(_shape(type_, "NullableArray", version=version, array=True, nullable=True))
    if type_.nullable:
        shapes.append(_shape(type_, "Nullable", version=version, nullable=True))
    return shapes


def _shape(type_: FieldType, suffix: str, *, version: int, array: bool = False, nullable: bool = False) -> FieldLayout:
    # A records field is null by default and cannot be tagged; where it may not be null it must be set.
    nullable = nullable or (type_.default is None and not array)
    return field(
        type_.name, type_.name.capitalize() + suffix, array=array, presence=_presence(version, type_.taggable),
        nullable=nullable and version != ABSENT, ever_nullable=nullable, compact=version in (FLEXIBLE, TAGGED),
    )  # fmt: skip


def _struct_shape(name: str, version: int, nested: StructLayout) -> FieldLayout:
    nullable = name.startswith("Maybe")
    return field(
        STRUCT, name, array=name.endswith("Many"), struct=None if version == ABSENT else nested,
        presence=_presence(version, True), nullable=nullable and version != ABSENT, ever_nullable=nullable,
        compact=version in (FLEXIBLE, TAGGED), default=None if name == "Maybe" else (),
    )  # fmt: skip


def _presence(version: int, taggable: bool) -> Presence:
    if version == ABSENT:
        return "absent"
    return "tagged" if version == TAGGED and taggable else "inline"


def _numbered(fields: list[FieldLayout]) -> list[FieldLayout]:
    """Give tags from 0 on, in reverse, so that file order and tag order differ."""
    tags = iter(range(sum(shape.presence == "tagged" for shape in fields) - 1, -1, -1))
    return [replace(shape, tag=next(tags)) if shape.presence == "tagged" else shape for shape in fields]


def _make(name: str, fields: tuple[FieldLayout, ...], **structs: type[msgspec.Struct]) -> type[msgspec.Struct]:
    defaults: list[tuple[str, type, object]] = []
    for shape in fields:
        default: object = shape.default
        if shape.struct is not None and not shape.array and default == ():
            default = structs[shape.struct.name]()
        defaults.append((shape.attribute, object, default))
    defaults.append(("unknown_tagged_fields", UnknownTags, ()))
    return msgspec.defstruct(name, defaults, frozen=True, namespace=dict(structs))
