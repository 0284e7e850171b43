"""The history of the protocol: which release has which versions, and what changed from one version to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.emit.package_modules import api_name
from kafkawire.codegen.emit.pages.lineage import proposed_versions, versions_by_release
from kafkawire.codegen.emit.pages.message_page import MessageFacts, VersionRow, version_rows
from kafkawire.codegen.resolve.layouts import ResolvedMessage


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A version of a subject, with one cell for each of its messages; None where a message lacks the version."""

    version: int
    origin: str
    remarks: tuple[str, ...]
    cells: tuple[VersionRow | None, ...]


@dataclass(frozen=True, slots=True)
class HistorySection:
    """An API, or a message that belongs to none.

    Attributes:
        by_release: the versions that each release has.
        proposed: the versions that proposals add.
        rows: all versions, newest first.
    """

    title: str
    anchor: str
    messages: tuple[MessageDefinition, ...]
    by_release: tuple[str, ...]
    proposed: str
    rows: tuple[HistoryRow, ...]


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Everything that the template of the history prints."""

    releases: tuple[str, ...]
    apis: tuple[HistorySection, ...]
    others: tuple[HistorySection, ...]


def history_page(
    messages: Sequence[ResolvedMessage], facts: Mapping[str, MessageFacts], releases: tuple[str, ...]
) -> HistoryPage:
    """Gather the history of every API and every other message."""
    apis: dict[int, list[ResolvedMessage]] = {}
    others = []
    for message in messages:
        definition = message.definition
        if definition.type in ("request", "response") and definition.api_key is not None:
            apis.setdefault(definition.api_key, []).append(message)
        else:
            others.append(message)
    return HistoryPage(
        releases=releases,
        apis=tuple(_section(_requests_first(members), facts, releases) for _, members in sorted(apis.items())),
        others=tuple(_section([message], facts, releases) for message in others),
    )


def _requests_first(messages: list[ResolvedMessage]) -> list[ResolvedMessage]:
    return sorted(messages, key=lambda message: message.definition.type)


def _section(
    members: Sequence[ResolvedMessage], facts: Mapping[str, MessageFacts], releases: Sequence[str]
) -> HistorySection:
    first = members[0].definition
    title = f"{first.api_key} {_api_name(first)}" if first.type in ("request", "response") else first.name
    lineage, unpublished = facts[first.name].lineage, facts[first.name].unpublished
    return HistorySection(
        title=title,
        anchor=title.lower().replace(" ", "-"),
        messages=tuple(member.definition for member in members),
        by_release=tuple(versions for _, versions in versions_by_release(lineage, releases, unpublished)),
        proposed=proposed_versions(lineage),
        rows=_rows([version_rows(member, facts[member.definition.name]) for member in members]),
    )


def _api_name(message: MessageDefinition) -> str:
    return api_name(message) if message.type == "request" else message.name.removesuffix("Response")


def _rows(columns: Sequence[Sequence[VersionRow]]) -> tuple[HistoryRow, ...]:
    by_version = [{row.version: row for row in column} for column in columns]
    rows = []
    for version in sorted(set().union(*by_version), reverse=True):
        cells = tuple(column.get(version) for column in by_version)
        known = next(cell for cell in cells if cell is not None)
        rows.append(HistoryRow(version, known.origin, known.remarks, cells))
    return tuple(rows)
