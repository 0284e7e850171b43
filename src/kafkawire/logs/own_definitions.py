"""A user's own record definitions: code is generated in memory, and used beside that of Apache Kafka.

A folder may define metadata records with new ids, coordinator records, and new versions or fields of records that Kafka
has: then the user's definition is used in place of Kafka's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.generate import DefinitionsRefusedError, Target, checked_specs, print_target
from kafkawire.codegen.merge.released_versions import ReleasedVersionsError
from kafkawire.codegen.naming import class_name
from kafkawire.codegen.parse.error_codes import ErrorCodesError
from kafkawire.codegen.report.text import render_text
from kafkawire.codegen.resolve.layouts import resolve
from kafkawire.codegen.specs_tree import LoadedSpecs
from kafkawire.logs.errors import OwnDefinitionsError
from kafkawire.logs.generated_modules import GeneratedModules
from kafkawire.logs.registry import BUILT_IN, RecordRegistry
from kafkawire.wire.record_types import CoordinatorRecordType

__all__ = ["OwnDefinitions", "OwnDefinitionsError", "own_definitions"]

_TOPIC_OF_GROUP = {
    "group-coordinator": "__consumer_offsets",
    "transaction-coordinator": "__transaction_state",
    "share-coordinator": "__share_group_state",
}
"""Folder of definitions of a coordinator's records, as Kafka's own are kept, to the topic of the records."""

_STORAGE = "storage"
"""Folder of the records of tiered storage: their ids are those of metadata records, but they are in another log."""


@dataclass(frozen=True)
class OwnDefinitions:
    """The record types of a user beside Kafka's, and the code that decodes them.

    Attributes:
        registry: all record types; for ``ReadOptions.registry``.
        modules: the generated package. It is installed in this process, and in others that unpickle the registry.
    """

    registry: RecordRegistry
    modules: GeneratedModules


def own_definitions(folder: str | Path) -> OwnDefinitions:
    """Generate the code for the records that a folder defines, and install it in this process.

    Definitions of a coordinator's records that Kafka does not have lie in a folder named as Kafka's:
    ``group-coordinator``, ``transaction-coordinator`` or ``share-coordinator``.

    Raises:
        OwnDefinitionsError: there is no such folder, a definition has an error, or none defines a record.
    """
    specs = _load(Path(folder))
    messages = [message for message in specs.messages if message.valid_versions]
    metadata = dict(_metadata_records(messages))
    coordinators = _coordinator_records(messages)
    if not metadata and not coordinators:
        raise OwnDefinitionsError(f"{folder} defines no records: types metadata, coordinator-key, coordinator-value")
    modules = _generate(specs)
    modules.install()
    return OwnDefinitions(_registry(metadata, coordinators, modules), modules)


def _load(folder: Path) -> LoadedSpecs:
    if not folder.is_dir():
        raise OwnDefinitionsError(f"{folder} is not a folder of definitions")
    try:
        return checked_specs(folder, _silent)
    except DefinitionsRefusedError as error:
        raise OwnDefinitionsError(f"{error}\n{render_text(error.findings, error.sources)}") from None
    except (ErrorCodesError, ReleasedVersionsError) as error:
        raise OwnDefinitionsError(str(error)) from None


def _generate(specs: LoadedSpecs) -> GeneratedModules:
    """The package name is a hash of the definitions, so other definitions never use code that was imported before."""
    digest = hashlib.sha256(repr(sorted(specs.sources.items())).encode()).hexdigest()[:16]
    package = f"kafkawire_own_definitions_{digest}"
    messages = tuple(resolve(message) for message in specs.messages if message.valid_versions)
    printed = print_target(Target(Path(), package, Path()), specs, messages, _silent)[0].raw
    paths = {PurePosixPath(path): text for path, text in printed.items() if path.endswith(".py")}
    sources = {_module_name(package, path): text for path, text in paths.items()}
    packages = frozenset(_module_name(package, path) for path in paths if path.name == "__init__.py")
    return GeneratedModules(package, sources, packages)


def _module_name(package: str, path: PurePosixPath) -> str:
    parts = path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts
    return ".".join((package, *parts))


def _metadata_records(messages: Iterable[MessageDefinition]) -> Iterable[tuple[int, str]]:
    for message in messages:
        if message.type == "metadata" and message.api_key is not None and message.group != _STORAGE:
            yield message.api_key, class_name(message.name)


def _coordinator_records(messages: Iterable[MessageDefinition]) -> Mapping[str, Mapping[int, CoordinatorRecordType]]:
    """Record types by topic; that every key has a value, and every value a key, is checked with the definitions."""
    of_type = {(m.type, m.group, m.api_key): m for m in messages}
    records: dict[str, dict[int, CoordinatorRecordType]] = {}
    for (kind, group, number), key in of_type.items():
        if kind == "coordinator-key" and number is not None:
            value = of_type["coordinator-value", group, number]
            name, version = key.name.removesuffix("Key"), key.valid_versions.lowest
            known = CoordinatorRecordType(number, name, class_name(key.name), version, class_name(value.name))
            records.setdefault(_topic(key, known), {})[number] = known
    return records


def _topic(key: MessageDefinition, known: CoordinatorRecordType) -> str:
    """The topic of a record: from its folder, or from its name if Kafka has a record of that name."""
    folder = key.group.rpartition("/")[2]
    if folder in _TOPIC_OF_GROUP:
        return _TOPIC_OF_GROUP[folder]
    for topic, types in BUILT_IN.coordinators.items():
        if known.number in types and types[known.number].key == known.key:
            return topic
    folders = ", ".join(sorted(_TOPIC_OF_GROUP))
    raise OwnDefinitionsError(f"{key.place.file}: unknown coordinator; put the file into one of the folders {folders}")


def _registry(
    metadata: Mapping[int, str],
    coordinators: Mapping[str, Mapping[int, CoordinatorRecordType]],
    modules: GeneratedModules,
) -> RecordRegistry:
    return RecordRegistry(
        metadata={**BUILT_IN.metadata, **metadata},
        coordinators={
            topic: {**types, **coordinators.get(topic, {})} for topic, types in BUILT_IN.coordinators.items()
        },
        packages=(modules.package, *BUILT_IN.packages),
        modules=modules,
    )


def _silent(what: str, done: int, total: int) -> None:
    """Show no progress."""
