"""Changes between two sets of definitions, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kafkawire.codegen.definition import MessageDefinition, Place, Span
from kafkawire.codegen.evolve.side import LeftOut
from kafkawire.codegen.versions import Versions

ChangeKind = Literal[
    "message-added",
    "message-removed",
    "message-retired",
    "message-restored",
    "message-renamed",
    "valid-versions",
    "record-form",
    "type",
    "api-key",
    "flexible",
    "header-version",
    "deprecated-versions",
    "unstable-versions",
    "listeners",
    "struct-renamed",
    "field-added",
    "field-removed",
    "field-renamed",
    "field-type",
    "nullable",
    "tag",
    "compact",
    "default",
    "ignorable",
    "map-key",
    "entity-type",
    "field-order",
]
"""Kinds of changes.

``message-retired``: its definition stays and no version is valid any more (conv-retire); ``message-restored``: the
reverse. ``record-form``: a coordinator record that one side has as a ``data`` message. ``compact``: the encoding of the
length of a field with ``flexibleVersions``. ``tag``: a field has another tag, or is in line on one side.
``field-order``: fields have another order on the wire.
"""

Status = Literal["added", "removed", "retired", "restored", "changed"]
"""What happened to a message."""


@dataclass(frozen=True, slots=True)
class Location:
    """A part of a definition file; the file has its displayed name."""

    file: str
    span: Span


@dataclass(frozen=True, slots=True)
class Change:
    """A change of meaning.

    Attributes:
        kind: its kind.
        path: the field or struct by Kafka's names below the message, ``Topics.Partitions.LeaderEpoch``, those of the
            newer side where it has the field; empty for the message.
        older, newer: the value of each side as text; empty where a side has none.
        versions: the affected versions: of the newer side, or of the older one for what only that has.
        in_place: the affected versions that both sides have, so that peers may disagree about one version.
        older_location, newer_location: where each side defines it.
    """

    kind: ChangeKind
    path: str
    older: str
    newer: str
    versions: tuple[Versions, ...]
    in_place: tuple[Versions, ...]
    older_location: Location | None
    newer_location: Location | None


@dataclass(frozen=True, slots=True)
class MessageChanges:
    """All changes of one message.

    Attributes:
        older, newer: the message on each side; one of them may lack it.
        status: what happened to it.
        changes: at least one; those of the message first, then those of its fields in the order of the tree.
    """

    older: MessageDefinition | None
    newer: MessageDefinition | None
    status: Status
    changes: tuple[Change, ...]

    @property
    def name(self) -> str:
        """The name of the newer side where it has the message."""
        message = self.newer or self.older
        return message.name if message is not None else ""

    @property
    def newest_version(self) -> int:
        """The highest valid version of the newer side, or of the older one if there is none; -1 without versions."""
        for message in (self.newer, self.older):
            if message is not None and message.valid_versions:
                return message.valid_versions.highest
        return -1


@dataclass(frozen=True, slots=True)
class SchemaDiff:
    """Two sets of definitions, compared.

    Attributes:
        older, newer: the names of the sides, as the user gave them.
        messages: the messages that changed, sorted by name.
        unchanged: the number of messages that did not change.
        left_out: messages that were not compared, since a jar is missing.
    """

    older: str
    newer: str
    messages: tuple[MessageChanges, ...]
    unchanged: int
    left_out: tuple[LeftOut, ...] = ()


def location(place: Place, attribute: str = "") -> Location:
    """The location of an attribute, or of the object if it does not have the attribute."""
    return Location(place.file, place.of(attribute) if attribute else place.span)
