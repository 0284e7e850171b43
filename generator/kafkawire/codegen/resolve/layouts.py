"""From definitions to layouts.

The rules are those of docs/reference/definition-language.md (field-presence, defaults) and of
docs/reference/wire-format.md (compact lengths, structs). The definition must have no errors: its
names are declared and its defaults legal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import UNSET

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.naming import attribute_names, class_name, struct_class_name
from kafkawire.codegen.versions import Versions
from kafkawire.layout import FIELD_TYPES, DefaultValue, Field, MessageLayouts, snake_case


@dataclass(frozen=True, slots=True)
class ResolvedStruct:
    """A struct of a message, whatever the version.

    Attributes:
        name: Kafka's name.
        class_name: name of its Python class.
        versions: versions of the message in which the struct can occur.
        fields: its fields in file order.
        attributes: field name to Python attribute.
    """

    name: str
    class_name: str
    versions: Versions
    fields: tuple[FieldDefinition, ...]
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ResolvedMessage:
    """A message with its namespace of structs and the layout of every version.

    Attributes:
        definition: what was written.
        top: the message itself as a struct.
        structs: all other structs by Kafka's name, in the order of their first mention.
        fields: class name to fields, of the message and of its structs.
        layouts: the layouts.
    """

    definition: MessageDefinition
    top: ResolvedStruct
    structs: Mapping[str, ResolvedStruct]
    fields: Mapping[str, tuple[Field, ...]]
    layouts: MessageLayouts


def resolve(message: MessageDefinition) -> ResolvedMessage:
    """Resolve a checked definition."""
    top = _struct(message.name, class_name(message.name), message.valid_versions, message.fields)
    structs = _namespace(message)
    fields = {struct.class_name: _fields(message, struct, structs) for struct in (top, *structs.values())}
    versions, flexible = str(message.valid_versions), str(message.flexible_versions)
    return ResolvedMessage(message, top, structs, fields, MessageLayouts(message.name, versions, flexible, fields))


def resolve_message(message: MessageDefinition) -> MessageLayouts:
    """The layouts alone, for comparing definitions."""
    return resolve(message).layouts


def default_value(field: FieldDefinition) -> DefaultValue:
    """The Python value of a field's default text."""
    text = field.default or ""
    if field.type.array or field.type.is_struct:
        return None if text == "null" else ()
    type_ = FIELD_TYPES[field.type.name]
    if type_.default is None or (type_.nullable and text == "null"):
        return None
    if not text:
        return type_.default
    return type_.parse(text)


def _namespace(message: MessageDefinition) -> dict[str, ResolvedStruct]:
    """All structs of a message by name: one flat namespace."""
    found: dict[str, ResolvedStruct] = {}
    common = {struct.name: struct for struct in message.common_structs}

    def inside(name: str, versions: Versions, fields: tuple[FieldDefinition, ...]) -> ResolvedStruct:
        return _struct(name, struct_class_name(name, message.name), versions, fields)

    def visit(fields: tuple[FieldDefinition, ...], within: Versions) -> None:
        for field in fields:
            if not field.type.is_struct:
                continue
            declared = common.get(field.type.name)
            inner = declared.fields if declared else field.fields
            reach = (declared.versions if declared else field.versions).intersect(within)
            if field.type.name not in found:
                found[field.type.name] = inside(field.type.name, reach, inner)
                visit(inner, reach)

    visit(message.fields, message.valid_versions)
    for struct in message.common_structs:
        if struct.name not in found:
            found[struct.name] = inside(struct.name, struct.versions.intersect(message.valid_versions), struct.fields)
            visit(struct.fields, message.valid_versions)
    return found


def _struct(name: str, made: str, versions: Versions, fields: tuple[FieldDefinition, ...]) -> ResolvedStruct:
    return ResolvedStruct(name, made, versions, fields, attribute_names(field.name for field in fields))


def _fields(
    message: MessageDefinition, struct: ResolvedStruct, structs: Mapping[str, ResolvedStruct]
) -> tuple[Field, ...]:
    return tuple(_field(message, field, struct.attributes[field.name], structs) for field in struct.fields)


def _field(
    message: MessageDefinition, field: FieldDefinition, attribute: str, structs: Mapping[str, ResolvedStruct]
) -> Field:
    """The field with what its definition states; what follows from its name, type and message is left out."""
    element = structs[field.type.name].class_name if field.type.is_struct else field.type.name
    is_always_there = field.versions.contains(message.valid_versions)
    default = default_value(field)
    return Field(
        name=field.name,
        type=f"[]{element}" if field.type.array else element,
        versions="0+" if is_always_there else str(field.versions),
        nullable=str(field.nullable_versions),
        tagged=str(field.tagged_versions),
        tag=field.tag,
        flexible=None if field.flexible_versions is None else str(field.flexible_versions),
        default=UNSET if repr(default) == repr(_implicit_default(field)) else default,  # -0.0 is not 0.0
        ignorable=field.ignorable,
        map_key=field.map_key,
        attribute="" if attribute == snake_case(field.name) else attribute,
    )


def _implicit_default(field: FieldDefinition) -> DefaultValue:
    is_primitive = not (field.type.array or field.type.is_struct)
    return FIELD_TYPES[field.type.name].default if is_primitive else ()
