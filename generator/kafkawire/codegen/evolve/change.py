"""What a change between two sets of definitions is."""

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
"""What a change is about.

``message-retired``: its definition stays and no version is valid any more (conv-retire); ``message-restored``: the
reverse. ``record-form``: a coordinator record that one side has as a ``data`` message. ``compact``: a field
that is encoded otherwise than its message, by ``flexibleVersions`` of its own. ``tag``: a field has another tag, or is
in line on one side. ``field-order``: fields stand in another order on the wire.
"""

Status = Literal["added", "removed", "retired", "restored", "changed"]
"""What became of a message."""


@dataclass(frozen=True, slots=True)
class Location:
    """A stretch of a definition file, as it is shown."""

    file: str
    span: Span


@dataclass(frozen=True, slots=True)
class Change:
    """One change of meaning.

    Attributes:
        kind: what it is about.
        path: the field or struct by Kafka's names below the message, ``Topics.Partitions.LeaderEpoch``, those of the
            newer side where it has the field; empty for the message.
        older, newer: what each side says, in words; empty if it has nothing to say.
        versions: the versions concerned: of the newer side, or of the older one for what only that has.
        in_place: those of them that both sides have, so that peers may disagree about one version.
        older_location, newer_location: where each side says so.
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
        status: what became of it.
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
        older, newer: what the user called the sides.
        messages: the messages that changed, in the order of their names.
        unchanged: how many messages did not.
        left_out: what was not compared, since a jar is missing.
    """

    older: str
    newer: str
    messages: tuple[MessageChanges, ...]
    unchanged: int
    left_out: tuple[LeftOut, ...] = ()


def location(place: Place, attribute: str = "") -> Location:
    """Where an attribute stands, or the object if it is not written."""
    return Location(place.file, place.of(attribute) if attribute else place.span)
