"""The record types of each log; definitions of a user add to those of Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from itertools import chain
from typing import Final, cast

from kafkawire.columns import MessageColumns
from kafkawire.logs.generated_modules import GeneratedModules
from kafkawire.protocol.record_registries import METADATA_RECORDS
from kafkawire.records.coordinator_records import COORDINATOR_TOPICS
from kafkawire.wire import Message
from kafkawire.wire.record_types import CoordinatorRecordType
from kafkawire.wire.unknown_names import UnknownNameError

METADATA_TOPIC: Final = "__cluster_metadata"
_KEPT_CLASSES: Final = 512


@dataclass(frozen=True)
class RecordRegistry:
    """Record types by the number that a record begins with, and the packages of their messages.

    Attributes:
        metadata: names of the messages of ``__cluster_metadata`` by record id.
        coordinators: record types of each coordinator's topic by their number.
        packages: generated packages that have the messages; the first that has a name wins.
        modules: a package of these that is not installed. It travels with the registry: a process that unpickles the
            registry can import it.
    """

    metadata: Mapping[int, str] = field(default_factory=lambda: dict(METADATA_RECORDS))
    coordinators: Mapping[str, Mapping[int, CoordinatorRecordType]] = field(
        default_factory=lambda: {topic: dict(types) for topic, types in COORDINATOR_TOPICS.items()}
    )
    packages: tuple[str, ...] = ("kafkawire.protocol",)
    modules: GeneratedModules | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.metadata, self.coordinators, self.packages, self.modules)

    @property
    def topics(self) -> frozenset[str]:
        """The topics whose records have types."""
        return frozenset((METADATA_TOPIC, *self.coordinators))

    def message(self, name: str) -> type[Message]:
        """The class of a message.

        Raises:
            KeyError: no package has it.
        """
        return _message(self.packages, name)

    def columns(self, name: str) -> MessageColumns:
        """The columns of a message.

        Raises:
            KeyError: no package has it.
        """
        return MessageColumns(self.message(name))


BUILT_IN: Final = RecordRegistry()
"""The records of Apache Kafka."""


def _restored(
    metadata: Mapping[int, str],
    coordinators: Mapping[str, Mapping[int, CoordinatorRecordType]],
    packages: tuple[str, ...],
    modules: GeneratedModules | None,
) -> RecordRegistry:
    if modules is not None:
        modules.install()
    return RecordRegistry(metadata, coordinators, packages, modules)


@lru_cache(_KEPT_CLASSES)
def _message(packages: tuple[str, ...], name: str) -> type[Message]:
    for package in packages:
        try:
            return cast("type[Message]", import_module(package).message_class(name))
        except KeyError:
            continue
    raise UnknownNameError("message", name, chain.from_iterable(import_module(each).MESSAGE_NAMES for each in packages))
