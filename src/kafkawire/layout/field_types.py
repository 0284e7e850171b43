"""The field types: one record each, and nothing about a type stands anywhere else.

The types of docs/reference/definition-language.md. Fixed-width types are described by their ``struct`` code and range;
variable-length ones by the code of their plain length prefix. Everything that handles values (checks of
defaults, the generator's templates, the reference codec, the JSON form, strategies) reads this table.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from kafkawire.layout.model import DefaultValue
from kafkawire.layout.uuid import Uuid

Domain = Literal["bool", "int", "float", "uuid", "text", "octets"]
"""What kind of Python value a type holds; decides how defaults and JSON are read and written."""


class FieldType(msgspec.Struct, frozen=True):
    """One primitive type of the definition language.

    Attributes:
        name: the text that definitions use.
        domain: kind of Python value.
        annotation: Python type of a value, as written in generated classes.
        arrow: name of the Arrow type of a column: the next larger signed one for unsigned integers, which Spark does
            not have. Columns of ``string`` hold ``str`` of each value.
        code: ``struct`` code (big-endian) of a fixed-width type, else None.
        size: bytes of a fixed-width type, else None.
        length_code: ``struct`` code of the plain length prefix of a variable-length type, else None.
        maximum_length: most bytes of a variable-length value.
        minimum, maximum: range of an integer type.
        nullable: whether ``nullableVersions`` may be given.
        default: the implicit default.
        taggable: whether a field of the type may be tagged (field-tagged-records).
        element: whether arrays of the type exist (field-array-of-records).
        view: whether decoding gives a view of the buffer instead of a copy: the type is for large values.
    """

    name: str
    domain: Domain
    annotation: str
    arrow: str
    code: str | None = None
    size: int | None = None
    length_code: str | None = None
    maximum_length: int = 0
    minimum: int = 0
    maximum: int = 0
    nullable: bool = False
    default: DefaultValue = None
    taggable: bool = True
    element: bool = True
    view: bool = False


def _integer(name: str, code: str, size: int, *, signed: bool = True) -> FieldType:
    bits = 8 * size
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    arrow = name if signed else f"int{2 * bits}"
    return FieldType(name, "int", "int", arrow, code=code, size=size, minimum=low, maximum=high, default=0)


FIELD_TYPES: dict[str, FieldType] = {
    type_.name: type_
    for type_ in (
        FieldType("bool", "bool", "bool", "bool", code="?", size=1, default=False),
        _integer("int8", "b", 1),
        _integer("int16", "h", 2),
        _integer("uint16", "H", 2, signed=False),
        _integer("int32", "i", 4),
        _integer("uint32", "I", 4, signed=False),
        _integer("int64", "q", 8),
        FieldType("uuid", "uuid", "Uuid", "string", code="16s", size=16, default=Uuid()),
        FieldType("float64", "float", "float", "double", code="d", size=8, default=0.0),
        FieldType("string", "text", "str", "string", length_code="h", maximum_length=0x7FFF, nullable=True, default=""),
        FieldType(
            "bytes", "octets", "bytes", "binary", length_code="i", maximum_length=0x7FFFFFFF, nullable=True,
            default=b"",
        ),
        FieldType(
            "records", "octets", "RecordBytes", "binary", length_code="i", maximum_length=0x7FFFFFFF, nullable=True,
            default=None, taggable=False, element=False, view=True,
        ),
    )
}  # fmt: skip
"""The types by name."""

STRUCT = "struct"
"""The ``type`` of a field layout whose values are structs."""

ENTITY_TYPES: dict[str, str] = {
    "transactionalId": "string",
    "producerId": "int64",
    "groupId": "string",
    "topicName": "string",
    "brokerId": "int32",
}
"""``entityType`` values and the base type that each requires (field-entity-type-match); ``unknown`` goes with any."""
