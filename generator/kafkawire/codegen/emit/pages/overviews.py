"""The pages that list messages: index, APIs, record types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.emit.headers import header_versions
from kafkawire.codegen.emit.package_modules import Registry, api_name, registries_view
from kafkawire.codegen.emit.pages.message_page import header_text
from kafkawire.codegen.naming import class_name
from kafkawire.codegen.versions import NO_VERSIONS, Versions


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """A folder of definitions and its messages."""

    name: str
    messages: tuple[MessageDefinition, ...]


@dataclass(frozen=True, slots=True)
class ApiRow:
    """An API: a request and the response to it; ``headers`` has the header versions of both, ``1/0 in 0-8``."""

    key: int
    name: str
    request: MessageDefinition
    response: MessageDefinition | None
    flexible_versions: str
    unstable_versions: str
    headers: str


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A record type: one message, or a key with its value."""

    number: int
    name: str
    key: MessageDefinition | None
    value: MessageDefinition


@dataclass(frozen=True, slots=True)
class RecordTable:
    """The record types of a folder of definitions."""

    group: str
    rows: tuple[RecordRow, ...]


def message_groups(messages: Iterable[MessageDefinition]) -> tuple[MessageGroup, ...]:
    """The messages by folder, in the order of the folders' names."""
    groups: dict[str, list[MessageDefinition]] = {}
    for message in messages:
        groups.setdefault(message.group, []).append(message)
    return tuple(
        MessageGroup(group, tuple(sorted(members, key=lambda m: m.name))) for group, members in sorted(groups.items())
    )


def api_rows(messages: Sequence[MessageDefinition], unstable: Mapping[str, Versions]) -> tuple[ApiRow, ...]:
    """All APIs in the order of their keys."""
    responses = {message.api_key: message for message in messages if message.type == "response"}
    rows = []
    for request in messages:
        if request.type != "request" or request.api_key is None:
            continue
        response = responses.get(request.api_key)
        rows.append(
            ApiRow(
                key=request.api_key,
                name=api_name(request),
                request=request,
                response=response,
                flexible_versions=str(request.flexible_versions.intersect(request.valid_versions)),
                unstable_versions=str(unstable.get(request.name, NO_VERSIONS)),
                headers=header_text(_both_headers(request, response)),
            )
        )
    return tuple(sorted(rows, key=lambda row: row.key))


def _both_headers(request: MessageDefinition, response: MessageDefinition | None) -> Mapping[int, str]:
    """Version to the header versions of request and response, ``2/1``."""
    of_response = header_versions(response)[1] if response else {}
    return {
        version: f"{header}/{of_response.get(version, '-')}" for version, header in header_versions(request)[1].items()
    }


def record_tables(messages: Sequence[MessageDefinition]) -> tuple[RecordTable, ...]:
    """The record types of every folder that has any."""
    by_class = {class_name(message.name): message for message in messages}
    view = registries_view(messages, package="")
    return tuple(
        RecordTable(registry.group, tuple(_record_rows(registry, by_class)))
        for registry in (*view.metadata, *view.coordinators)
    )


def _record_rows(registry: Registry, by_class: Mapping[str, MessageDefinition]) -> Iterator[RecordRow]:
    for entry in registry.entries:
        key = by_class[entry.key_message] if entry.key_message else None
        value = by_class[entry.value_message or entry.name]
        yield RecordRow(entry.key, entry.name, key, value)
