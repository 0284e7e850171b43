"""What a definition means, found without comparing: all that holds in each version, written out."""

from __future__ import annotations

from collections.abc import Mapping

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.emit.headers import header_versions
from kafkawire.codegen.evolve.side import Side
from kafkawire.codegen.merge.namespace import TOP, Shape, namespace_of
from kafkawire.codegen.resolve.layouts import default_value
from kafkawire.codegen.specs_tree import unstable_versions


def side_of(*messages: MessageDefinition) -> Side:
    return Side("side", {message.name: message for message in messages}, unstable_versions(messages, {}), {})


def meaning_of(message: MessageDefinition) -> object:
    """A value that two definitions share exactly if they mean the same."""
    valid = message.valid_versions
    identity = (message.name, message.type, message.api_key, tuple(valid))
    if not valid:
        return identity
    unstable = unstable_versions((message,), {}).get(message.name)
    shapes = namespace_of(message)
    return (
        *identity,
        frozenset(message.listeners),
        tuple(message.deprecated_versions.intersect(valid)),
        tuple(unstable) if unstable else (),
        header_versions(message)[1],
        {v: (v in message.flexible_versions, _struct(message, shapes, TOP, v)) for v in valid},
    )


def _struct(message: MessageDefinition, shapes: Mapping[str, Shape], name: str, version: int) -> object:
    """Fields in line in their order, tagged ones by their tags."""
    present = [field for field in shapes[name].fields if version in field.versions]
    inline = [field for field in present if version not in field.tagged_versions]
    tagged = {field.tag: _field(message, shapes, field, version) for field in present if field not in inline}
    return [_field(message, shapes, field, version) for field in inline], tagged


def _field(message: MessageDefinition, shapes: Mapping[str, Shape], field: FieldDefinition, version: int) -> object:
    flexible = message.flexible_versions if field.flexible_versions is None else field.flexible_versions
    return (
        field.name,
        str(field.type),
        _struct(message, shapes, field.type.name, version) if field.type.is_struct else None,
        version in field.nullable_versions,
        version in flexible,
        repr(default_value(field)),
        field.ignorable,
        field.map_key,
        field.entity_type,
    )
