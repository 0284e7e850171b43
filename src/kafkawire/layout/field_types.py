"""The field types of docs/reference/definition-language.md: one record each, of a class in ``kinds``.

No other module states anything about a single type. Everything that handles values reads this table: the checks of
defaults, the generator, the reference codec, the JSON form, the strategies and the columns.
"""

from __future__ import annotations

from kafkawire.layout.kinds import BoolType, FieldType, OctetsType, TextType, UuidType, floating, integer

FIELD_TYPES: dict[str, FieldType] = {
    type_.name: type_
    for type_ in (
        BoolType(name="bool"),
        integer("int8", 1),
        integer("int16", 2),
        integer("uint16", 2, signed=False),
        integer("int32", 4),
        integer("uint32", 4, signed=False),
        integer("int64", 8),
        UuidType(name="uuid"),
        floating("float64", 8),
        TextType(name="string", length_code="h", maximum_length=0x7FFF),
        OctetsType(name="bytes", length_code="i", maximum_length=0x7FFFFFFF),
        OctetsType(
            name="records", length_code="i", maximum_length=0x7FFFFFFF, annotation="RecordBytes", default=None,
            taggable=False, element=False, view=True,
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
