"""Python types of fields, as written in generated code."""

from __future__ import annotations

from kafkawire.codegen.definition import FieldDefinition
from kafkawire.codegen.emit.names import CodecNames
from kafkawire.codegen.emit.used_names import UsedNames
from kafkawire.codegen.resolve.layouts import ResolvedMessage
from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout

UNKNOWN_ENTITY = "unknown"


def field_annotation(field: FieldDefinition, message: ResolvedMessage, use: UsedNames, *, default_is_none: bool) -> str:
    """The type of a field of a class, which must hold the values of all versions."""
    if field.type.is_struct:
        element = f"{message.top.class_name}.{message.structs[field.type.name].class_name}"
    elif field.entity_type != UNKNOWN_ENTITY:
        element = use(field.entity_type[0].upper() + field.entity_type[1:])
    else:
        element = use.annotation(FIELD_TYPES[field.type.name].annotation)
    return _wrapped(element, use, is_array=field.type.array, optional=default_is_none or bool(field.nullable_versions))


def layout_annotation(field: FieldLayout, names: CodecNames) -> str:
    """The type of a local that holds a field of one layout."""
    if field.type == STRUCT:
        element = f"{names.message_class}.{field.struct_name}"
    else:
        element = names.use.annotation(FIELD_TYPES[field.type].annotation)
    return _wrapped(element, names.use, is_array=field.array, optional=field.default is None or field.nullable)


def _wrapped(element: str, use: UsedNames, *, is_array: bool, optional: bool) -> str:
    annotation = f"{use('Sequence')}[{element}]" if is_array else element
    return f"{annotation} | None" if optional else annotation
