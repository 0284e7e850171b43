"""Docstrings of generated classes: the text of the definition, and type, versions and default of every field."""

from __future__ import annotations

import textwrap

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.resolve.layouts import ResolvedMessage, ResolvedStruct
from kafkawire.codegen.versions import Versions
from kafkawire.layout import FIELD_TYPES

WIDTH = 110


def message_summary(definition: MessageDefinition) -> str:
    """The first line of a message's module."""
    key = "" if definition.api_key is None else f" {definition.api_key}"
    kinds = {
        "request": f"Request of API{key}",
        "response": f"Response of API{key}",
        "metadata": f"Metadata record{key}",
        "coordinator-key": f"Key of coordinator record{key}",
        "coordinator-value": f"Value of coordinator record{key}",
        "header": "Header",
        "data": "Data",
    }
    versions = definition.valid_versions
    return f"{definition.name}: {kinds[definition.type]}, version{'' if _is_one(versions) else 's'} {versions}."


def message_docstring(message: ResolvedMessage) -> str:
    """The docstring of a message's class, quotes included."""
    return _docstring(message_summary(message.definition), message.top)


def struct_docstring(struct: ResolvedStruct) -> str:
    """The docstring of a struct's class, quotes included."""
    versions = f"versions {struct.versions}" if not _is_one(struct.versions) else f"version {struct.versions}"
    return _docstring(f"{struct.name}, {versions}.", struct)


def _docstring(summary: str, struct: ResolvedStruct) -> str:
    lines = [_quoted(summary)]
    if struct.fields:
        lines += ["", "Attributes:"]
    for field in struct.fields:
        lines += _field_lines(struct.attributes[field.name], field)
    text = "\n".join([*lines, ""] if struct.fields else lines)
    prefix = "r" if "\\" in text else ""
    return f'{prefix}"""{text}"""'


def _field_lines(attribute: str, field: FieldDefinition) -> list[str]:
    """What a field means, if the definition has a text, and then on a line of their own its facts."""
    about = field.about.strip()
    facts = _field_facts(field)
    parts = [f"{about.removesuffix('.')}.", f"Type {facts}"] if about else [facts]
    texts = [f"    {attribute}: {_quoted(parts[0])}", *(f"        {_quoted(part)}" for part in parts[1:])]
    return [line for text in texts for line in textwrap.wrap(text, WIDTH, subsequent_indent="        ")]


def _field_facts(field: FieldDefinition) -> str:
    """The type of a field, unit, versions, nullability, default and tag."""
    facts = [str(field.type), *filter(None, [field_unit(field)]), f"versions {field.versions}"]
    if field.nullable_versions:
        facts.append(f"nullable {field.nullable_versions.intersect(field.versions)}")
    if field.default:
        facts.append(f"default {field.default}")
    if field.tag is not None:
        facts.append(f"tag {field.tag} in {field.tagged_versions}")
    if field.ignorable:
        facts.append("ignorable")
    if not field.type.is_struct and FIELD_TYPES[field.type.name].view:
        facts.append("decoded as a view of the buffer, which it keeps in memory")
    return f"{'; '.join(facts)}."


def field_unit(field: FieldDefinition) -> str:
    """The unit in the name of a number, ``Ms`` or ``Bytes``; empty if there is none."""
    if not field.type.name.startswith(("int", "uint")):
        return ""
    if field.name.endswith("Ms"):
        return "milliseconds"
    return "bytes" if field.name.endswith("Bytes") else ""


def _is_one(versions: Versions) -> bool:
    return versions.lowest == versions.highest


def _quoted(text: str) -> str:
    """Text on one line that is safe inside a raw triple-quoted string, whatever a definition says."""
    shown = "".join(letter if letter.isprintable() else " " if letter.isspace() else "\ufffd" for letter in text)
    return " ".join(shown.split()).replace('"""', "'''").removesuffix('"')
