"""Hand-made messages with the layouts of their versions, as the generator would make them.

``NullableStructMessage`` is the example of section 6.5. ``Everything`` is made from the table of field types: each
type in line, as array, nullable, tagged and nullable tagged, so that a new type is tested by being in the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, FieldType, StructLayout

UnknownTags = tuple[tuple[int, bytes], ...]


class Pair(msgspec.Struct, frozen=True):
    """The struct of all four fields of NullableStructMessage."""

    text: str = ""
    number: int = 0
    unknown_tagged_fields: UnknownTags = ()


class NullableStructMessage(msgspec.Struct, frozen=True):
    """Nullable structs in line and tagged (6.5)."""

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
    """A message class with the layouts of its versions."""

    cls: type[msgspec.Struct]
    layouts: dict[int, StructLayout]


PLAIN, FLEXIBLE, TAGGED, ABSENT = range(4)
"""The versions of ``Everything``: in line, in line and flexible, tagged, absent."""


def everything(types: tuple[FieldType, ...] = tuple(FIELD_TYPES.values())) -> Synthetic:
    """A message with a field of every shape for each of the types, and with structs of them."""
    inner_fields = tuple(_shape(type_, "", version=PLAIN) for type_ in types)
    inner = _make("Inner", inner_fields)
    fields = [shape for type_ in types for shape in _shapes(type_)]
    fields += [_struct_shape(name, PLAIN, None) for name in _STRUCTS]
    cls = _make("Everything", tuple(fields), Inner=inner)
    layouts = {}
    for version in (PLAIN, FLEXIBLE, TAGGED, ABSENT):
        nested = StructLayout(
            "Inner", tuple(_shape(type_, "", version=min(version, FLEXIBLE)) for type_ in types), version >= FLEXIBLE
        )
        shapes = [shape for type_ in types for shape in _shapes(type_, version)]
        shapes += [_struct_shape(name, version, nested) for name in _STRUCTS]
        layouts[version] = StructLayout("Everything", tuple(_numbered(shapes)), version >= FLEXIBLE)
    return Synthetic(cls, layouts)


_STRUCTS = ("One", "Maybe", "Many", "MaybeMany")


def _shapes(type_: FieldType, version: int = PLAIN) -> list[FieldLayout]:
    shapes = [_shape(type_, "Plain", version=version)]
    if type_.element:
        shapes.append(_shape(type_, "Array", version=version, array=True))
        shapes.append(_shape(type_, "NullableArray", version=version, array=True, nullable=True))
    if type_.nullable:
        shapes.append(_shape(type_, "Nullable", version=version, nullable=True))
    return shapes


def _shape(type_: FieldType, suffix: str, *, version: int, array: bool = False, nullable: bool = False) -> FieldLayout:
    name = type_.name.capitalize() + suffix
    # A records field is null by default and cannot be tagged; where it may not be null it must be set.
    nullable = nullable or (type_.default is None and not array)
    presence = "absent" if version == ABSENT else "tagged" if version == TAGGED and type_.taggable else "inline"
    return FieldLayout(
        name=name, attribute=name.lower(), type=type_.name, array=array,
        presence=presence,  # type: ignore[arg-type]
        nullable=nullable and version != ABSENT, ever_nullable=nullable,
        compact=version in (FLEXIBLE, TAGGED), default=() if array else type_.default,
    )  # fmt: skip


def _struct_shape(name: str, version: int, nested: StructLayout | None) -> FieldLayout:
    nullable = name.startswith("Maybe")
    return FieldLayout(
        name=name, attribute=name.lower(), type=STRUCT, array=name.endswith("Many"),
        struct=None if version == ABSENT else nested,
        presence="absent" if version == ABSENT else "tagged" if version == TAGGED else "inline",
        nullable=nullable and version != ABSENT, ever_nullable=nullable,
        compact=version in (FLEXIBLE, TAGGED), default=None if name == "Maybe" else (),
    )  # fmt: skip


def _numbered(fields: list[FieldLayout]) -> list[FieldLayout]:
    """Give tags from 0 on, in reverse, so that file order and tag order differ."""
    tags = iter(range(sum(field.presence == "tagged" for field in fields) - 1, -1, -1))
    return [replace(field, tag=next(tags)) if field.presence == "tagged" else field for field in fields]


def _make(name: str, fields: tuple[FieldLayout, ...], **nested: type[msgspec.Struct]) -> type[msgspec.Struct]:
    defaults: list[tuple[str, type, object]] = []
    for field in fields:
        default: object = field.default
        if field.type == STRUCT and not field.array and default == ():
            default = nested["Inner"]()
        defaults.append((field.attribute, object, default))
    defaults.append(("unknown_tagged_fields", UnknownTags, ()))
    return msgspec.defstruct(name, defaults, frozen=True, namespace=dict(nested))
