"""Writes a definition in one canonical form, without descriptions and comments.

Nothing is lost (``tests/laws/codegen``): every attribute of the original is in the output with the same meaning, unless
it has its default value (`WITHOUT_EFFECT` in that test).
"""

from __future__ import annotations

import json

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition, StructDefinition

JsonValue = None | bool | int | str | list["JsonValue"] | dict[str, "JsonValue"]

_WIDTH = 120


def as_json(message: MessageDefinition, *, about: bool = False) -> dict[str, JsonValue]:
    """A definition as JSON in the usual order of keys, without comments; `about` texts only if requested.

    Attributes that have their defaults are left out, versions are in canonical text, ``versions`` is always written.
    """
    made: dict[str, JsonValue] = {}
    if message.api_key is not None:
        made["apiKey"] = message.api_key
    made["type"] = message.type
    if message.listeners:
        made["listeners"] = list(message.listeners)
    made["name"] = message.name
    made["validVersions"] = str(message.valid_versions)
    if message.deprecated_versions:
        made["deprecatedVersions"] = str(message.deprecated_versions)
    if message.latest_version_unstable:
        made["latestVersionUnstable"] = True
    if message.valid_versions or message.flexible_versions:
        made["flexibleVersions"] = str(message.flexible_versions)
    if message.header_versions is not None:
        made["headerVersions"] = {str(versions): str(header) for versions, header in message.header_versions}
    if message.common_structs:
        made["commonStructs"] = [_struct(struct, about) for struct in message.common_structs]
    if message.valid_versions or message.fields:
        made["fields"] = [_field(field, about) for field in message.fields]
    return made


def canonical_text(message: MessageDefinition, *, about: bool = False) -> str:
    """A definition file with one line for each attribute of the message, and for each field that fits into a line."""
    members = (f"{json.dumps(key)}: {_value(item, 2)}" for key, item in as_json(message, about=about).items())
    return "{\n  " + ",\n  ".join(members) + "\n}\n"


def _struct(struct: StructDefinition, about: bool) -> JsonValue:
    made: dict[str, JsonValue] = {"name": struct.name, "versions": str(struct.versions)}
    if struct.deprecated_versions:
        made["deprecatedVersions"] = str(struct.deprecated_versions)
    made["fields"] = [_field(field, about) for field in struct.fields]
    return made


def _field(field: FieldDefinition, about: bool) -> JsonValue:
    made: dict[str, JsonValue] = {"name": field.name, "type": str(field.type), "versions": str(field.versions)}
    if field.nullable_versions:
        made["nullableVersions"] = str(field.nullable_versions)
    if field.tag is not None:
        made["tag"] = field.tag
    if field.tagged_versions:
        made["taggedVersions"] = str(field.tagged_versions)
    if field.default:
        made["default"] = field.default
    if field.ignorable:
        made["ignorable"] = True
    if field.map_key:
        made["mapKey"] = True
    if field.entity_type != "unknown":
        made["entityType"] = field.entity_type
    if field.zero_copy:
        made["zeroCopy"] = True
    if field.flexible_versions is not None:
        made["flexibleVersions"] = str(field.flexible_versions)
    if about and field.about:
        made["about"] = field.about
    if field.fields or (field.type.is_struct and "fields" in field.place.attributes):
        made["fields"] = [_field(inner, about) for inner in field.fields]
    return made


def _value(value: JsonValue, indent: int) -> str:
    """A value that begins in a line with this indentation."""
    if not isinstance(value, list) or not any(isinstance(item, dict) for item in value):
        return json.dumps(value, ensure_ascii=False)
    blanks = "\n" + " " * (indent + 2)
    items = [_object(item, indent + 2) if isinstance(item, dict) else json.dumps(item) for item in value]
    return "[" + blanks + ("," + blanks).join(items) + "\n" + " " * indent + "]"


def _object(value: dict[str, JsonValue], indent: int) -> str:
    """An object in a list: its attributes on one line as far as they fit; nested fields begin a new line."""
    text = " " * indent + "{"
    for key, item in value.items():
        part = f" {json.dumps(key)}: {_value(item, indent + 2)}"
        column = len(text) - text.rfind("\n") - 1
        begins_line = "\n" in part or column + len(part) + len(",  }") > _WIDTH
        separator = "" if text.endswith("{") else ","
        text += separator + ("\n" + " " * (indent + 1) if begins_line and separator else "") + part
    return text.lstrip() + " }"
