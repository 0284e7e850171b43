"""The page about one message: what templates/pages/message.md.j2 may see."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.emit.annotations import UNKNOWN_ENTITY
from kafkawire.codegen.emit.docstrings import field_unit
from kafkawire.codegen.emit.grammar import grammar_tree, runs_text, versions_text
from kafkawire.codegen.emit.headers import header_versions
from kafkawire.codegen.emit.names import literal
from kafkawire.codegen.emit.pages.construction import construction
from kafkawire.codegen.emit.pages.lineage import Lineage, lineage_text, proposed_versions, versions_by_release
from kafkawire.codegen.emit.pages.version_changes import LayoutChange, layout_changes
from kafkawire.codegen.naming import class_name, module_name
from kafkawire.codegen.resolve.layouts import ResolvedMessage, ResolvedStruct, default_value
from kafkawire.codegen.versions import Versions
from kafkawire.layout import snake_case


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field in the table of its struct."""

    attribute: str
    type: str
    struct: str
    versions: str
    nullable: str
    default: str
    notes: tuple[str, ...]
    about: str


@dataclass(frozen=True, slots=True)
class StructSection:
    """A nested struct and its table of fields."""

    class_name: str
    versions: str
    fields: tuple[FieldRow, ...]


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version: where it comes from and what changed since the one before."""

    version: int
    origin: str
    header: str
    remarks: tuple[str, ...]
    is_first: bool
    changes: tuple[LayoutChange, ...]
    differences: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class WireSection:
    """A distinct layout of the message."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Construction:
    """An example in Python and the version that it is for."""

    source: str
    version: int
    needs_uuid: bool


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Everything that the template of a message's page prints.

    Attributes:
        kind: the type in words, ``request``.
        partner: the response of a request, the request of a response, the value of a key, and the other way round.
        header: header version by message version in words; empty for other types.
        source: the file of the definition, relative to the folder of definitions.
        layouts: the distinct layouts, newest first.
    """

    name: str
    class_name: str
    package: str
    module: str
    source: str
    kind: str
    api_key: int | None
    partner: MessageDefinition | None
    versions: str
    flexible_versions: str
    unstable_versions: str
    deprecated_versions: str
    header: str
    listeners: tuple[str, ...]
    releases: tuple[tuple[str, str], ...]
    proposed: str
    aliases: tuple[str, ...]
    fields: tuple[FieldRow, ...]
    structs: tuple[StructSection, ...]
    construction: Construction
    history: tuple[VersionRow, ...]
    layouts: tuple[WireSection, ...]


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """What is known of a message beside its definition.

    Attributes:
        unpublished: releases that did not publish the folder of its definition.
    """

    package: str
    module: str
    partner: MessageDefinition | None
    unstable: Versions
    releases: Sequence[str]
    unpublished: Collection[str]
    lineage: Mapping[int, Lineage]
    aliases: tuple[str, ...]


def page_path(message: MessageDefinition) -> str:
    """Where the page of a message lies; module names differ in more than case, which some file systems ignore."""
    return f"messages/{module_name(message.name)}.md"


def message_page(message: ResolvedMessage, facts: MessageFacts) -> MessagePage:
    """Gather what the page of a message says."""
    definition = message.definition
    versions = definition.valid_versions
    _, headers = header_versions(definition)
    return MessagePage(
        name=definition.name,
        class_name=class_name(definition.name),
        package=facts.package,
        module=f"{facts.package}.{facts.module}",
        source="/".join(filter(None, (definition.group, f"{definition.name}.json"))),
        kind=definition.type.replace("-", " "),
        api_key=definition.api_key,
        partner=facts.partner,
        versions=str(versions),
        flexible_versions=str(definition.flexible_versions.intersect(versions)),
        unstable_versions=str(facts.unstable),
        deprecated_versions=str(definition.deprecated_versions.intersect(versions)),
        header=header_text(headers),
        listeners=definition.listeners,
        releases=versions_by_release(facts.lineage, facts.releases, facts.unpublished) if facts.lineage else (),
        proposed=proposed_versions(facts.lineage),
        aliases=facts.aliases,
        fields=tuple(_field_rows(message.top, message)),
        structs=tuple(_struct_section(struct, message) for struct in message.structs.values()),
        construction=_construction(message, facts.unstable),
        history=version_rows(message, facts),
        layouts=tuple(_wire_sections(message)),
    )


def header_text(headers: Mapping[int, int] | Mapping[int, str]) -> str:
    """``1``, or ``1 in 0-5, 2 in 6-8``."""
    by_header: dict[str, list[int]] = {}
    for version, header in headers.items():
        by_header.setdefault(str(header), []).append(version)
    if len(by_header) == 1:
        return next(iter(by_header))
    return ", ".join(f"{header} in {runs_text(versions)}" for header, versions in by_header.items())


def version_rows(message: ResolvedMessage, facts: MessageFacts) -> tuple[VersionRow, ...]:
    """All versions, oldest first."""
    definition = message.definition
    _, headers = header_versions(definition)
    rows = []
    for version in definition.valid_versions:
        is_first = version == definition.valid_versions.lowest
        layout = message.layouts.of_version(version)
        lineage = facts.lineage.get(version, Lineage())
        remarks = [
            *(["unstable"] if version in facts.unstable else []),
            *(["deprecated"] if version in definition.deprecated_versions else []),
        ]
        rows.append(
            VersionRow(
                version=version,
                origin=lineage_text(lineage, [name for name in facts.releases if name not in facts.unpublished]),
                header=str(headers[version]) if version in headers else "",
                remarks=tuple(remarks),
                is_first=is_first,
                changes=() if is_first else layout_changes(message.layouts.of_version(version - 1), layout),
                differences=lineage.differences,
            )
        )
    return tuple(rows)


def _struct_section(struct: ResolvedStruct, message: ResolvedMessage) -> StructSection:
    is_one = struct.versions.lowest == struct.versions.highest
    versions = f"version{'' if is_one else 's'} {struct.versions}"
    return StructSection(struct.class_name, versions, tuple(_field_rows(struct, message)))


def _field_rows(struct: ResolvedStruct, message: ResolvedMessage) -> Iterator[FieldRow]:
    for field in struct.fields:
        default = default_value(field)
        inner = message.structs[field.type.name].class_name if field.type.is_struct else ""
        is_one_struct = bool(inner) and not field.type.array and default is not None
        yield FieldRow(
            attribute=struct.attributes[field.name],
            type=str(field.type),
            struct=inner,
            versions=str(field.versions),
            nullable=str(field.nullable_versions.intersect(field.versions)) if field.nullable_versions else "",
            default=f"{inner}()" if is_one_struct else literal(default),
            notes=tuple(_notes(field, struct.attributes[field.name])),
            about=field.about.strip(),
        )


def _notes(field: FieldDefinition, attribute: str) -> Iterator[str]:
    if attribute != snake_case(field.name):
        yield f"{field.name} in the definition"
    if field_unit(field):
        yield field_unit(field)
    if field.entity_type != UNKNOWN_ENTITY:
        yield field.entity_type
    if field.tag is not None:
        yield f"tag {field.tag} in {field.tagged_versions.intersect(field.versions)}"
    if field.map_key:
        yield "map key"
    if field.ignorable:
        yield "ignorable"
    if field.flexible_versions is not None:
        yield f"compact in {field.flexible_versions}" if field.flexible_versions else "never compact"


def _construction(message: ResolvedMessage, unstable: Versions) -> Construction:
    """An example for the newest version that is stable, if there is one."""
    versions = message.definition.valid_versions
    stable = [version for version in versions if version not in unstable]
    version = max(stable, default=versions.highest)
    source = construction(message, version)
    return Construction(source, version, "Uuid." in source)


def _wire_sections(message: ResolvedMessage) -> Iterator[WireSection]:
    for index, layout in reversed(list(enumerate(message.layouts.layouts))):
        versions = [version for version, used in message.layouts.by_version.items() if used == index]
        yield WireSection(versions_text(versions).capitalize(), grammar_tree(layout))
