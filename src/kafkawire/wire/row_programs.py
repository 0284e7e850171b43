"""Programs that read arrays of structs as sorted rows: objects of one class, without an object for each struct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from kafkawire.wire.programs import ABSENT, FieldProgram, StructProgram


class Rows(NamedTuple):
    """What an array of structs, with an array in each, is read as: an object for each element of these arrays.

    Attributes:
        cls: the class of the objects. They are sorted by its fields; the first has numbers from 0 to 255, the second
            texts.
        fields: names of its fields by those of the structs and of their elements. All fields of both are here, except
            the array.
        members: by such a name, the value for each number of an int8; the other fields are texts.
    """

    cls: type[msgspec.Struct]
    fields: Mapping[str, str]
    members: Mapping[str, Mapping[int, object]]


class SourceProgram(NamedTuple):
    """A field of a struct or of an element, as ``native/rows.c`` takes it.

    Attributes:
        attribute: name of the field in a row.
        members: the value for each number of an int8; None for a text.
        constant: the value where the field is absent.
    """

    attribute: str
    members: Mapping[int, object] | None
    constant: object


class RowsProgram(NamedTuple):
    """Rows as ``native/rows.c`` takes them; the array, which is the last field of a struct in line, has no source."""

    cls: type[msgspec.Struct]
    outer: tuple[SourceProgram | None, ...]
    inner: tuple[SourceProgram | None, ...]


def with_rows(program: StructProgram, rows: Mapping[type[msgspec.Struct], Rows]) -> StructProgram:
    """The program that reads arrays of some structs as rows. It does not write.

    Args:
        program: of a message at one version.
        rows: what the arrays are read as, by the class of their structs.
    """
    return program._replace(fields=tuple(_field(field, rows) for field in program.fields))


def _field(field: FieldProgram, rows: Mapping[type[msgspec.Struct], Rows]) -> FieldProgram:
    if field.child is None:
        return field
    made = rows.get(field.child.cls) if field.array else None
    if made is None:
        return field._replace(child=with_rows(field.child, rows))
    return field._replace(rows=_rows(field.child, made))


def _rows(struct: StructProgram, rows: Rows) -> RowsProgram:
    (array,) = (field.child for field in struct.fields if field.child is not None)
    return RowsProgram(
        rows.cls,
        tuple(_source(field, rows) for field in struct.fields),
        tuple(_source(field, rows) for field in array.fields),
    )


def _source(field: FieldProgram, rows: Rows) -> SourceProgram | None:
    if field.child is not None:
        return None
    members = rows.members.get(field.attribute)
    constant = field.initial if field.presence == ABSENT else None
    if members is not None and isinstance(constant, int):
        constant = members[constant]
    return SourceProgram(rows.fields[field.attribute], members, constant)
