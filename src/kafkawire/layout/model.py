"""What a message looks like on the wire at one version, as plain immutable data.

The generator prints code from layouts; the reference codec and the JSON form interpret the same layouts at run
time. No other module decides how a field is written.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from kafkawire.layout.uuid import Uuid

Presence = Literal["inline", "tagged", "absent"]
"""Where a field is in the bytes of a version (field-presence)."""

DefaultValue = bool | int | float | str | bytes | Uuid | tuple[()] | None
"""Default of a field. A struct's is ``()`` for "all fields at their defaults" or ``None``; an array's likewise."""


class FieldLayout(msgspec.Struct, frozen=True):
    """One field of a struct at one version.

    Attributes:
        name: Kafka's name, ``TopicId``.
        attribute: the Python attribute, ``topic_id``.
        type: name of the element type in the table of field types (``int32``, ``string`` ...) or ``struct``.
        array: whether the field is an array of that type.
        struct: layout of the struct, if ``type`` is ``struct`` and the field is present in the version.
        struct_name: class of the struct, also where the field is absent; empty for other types.
        presence: in line, in the tagged section, or not in this version.
        tag: tag number if ``presence`` is ``tagged``.
        nullable: whether null is legal in this version.
        ever_nullable: whether null is legal in any version of the field.
        compact: whether lengths and counts are uvarints of n + 1 (the version is flexible for this field).
        default: the value the field has when it is absent (value-decode-absent).
        ignorable: whether a non-default value may be dropped in a version that lacks the field (encode-ignorable).
        map_key: whether the field is part of the key of its struct (field-map-key).
    """

    name: str
    attribute: str
    type: str
    array: bool = False
    struct: StructLayout | None = None
    struct_name: str = ""
    presence: Presence = "inline"
    tag: int | None = None
    nullable: bool = False
    ever_nullable: bool = False
    compact: bool = False
    default: DefaultValue = None
    ignorable: bool = False
    map_key: bool = False

    @property
    def json_name(self) -> str:
        """The key in Kafka's JSON form: the name with its first letter lowered (json-name)."""
        return self.name[0].lower() + self.name[1:]

    @property
    def null_marker(self) -> Literal["none", "inline", "tagged"]:
        """How a nullable struct says whether it is null: by an int8 before it, or in a tagged field by a uvarint.

        Other fields have no marker.

        wire-nullable-struct and wire-nullable-struct-tagged.
        """
        if self.struct is None or self.array or not self.nullable:
            return "none"
        return "tagged" if self.presence == "tagged" else "inline"


class StructLayout(msgspec.Struct, frozen=True):
    """A struct at one version: its fields in file order, and whether a tagged section ends it.

    Attributes:
        name: name of the struct's class, which is Kafka's name of the struct unless Python needs that name.
        fields: all fields of the struct in file order, those absent from the version included.
        flexible: whether the struct ends in a tagged-field section (wire-section-everywhere).
    """

    name: str
    fields: tuple[FieldLayout, ...]
    flexible: bool

    @property
    def inline(self) -> tuple[FieldLayout, ...]:
        """In-line fields in wire order."""
        return tuple(field for field in self.fields if field.presence == "inline")

    @property
    def tagged(self) -> tuple[FieldLayout, ...]:
        """Tagged fields in tag order (tagged-order)."""
        return tuple(sorted((f for f in self.fields if f.presence == "tagged"), key=lambda f: f.tag or 0))

    @property
    def absent(self) -> tuple[FieldLayout, ...]:
        """Fields of the struct that this version lacks."""
        return tuple(field for field in self.fields if field.presence == "absent")
