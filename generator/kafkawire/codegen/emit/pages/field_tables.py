"""The tables of fields on the page of a message: one for the message, and one for each of its structs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kafkawire.codegen.definition import FieldDefinition
from kafkawire.codegen.emit.annotations import UNKNOWN_ENTITY
from kafkawire.codegen.emit.docstrings import field_unit
from kafkawire.codegen.emit.names import literal
from kafkawire.codegen.resolve.layouts import ResolvedMessage, ResolvedStruct, default_value
from kafkawire.layout import snake_case


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field in the table of its struct.

    Attributes:
        name: Kafka's name.
        struct: class of the struct that it holds; empty for other types.
        type_remark: what the value identifies, and whether it may be null: ``(topicName) or null in 1+``.
        meaning: the sentence of the definition, then further facts.
    """

    name: str
    attribute: str
    type: str
    struct: str
    type_remark: str
    versions: str
    default: str
    meaning: str
    is_ignorable: bool


@dataclass(frozen=True, slots=True)
class FieldTable:
    """The fields of a struct.

    Attributes:
        class_name: the class.
        is_message: whether it is the message itself.
        holders: the fields that hold the struct, ``topics`` or ``Topic.partitions``.
        versions: in words.
        rows: its fields in the order of the definition.
    """

    class_name: str
    is_message: bool
    holders: tuple[str, ...]
    versions: str
    rows: tuple[FieldRow, ...]


def struct_tables(message: ResolvedMessage) -> Iterator[FieldTable]:
    """The table of the message, then those of its structs in the order of their first mention."""
    for struct in (message.top, *message.structs.values()):
        is_one = struct.versions.lowest == struct.versions.highest
        yield FieldTable(
            class_name=struct.class_name,
            is_message=struct is message.top,
            holders=tuple(_holders(struct, message)),
            versions=f"version{'' if is_one else 's'} {struct.versions}",
            rows=tuple(_row(field, struct.attributes[field.name], message) for field in struct.fields),
        )


def spelled_row(tables: Iterable[FieldTable]) -> FieldRow | None:
    """The first field whose name has several words, to show how Kafka spells it; None if there is none."""
    return next((row for table in tables for row in table.rows if "_" in row.attribute.strip("_")), None)


def _holders(held: ResolvedStruct, message: ResolvedMessage) -> Iterator[str]:
    for struct in (message.top, *message.structs.values()):
        prefix = "" if struct is message.top else f"{struct.class_name}."
        for field in struct.fields:
            if field.type.is_struct and message.structs[field.type.name] is held:
                yield prefix + struct.attributes[field.name]


def _row(field: FieldDefinition, attribute: str, message: ResolvedMessage) -> FieldRow:
    default = default_value(field)
    inner = message.structs[field.type.name].class_name if field.type.is_struct else ""
    is_one_struct = bool(inner) and not field.type.array and default is not None
    return FieldRow(
        name=field.name,
        attribute=attribute,
        type=f"[]{inner}" if inner and field.type.array else inner or str(field.type),
        struct=inner,
        type_remark=" ".join(_type_remarks(field)),
        versions=str(field.versions),
        default=f"{inner}()" if is_one_struct else literal(default),
        meaning=" ".join(_sentences(field, attribute)),
        is_ignorable=field.ignorable,
    )


def _type_remarks(field: FieldDefinition) -> Iterator[str]:
    if field.entity_type != UNKNOWN_ENTITY:
        yield f"({field.entity_type})"
    nullable = field.nullable_versions.intersect(field.versions)
    if nullable:
        yield "or null" if nullable == field.versions else f"or null in {nullable}"


def _sentences(field: FieldDefinition, attribute: str) -> Iterator[str]:
    about = field.about.strip()
    if about:
        yield about if about.endswith((".", "!", "?")) else f"{about}."
    notes = "; ".join(_notes(field, attribute))
    if notes:
        yield f"{notes[0].upper()}{notes[1:]}."


def _notes(field: FieldDefinition, attribute: str) -> Iterator[str]:
    if attribute != snake_case(field.name):
        yield f"named {field.name} in the definition"
    if field_unit(field) and not field.about.strip():
        yield field_unit(field)
    if field.tag is not None:
        yield f"tag {field.tag} in {field.tagged_versions.intersect(field.versions)}"
    if field.map_key:
        yield "map key"
    if field.ignorable:
        yield "ignorable"
    if field.flexible_versions is not None:
        yield f"compact in {field.flexible_versions}" if field.flexible_versions else "never compact"
