"""From definitions to layouts: every version condition is answered here, and nowhere after.

The rules are those of docs/reference/definition-language.md (field-presence, defaults) and of
docs/reference/wire-format.md (compact lengths, structs). A definition with errors must not come here: names are
taken to be declared and defaults to be legal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.naming import attribute_names, class_name, struct_class_name
from kafkawire.codegen.versions import Versions
from kafkawire.layout import FIELD_TYPES, STRUCT, DefaultValue, FieldLayout, MessageLayouts, StructLayout, Uuid


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
        layouts: the layouts.
    """

    definition: MessageDefinition
    top: ResolvedStruct
    structs: Mapping[str, ResolvedStruct]
    layouts: MessageLayouts


def resolve(message: MessageDefinition) -> ResolvedMessage:
    """Resolve a checked definition."""
    top = _struct(message.name, class_name(message.name), message.valid_versions, message.fields)
    structs = _namespace(message)
    ends = _ends(message, (top, *structs.values()))
    layouts: dict[StructLayout, int] = {}
    by_stretch: dict[int, int] = {}
    by_version: dict[int, int] = {}
    for version in message.valid_versions:
        stretch = bisect_right(ends, version)
        if stretch not in by_stretch:
            layout = _struct_layout(message, top, structs, version)
            by_stretch[stretch] = layouts.setdefault(layout, len(layouts))
        by_version[version] = by_stretch[stretch]
    return ResolvedMessage(message, top, structs, MessageLayouts(message.name, tuple(layouts), by_version))


def _ends(message: MessageDefinition, structs: Iterable[ResolvedStruct]) -> list[int]:
    """Where any range of versions begins or has ended: the versions between two of these are alike."""
    ranges = {message.flexible_versions}
    for struct in structs:
        for field in struct.fields:
            ranges |= {field.versions, field.nullable_versions, field.tagged_versions}
            ranges |= {field.flexible_versions} if field.flexible_versions is not None else set()
    return sorted({end for versions in ranges if versions for end in (versions.lowest, versions.highest + 1)})


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
    return _read_default(type_.domain, text)


def _read_default(domain: str, text: str) -> DefaultValue:
    match domain:
        case "bool":
            return text.lower() == "true"
        case "int":
            return int(text, 16) if text.lower().startswith("0x") else int(text)
        case "float":
            return float(text)
        case "uuid":
            return Uuid.from_text(text)
        case _:
            return text


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


def _struct_layout(
    message: MessageDefinition, struct: ResolvedStruct, structs: Mapping[str, ResolvedStruct], version: int
) -> StructLayout:
    fields = tuple(_field_layout(message, struct, field, structs, version) for field in struct.fields)
    return StructLayout(struct.class_name, fields, version in message.flexible_versions)


def _field_layout(
    message: MessageDefinition,
    struct: ResolvedStruct,
    field: FieldDefinition,
    structs: Mapping[str, ResolvedStruct],
    version: int,
) -> FieldLayout:
    present = version in field.versions
    tagged = present and version in field.tagged_versions
    nested = structs[field.type.name] if field.type.is_struct and present else None
    flexible = message.flexible_versions if field.flexible_versions is None else field.flexible_versions
    return FieldLayout(
        name=field.name,
        attribute=struct.attributes[field.name],
        type=STRUCT if field.type.is_struct else field.type.name,
        array=field.type.array,
        struct=_struct_layout(message, nested, structs, version) if nested else None,
        struct_name=structs[field.type.name].class_name if field.type.is_struct else "",
        presence="tagged" if tagged else "inline" if present else "absent",
        tag=field.tag if tagged else None,
        nullable=present and version in field.nullable_versions,
        ever_nullable=bool(field.nullable_versions),
        compact=present and version in flexible,
        default=default_value(field),
        ignorable=field.ignorable,
        map_key=field.map_key,
    )
