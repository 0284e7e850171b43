"""A message as a flat mapping of its structs by name, for comparing and merging.

Struct names are unique in a message, so the mapping has the same content as the definition; `to_message` decides which
structs are inline and which common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition, StructDefinition
from kafkawire.codegen.versions import Versions

TOP = ""
"""Key of the message's own fields in a namespace; no struct has an empty name."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A struct without nested fields.

    Attributes:
        fields: its fields in file order; their own ``fields`` are empty.
        versions: of the struct, or of the field that declares it (field-inline-versions).
        common: the common struct as written, for attributes that merging ignores; None for an inline struct.
    """

    fields: tuple[FieldDefinition, ...]
    versions: Versions
    common: StructDefinition | None = None


def namespace_of(message: MessageDefinition) -> dict[str, Shape]:
    """The message's own fields under `TOP`, then every struct by name in the order of first mention."""
    shapes: dict[str, Shape] = {}
    common = {struct.name for struct in message.common_structs}

    def enter(name: str, fields: tuple[FieldDefinition, ...], versions: Versions, of: StructDefinition | None) -> None:
        shapes[name] = Shape(tuple(replace(field, fields=()) for field in fields), versions, of)
        for field in fields:
            if field.type.is_struct and field.type.name not in common:
                enter(field.type.name, field.fields, field.versions, None)

    enter(TOP, message.fields, message.valid_versions, None)
    for struct in message.common_structs:
        enter(struct.name, struct.fields, struct.versions, struct)
    return shapes


def reach(shapes: Mapping[str, Shape], versions: frozenset[int]) -> dict[str, frozenset[int]]:
    """For each struct, the versions among those given in which a field uses it."""
    found: dict[str, frozenset[int]] = {name: frozenset() for name in shapes}

    def visit(name: str, at: frozenset[int]) -> None:
        fresh = at - found[name]
        if not fresh:
            return
        found[name] |= fresh
        for field in shapes[name].fields:
            if field.type.is_struct:
                visit(field.type.name, frozenset(v for v in fresh if v in field.versions))

    visit(TOP, versions)
    return found


def to_message(message: MessageDefinition, shapes: Mapping[str, Shape]) -> MessageDefinition:
    """``message`` with the fields and structs of a namespace.

    A struct is inline at its only field, unless it was a common struct or is used in a common struct, which cannot
    contain inline ones (struct-inline-in-common).
    """
    common = _common_names(shapes)

    def nest(fields: Iterable[FieldDefinition]) -> tuple[FieldDefinition, ...]:
        return tuple(
            replace(field, fields=nest(shapes[field.type.name].fields))
            if field.type.is_struct and field.type.name not in common
            else _reference(field)
            for field in fields
        )

    structs = tuple(
        replace(
            shape.common or StructDefinition(name, shape.versions, (), message.place),
            name=name, versions=shape.versions, fields=nest(shape.fields),
        )
        for name, shape in shapes.items()
        if name in common
    )  # fmt: skip
    return replace(message, fields=nest(shapes[TOP].fields), common_structs=structs)


def _reference(field: FieldDefinition) -> FieldDefinition:
    """The field without the fields of its struct, which is common."""
    attributes = {name: span for name, span in field.place.attributes.items() if name != "fields"}
    return replace(field, fields=(), place=replace(field.place, attributes=attributes))


def _common_names(shapes: Mapping[str, Shape]) -> set[str]:
    uses = [field.type.name for shape in shapes.values() for field in shape.fields if field.type.is_struct]
    common = {name for name, shape in shapes.items() if shape.common or uses.count(name) > 1}
    pending = list(common)
    while pending:
        for field in shapes[pending.pop()].fields:
            if field.type.is_struct and field.type.name not in common:
                common.add(field.type.name)
                pending.append(field.type.name)
    return common
