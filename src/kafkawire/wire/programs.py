"""Layouts as the programs that the native engine runs: tuples of numbers, names and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, FieldType, StructLayout

if TYPE_CHECKING:
    from kafkawire.wire.row_programs import RowsProgram

ABSENT: Final = 2
_PRESENCE = {"inline": 0, "tagged": 1, "absent": ABSENT}
_MARKER = {"none": 0, "inline": 1, "tagged": 2}


class FieldProgram(NamedTuple):
    """A field as ``native/program.c`` takes it.

    Attributes:
        attribute: name of the attribute.
        presence: 0 in line, 1 tagged, 2 absent.
        marker: of null, in front of a struct: 0 none, 1 an int8, 2 a uvarint.
        code: a ``struct`` code, or ``s`` (string), ``o`` (octets), ``r`` (records), ``u`` (uuid), ``S`` (struct).
        length_code: ``h`` or ``i``, of a string's or octets' length where it is not compact.
        array, nullable, compact, ignorable: as in the layout.
        tag: the tag of a tagged field, or 0.
        longest: most bytes of a string or of octets.
        initial: value of the attribute where the field is absent.
        child: the program of a struct.
        rows: what an array of structs is read as, if not as a tuple of these.
    """

    attribute: str
    presence: int
    marker: int
    code: str
    length_code: str
    array: bool
    nullable: bool
    compact: bool
    ignorable: bool
    tag: int
    longest: int
    initial: object
    child: StructProgram | None
    rows: RowsProgram | None = None


class StructProgram(NamedTuple):
    """A struct: its class, whether a tagged section ends it, and its fields as the engine visits them."""

    cls: type[msgspec.Struct]
    flexible: bool
    fields: tuple[FieldProgram, ...]


_LATER_PARTS = ("Codec.columns", "RecordCodec.columns")
"""What the engine has had since its first version; programs do not show it."""

FORM = " ".join((*StructProgram._fields, *FieldProgram._fields, *_LATER_PARTS))
"""The form of programs and of the engine. An engine of another form, built from other sources, is not used."""


def program_of(message_cls: type[msgspec.Struct], layout: StructLayout) -> StructProgram:
    """The program of a message at one version.

    Args:
        message_cls: its class, which has the classes of its structs as attributes.
        layout: its layout.

    Raises:
        ValueError: if a field has a type that the native engine does not know.
    """
    return _struct(message_cls, message_cls, layout)


def _struct(message_cls: type[msgspec.Struct], cls: type[msgspec.Struct], layout: StructLayout) -> StructProgram:
    initial = cls()
    fields = tuple(_field(message_cls, initial, field) for field in fields_of_program(layout))
    return StructProgram(cls, layout.flexible, fields)


def fields_of_program(layout: StructLayout) -> tuple[FieldLayout, ...]:
    """The fields of a struct as the engine visits them: those in line, the tagged ones, and the absent ones."""
    return (*layout.inline, *layout.tagged, *layout.absent)


def _field(message_cls: type[msgspec.Struct], initial: msgspec.Struct, field: FieldLayout) -> FieldProgram:
    child: StructProgram | None = None
    code, length_code, longest = "S", "i", 0
    if field.struct is not None:
        child = _struct(message_cls, getattr(message_cls, field.struct.name), field.struct)
    elif field.type != STRUCT:
        type_ = FIELD_TYPES[field.type]
        code, length_code, longest = _code(type_), type_.length_code or "i", type_.maximum_length
    return FieldProgram(
        field.attribute,
        _PRESENCE[field.presence],
        _MARKER[field.null_marker],
        code,
        length_code,
        field.array,
        field.nullable,
        field.compact,
        field.ignorable,
        field.tag or 0,
        longest,
        getattr(initial, field.attribute),
        child,
    )


def _code(type_: FieldType) -> str:
    if type_.code is None:
        return "s" if type_.domain == "text" else "r" if type_.view else "o"
    if type_.domain == "uuid":
        return "u"
    if type_.load or type_.dump or (type_.refuse and type_.domain != "bool"):
        raise ValueError(f"the native engine cannot read or write {type_.name}")
    return type_.code
