"""Builds the definition of a message from the JSON tree of its file.

Invalid parts are reported and replaced by placeholders, and listed in `Place.refused`, so that the rest of the file is
still read and checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import cast

from kafkawire.codegen.check import required
from kafkawire.codegen.check.header_versions import BAD_RANGE, BAD_VALUE, entry_attribute
from kafkawire.codegen.check.json_level import FILE_DUPLICATE_KEY, JSON_WRONG_KIND
from kafkawire.codegen.check.rule import Rule
from kafkawire.codegen.definition import (
    FieldDefinition,
    MessageDefinition,
    MessageType,
    Place,
    Span,
    StructDefinition,
    TypeRef,
)
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.parse.attributes import FIELD_ATTRIBUTES, MESSAGE_ATTRIBUTES, STRUCT_ATTRIBUTES
from kafkawire.codegen.parse.objects import FileReport, ObjectReader, integer_of, shown
from kafkawire.codegen.parse.source import Member, Node, Object, Scalar, Sequence
from kafkawire.codegen.spelling import meant_type
from kafkawire.codegen.versions import (
    ALL_VERSIONS,
    NO_VERSIONS,
    OPEN_END,
    Versions,
    VersionsSyntaxError,
    parse_versions,
)
from kafkawire.layout import FIELD_TYPES

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_STRUCT_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
_PLACEHOLDER_TYPE = TypeRef("int8", array=False, is_struct=False)


def read_message(node: Node, file: str, group: str, findings: list[Finding]) -> MessageDefinition | None:
    """Read the tree of a file; None if it is no object. Adds problems to `findings`."""
    stem = PurePosixPath(file.replace("\\", "/")).stem
    if not isinstance(node, Object):
        findings.append(JSON_WRONG_KIND.finding(file, node.span, f"{stem}: a definition is one object"))
        return None
    reader = ObjectReader(node, _own_name(node) or stem, MESSAGE_ATTRIBUTES, FileReport(file, findings, node))
    name = _name(reader, required.MESSAGE_NAME_REQUIRED, required.MESSAGE_NAME_PATTERN)
    type_ = reader.choice("type")
    if type_ is None and "type" not in reader.refused:
        reader.refuse("type", required.MESSAGE_TYPE_REQUIRED, "no type")
    valid_versions = reader.versions("validVersions")
    if valid_versions is None and "validVersions" not in reader.refused:
        reader.refuse("validVersions", required.MESSAGE_VALID_VERSIONS_REQUIRED, "no validVersions")
    flexible_versions = reader.versions("flexibleVersions")
    if not reader.is_given("flexibleVersions") and valid_versions and "flexibleVersions" not in reader.refused:
        reader.refuse("flexibleVersions", required.MESSAGE_FLEXIBLE_REQUIRED, "no flexibleVersions")
    entries = _header_versions(reader)
    return MessageDefinition(
        name=name or stem,
        type=cast(MessageType, type_) if type_ is not None else "data",
        api_key=reader.integer("apiKey"),
        valid_versions=ALL_VERSIONS if valid_versions is None else valid_versions,
        deprecated_versions=reader.versions("deprecatedVersions") or NO_VERSIONS,
        flexible_versions=flexible_versions or NO_VERSIONS,
        header_versions=None if entries is None else tuple((versions, header) for versions, header, _ in entries),
        listeners=reader.choices("listeners"),
        latest_version_unstable=reader.boolean("latestVersionUnstable"),
        common_structs=_common_structs(reader),
        fields=_fields(reader),
        group=group,
        place=_with_entries(reader.place(), entries),
    )


def _own_name(node: Object) -> str:
    """The ``name`` of an object, for paths; empty if it has none."""
    for member in node.members:
        if member.key == "name":
            return shown(getattr(member.value, "text", ""))
    return ""


def _item_path(outer: ObjectReader, attribute: str, index: int, node: Object) -> str:
    """``Message.Field`` or ``Message.commonStructs.Struct``; with the index in place of a name that is missing."""
    name = _own_name(node)
    if not name:
        return f"{outer.path}.{attribute}[{index}]"
    return f"{outer.path}.{name}" if attribute == "fields" else f"{outer.path}.{attribute}.{name}"


def _name(reader: ObjectReader, missing: Rule, pattern: Rule) -> str | None:
    name = reader.text("name")
    if name is None:
        if "name" not in reader.refused:
            reader.refuse("name", missing, "no name")
    elif not _NAME.fullmatch(name):
        reader.refuse("name", pattern, f'"{shown(name)}" is not a legal name')
    return name


_Entry = tuple[Versions, int, Member]


def _header_versions(reader: ObjectReader) -> list[_Entry] | None:
    """The entries of ``headerVersions`` in ascending order."""
    node = reader.map("headerVersions")
    if node is None:
        return [] if "headerVersions" in reader.refused else None
    entries: dict[str, _Entry] = {}
    for member in node.members:
        key = member.key.strip()
        versions = _header_range(key)
        header = integer_of(member.value)
        if versions is None:
            _refuse_entry(reader, BAD_RANGE, member.key_span, f'"{shown(key)}" is not a range of versions')
        elif header is None or not 0 <= header <= OPEN_END:
            _refuse_entry(
                reader, BAD_VALUE, member.value.span, f'"{shown(key)}" has no header version from 0 to {OPEN_END}'
            )
        elif key in entries and entries[key][1] != header:
            _refuse_entry(reader, FILE_DUPLICATE_KEY, member.key_span, f'"{key}" is given twice with different values')
        else:
            entries[key] = (versions, header, member)
    return sorted(entries.values(), key=lambda entry: entry[0].lowest)


def _refuse_entry(reader: ObjectReader, rule: Rule, span: Span, message: str) -> None:
    reader.refused.add("headerVersions")
    reader.report(rule, span, f"headerVersions: {message}")


def _header_range(text: str) -> Versions | None:
    try:
        return parse_versions(text) or None
    except VersionsSyntaxError:
        return None


def _with_entries(place: Place, entries: list[_Entry] | None) -> Place:
    if not entries:
        return place
    spans = {entry_attribute(versions): member.key_span for versions, _, member in entries}
    return Place(place.file, place.span, {**place.attributes, **spans}, place.refused)


def _common_structs(outer: ObjectReader) -> tuple[StructDefinition, ...]:
    return tuple(
        _common_struct(node, _item_path(outer, "commonStructs", index, node), outer.file_report)
        for index, node in enumerate(outer.objects("commonStructs"))
    )


def _common_struct(node: Object, path: str, file_report: FileReport) -> StructDefinition:
    reader = ObjectReader(node, path, STRUCT_ATTRIBUTES, file_report)
    name = reader.text("name")
    if name is None and "name" not in reader.refused:
        reader.refuse("name", required.STRUCT_NAME_REQUIRED, "no name")
    versions = reader.versions("versions")
    if versions is None and "versions" not in reader.refused:
        reader.refuse("versions", required.STRUCT_VERSIONS_REQUIRED, "no versions")
    fields = _fields(reader)
    return StructDefinition(
        name=name or path.rpartition(".")[2],
        versions=ALL_VERSIONS if versions is None else versions,
        deprecated_versions=reader.versions("deprecatedVersions") or NO_VERSIONS,
        fields=fields,
        place=reader.place(),
    )


def _fields(outer: ObjectReader) -> tuple[FieldDefinition, ...]:
    return tuple(
        _field(node, _item_path(outer, "fields", index, node), outer.file_report)
        for index, node in enumerate(outer.objects("fields"))
    )


def _field(node: Object, path: str, file_report: FileReport) -> FieldDefinition:
    reader = ObjectReader(node, path, FIELD_ATTRIBUTES, file_report)
    name = _name(reader, required.FIELD_NAME_REQUIRED, required.FIELD_NAME_PATTERN)
    type_ = _type(reader)
    tagged_versions = reader.versions("taggedVersions") or NO_VERSIONS
    written_versions = reader.versions("versions")
    fields = _fields(reader)
    versions = _field_versions(reader, written_versions, tagged_versions, type_.is_struct and bool(fields))
    return FieldDefinition(
        name=name or path.rpartition(".")[2],
        type=type_,
        versions=versions,
        nullable_versions=reader.versions("nullableVersions") or NO_VERSIONS,
        tag=reader.integer("tag"),
        tagged_versions=tagged_versions,
        default=reader.text("default") or None,  # default-empty-is-none
        ignorable=reader.boolean("ignorable"),
        map_key=reader.boolean("mapKey"),
        entity_type=reader.choice("entityType") or "unknown",
        about=reader.text("about") or "",
        zero_copy=reader.boolean("zeroCopy"),
        flexible_versions=reader.versions("flexibleVersions"),
        fields=fields,
        place=reader.place(without=frozenset() if written_versions is not None else frozenset({"versions"})),
    )


def _field_versions(
    reader: ObjectReader, written: Versions | None, tagged: Versions, declares_struct: bool
) -> Versions:
    """The versions of a field, by default the tagged ones."""
    if written is not None:
        return written
    if "versions" in reader.refused or "taggedVersions" in reader.refused:
        reader.refused.add("versions")
        return ALL_VERSIONS
    if not tagged:
        reader.refuse("versions", required.FIELD_VERSIONS_REQUIRED, "no versions")
        return ALL_VERSIONS
    if declares_struct:
        message = f'no versions, only taggedVersions "{tagged}", on a field that declares a struct'
        reader.refuse("versions", required.FIELD_STRUCT_EXPLICIT_VERSIONS, message, f'add "versions": "{tagged}"')
    return tagged


def _type(reader: ObjectReader) -> TypeRef:
    """The type of a field, without surrounding spaces."""
    text = reader.text("type")
    if text is None:
        if "type" not in reader.refused:
            reader.refuse("type", required.FIELD_TYPE_REQUIRED, "no type")
        return _PLACEHOLDER_TYPE
    text = text.strip()
    element = text.removeprefix("[]")
    if element in FIELD_TYPES:
        return TypeRef(element, array=element != text, is_struct=False)
    if _STRUCT_NAME.fullmatch(element):
        return TypeRef(element, array=element != text, is_struct=True)
    if text == "[]":
        reader.refuse("type", required.FIELD_TYPE_ARRAY_EMPTY, 'type "[]" has no element type')
    elif element.startswith("[]"):
        reader.refuse("type", required.FIELD_TYPE_ARRAY_OF_ARRAY, f'type "{shown(text)}" is an array of arrays')
    else:
        meant = meant_type(element, _declared_structs(reader.file_report.root))
        hint = "" if meant is None else f'did you mean "{meant}"?'
        reader.refuse("type", required.FIELD_TYPE_UNKNOWN, f'type "{shown(text)}" is not known', hint)
    return _PLACEHOLDER_TYPE


def _declared_structs(node: Node) -> Iterator[str]:
    """The names of common structs, and the types of fields that declare fields, if they are capitalised."""
    if isinstance(node, Object):
        values = {member.key: member.value for member in node.members}
        name = values.get("type", values.get("name")) if "fields" in values else None
        text = name.text.strip().removeprefix("[]") if isinstance(name, Scalar) else ""
        if _STRUCT_NAME.fullmatch(text):
            yield text
        for value in values.values():
            yield from _declared_structs(value)
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _declared_structs(item)
