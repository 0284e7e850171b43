"""The modules that speak of all messages: name table, API table, error codes and exceptions, record registries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.emit.message_module import range_source
from kafkawire.codegen.naming import class_name, distinct, error_class_names, module_name
from kafkawire.codegen.parse.error_codes import ErrorCode
from kafkawire.codegen.versions import NO_VERSIONS, Versions
from kafkawire.layout import snake_case


@dataclass(frozen=True, slots=True)
class MessageEntry:
    """A message and the module that holds it, relative to the package."""

    class_name: str
    module: str


@dataclass(frozen=True, slots=True)
class AliasEntry:
    """An older name and the name that it has now."""

    name: str
    target: str


@dataclass(frozen=True, slots=True)
class PackageView:
    """What templates/package.py.j2 prints."""

    package: str
    releases: tuple[str, ...]
    messages: tuple[MessageEntry, ...]
    aliases: tuple[AliasEntry, ...]


@dataclass(frozen=True, slots=True)
class ApiEntry:
    """An API: its key, its constant, and the arguments of its record as source text."""

    key: int
    constant: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ApiTableView:
    """What templates/api_table.py.j2 prints."""

    apis: tuple[ApiEntry, ...]


@dataclass(frozen=True, slots=True)
class ErrorCodesView:
    """What templates/error_codes.py.j2 prints."""

    codes: tuple[ErrorCode, ...]


@dataclass(frozen=True, slots=True)
class ErrorEntry:
    """An error code and the name of its exception."""

    class_name: str
    code: ErrorCode


@dataclass(frozen=True, slots=True)
class ErrorsView:
    """What templates/errors.py.j2 prints."""

    errors: tuple[ErrorEntry, ...]


@dataclass(frozen=True, slots=True)
class RecordEntry:
    """A record type; the last three are of coordinator records only."""

    key: int
    name: str
    key_message: str = ""
    key_version: int = 0
    value_message: str = ""


@dataclass(frozen=True, slots=True)
class Registry:
    """The record types of one folder of definitions."""

    constant: str
    group: str
    entries: tuple[RecordEntry, ...]


@dataclass(frozen=True, slots=True)
class RegistriesView:
    """What templates/record_registries.py.j2 prints."""

    package: str
    metadata: tuple[Registry, ...]
    coordinators: tuple[Registry, ...]


def group_package(group: str) -> str:
    """The sub-package of a folder of definitions: ``proposals/kip-888`` is ``proposals.kip_888``."""
    return group.replace("-", "_").replace("/", ".")


def module_path(message: MessageDefinition) -> str:
    """The module of a message relative to its package, with dots."""
    return ".".join(filter(None, (group_package(message.group), module_name(message.name))))


def api_name(request: MessageDefinition) -> str:
    """The name of an API, which is what stands before Request in the name of its request."""
    return request.name.removesuffix("Request")


def package_view(
    messages: Iterable[MessageDefinition], aliases: Mapping[str, str], releases: tuple[str, ...], *, package: str
) -> PackageView:
    """The name table."""
    entries = sorted(
        (MessageEntry(class_name(m.name), module_path(m)) for m in messages),
        key=lambda entry: entry.class_name,
    )
    older = tuple(AliasEntry(name, target) for name, target in sorted(aliases.items()))
    return PackageView(package, releases, tuple(entries), older)


def api_table_view(messages: Iterable[MessageDefinition], unstable: Mapping[str, Versions]) -> ApiTableView:
    """The table of APIs: requests with their responses."""
    by_kind = {(m.type, m.api_key): m for m in messages}
    apis = []
    for (type_, key), request in by_kind.items():
        response = by_kind.get(("response", key))
        if type_ != "request" or key is None or response is None:
            continue
        name = api_name(request)
        arguments = [f'{key}, "{name}", {range_source(request.valid_versions)}']
        if versions := unstable.get(request.name, NO_VERSIONS):
            arguments.append(f"unstable_versions={range_source(versions)}")
        if request.listeners:
            arguments.append(f"listeners={request.listeners!r}")
        if response.name != f"{name}Response":
            arguments.append(f'response="{class_name(response.name)}"')
        apis.append(ApiEntry(key, snake_case(name).upper(), ", ".join(arguments)))
    return ApiTableView(tuple(sorted(apis, key=lambda api: api.key)))


def error_entries(codes: Iterable[ErrorCode]) -> tuple[ErrorEntry, ...]:
    """The exceptions of a table of error codes; code 0 is success and has none."""
    failures = [code for code in codes if code.code != 0]
    names = error_class_names(code.name for code in failures)
    return tuple(map(ErrorEntry, names, failures))


def registries_view(messages: Iterable[MessageDefinition], *, package: str) -> RegistriesView:
    """The record types of every folder that has metadata or coordinator records."""
    groups: dict[str, list[MessageDefinition]] = {}
    for message in messages:
        groups.setdefault(message.group, []).append(message)
    metadata = [group for group, members in groups.items() if any(m.type == "metadata" for m in members)]
    coordinators = [group for group, members in groups.items() if any(m.type == "coordinator-key" for m in members)]
    constants = distinct(
        [_constant(group) for group in metadata]
        + [_constant(f"{group}-coordinator" if group in metadata else group) for group in coordinators]
    )
    tables = [_metadata_entries(groups[group]) for group in metadata]
    tables += [_coordinator_entries(groups[group]) for group in coordinators]
    registries = [
        Registry(constant, group, tuple(sorted(entries, key=lambda entry: entry.key)))
        for constant, group, entries in zip(constants, [*metadata, *coordinators], tables, strict=True)
    ]
    return RegistriesView(package, tuple(registries[: len(metadata)]), tuple(registries[len(metadata) :]))


def _metadata_entries(messages: Iterable[MessageDefinition]) -> Iterator[RecordEntry]:
    for message in messages:
        if message.type == "metadata" and message.api_key is not None:
            yield RecordEntry(message.api_key, class_name(message.name))


def _coordinator_entries(messages: Iterable[MessageDefinition]) -> Iterator[RecordEntry]:
    """Keys with their values; data messages too, whose key version is the record type (coord-key-prefix)."""
    by_name = {message.name: message for message in messages}
    values = {m.api_key: m for m in by_name.values() if m.type == "coordinator-value"}
    for message in by_name.values():
        stem = message.name.removesuffix("Key")
        key = message.api_key
        if message.type == "coordinator-key" and key is not None and key in values:
            yield RecordEntry(key, stem, class_name(message.name), 0, class_name(values[key].name))
        elif message.type == "data" and message.name.endswith("Key") and f"{stem}Value" in by_name:
            for version in message.valid_versions:
                yield RecordEntry(version, stem, class_name(message.name), version, class_name(f"{stem}Value"))


def _constant(group: str) -> str:
    return f"{group_package(group).replace('.', '_').upper()}_RECORDS".lstrip("_")
