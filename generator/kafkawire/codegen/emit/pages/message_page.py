"""The page about one message: what templates/pages/message.md.j2 may see."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.emit.grammar import grammar_tree, runs_text, versions_text
from kafkawire.codegen.emit.headers import header_versions
from kafkawire.codegen.emit.package_modules import api_name
from kafkawire.codegen.emit.pages.construction import construction
from kafkawire.codegen.emit.pages.field_tables import FieldRow, FieldTable, spelled_row, struct_tables
from kafkawire.codegen.emit.pages.lineage import Lineage, lineage_text, proposed_versions, versions_by_release
from kafkawire.codegen.emit.pages.version_changes import LayoutChange, layout_changes
from kafkawire.codegen.naming import class_name, module_name
from kafkawire.codegen.resolve.layouts import ResolvedMessage
from kafkawire.codegen.versions import Versions


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
        api: the name of the API of a request or response, ``CreateTopics``; empty for other types.
        partner: the response of a request, the request of a response, the value of a key, and the other way round.
        header: header version by message version in words; empty for other types.
        source: the file of the definition, relative to the folder of definitions.
        known_releases: all releases that were imported, oldest first.
        tables: the fields of the message, then those of each struct.
        spelled: a field that shows how the definition spells names.
        layouts: the distinct layouts, newest first.
    """

    name: str
    class_name: str
    package: str
    module: str
    source: str
    kind: str
    api: str
    api_key: int | None
    partner: MessageDefinition | None
    versions: str
    flexible_versions: str
    unstable_versions: str
    deprecated_versions: str
    header: str
    listeners: tuple[str, ...]
    known_releases: tuple[str, ...]
    releases: tuple[tuple[str, str], ...]
    proposed: str
    aliases: tuple[str, ...]
    tables: tuple[FieldTable, ...]
    spelled: FieldRow | None
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
    tables = tuple(struct_tables(message))
    return MessagePage(
        name=definition.name,
        class_name=class_name(definition.name),
        package=facts.package,
        module=f"{facts.package}.{facts.module}",
        source="/".join(filter(None, (definition.group, f"{definition.name}.json"))),
        kind=definition.type.replace("-", " "),
        api=_api(definition, facts.partner),
        api_key=definition.api_key,
        partner=facts.partner,
        versions=str(versions),
        flexible_versions=str(definition.flexible_versions.intersect(versions)),
        unstable_versions=str(facts.unstable),
        deprecated_versions=str(definition.deprecated_versions.intersect(versions)),
        header=header_text(headers),
        listeners=definition.listeners,
        known_releases=tuple(facts.releases),
        releases=versions_by_release(facts.lineage, facts.releases, facts.unpublished) if facts.lineage else (),
        proposed=proposed_versions(facts.lineage),
        aliases=facts.aliases,
        tables=tables,
        spelled=spelled_row(tables),
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
                origin=lineage_text(lineage, facts.releases),
                header=str(headers[version]) if version in headers else "",
                remarks=tuple(remarks),
                is_first=is_first,
                changes=() if is_first else layout_changes(message.layouts.of_version(version - 1), layout),
                differences=lineage.differences,
            )
        )
    return tuple(rows)


def _api(definition: MessageDefinition, partner: MessageDefinition | None) -> str:
    if definition.type == "request":
        return api_name(definition)
    return api_name(partner) if definition.type == "response" and partner is not None else ""


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
