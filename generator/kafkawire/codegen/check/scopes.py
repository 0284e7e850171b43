"""Walks the fields and structs of a message, with the path of each."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.check.rule import StructScope
from kafkawire.codegen.definition import FieldDefinition, MessageDefinition, StructDefinition


def common_path(message: MessageDefinition, struct: StructDefinition) -> str:
    """Path of a common struct."""
    return f"{message.name}.commonStructs.{struct.name}"


def field_path(path: str, field: FieldDefinition) -> str:
    """Path of a field of the struct at `path`."""
    return f"{path}.{field.name}"


def struct_scopes(message: MessageDefinition) -> Iterator[StructScope]:
    """All structs of a message: the message itself, common structs, and inline structs, outer ones first."""
    common = {struct.name: struct for struct in message.common_structs}
    top = StructScope(message, message.name, message.fields, message.valid_versions, message.place, True, common)
    yield from _with_inline_structs(top)
    for struct in message.common_structs:
        versions = struct.versions.intersect(message.valid_versions)
        path = common_path(message, struct)
        yield from _with_inline_structs(
            StructScope(message, path, struct.fields, versions, struct.place, False, common)
        )


def _with_inline_structs(scope: StructScope) -> Iterator[StructScope]:
    yield scope
    for field in scope.fields:
        if field.fields:
            yield from _with_inline_structs(_inline_scope(scope, field))


def _inline_scope(outer: StructScope, field: FieldDefinition) -> StructScope:
    versions = outer.versions.intersect(field.versions)
    path = field_path(outer.path, field)
    return StructScope(outer.message, path, field.fields, versions, field.place, False, outer.common)


def all_fields(message: MessageDefinition) -> Iterator[tuple[str, FieldDefinition]]:
    """All fields of a message with their paths, including those of common structs."""
    for scope in struct_scopes(message):
        for field in scope.fields:
            yield field_path(scope.path, field), field


def is_sound(message: MessageDefinition) -> bool:
    """Whether all fields and their types could be read, so that a missing struct is not in the unread part."""
    places = [message.place, *(struct.place for struct in message.common_structs)]
    places.extend(field.place for _, field in all_fields(message))
    return not any(place.refused & {"fields", "type", "commonStructs"} for place in places)


def inline_declarations(message: MessageDefinition) -> Iterator[tuple[str, FieldDefinition]]:
    """The fields outside common structs that declare an inline struct, with or without fields."""
    common = {struct.name for struct in message.common_structs}

    def visit(path: str, fields: tuple[FieldDefinition, ...]) -> Iterator[tuple[str, FieldDefinition]]:
        for field in fields:
            inner = field_path(path, field)
            if field.type.is_struct and field.type.name not in common and "type" not in field.place.refused:
                yield inner, field
            yield from visit(inner, field.fields)

    return visit(message.name, message.fields)
