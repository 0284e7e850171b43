"""A side: one of the two sets of definitions that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.versions import NO_VERSIONS, Versions


class OriginError(Exception):
    """A side of a comparison that cannot be read; the text says what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class AbsentJar:
    """A jar of a release that Maven does not have, although an earlier release has it.

    Attributes:
        jar: its coordinates, ``org.apache.kafka:kafka-streams:4.4.0``.
        group: the group of the messages that it would define.
    """

    jar: str
    group: str


@dataclass(frozen=True, slots=True)
class Side:
    """A set of definitions.

    Attributes:
        name: as the user gave it: ``specs``, ``git:main``, ``kafka:3.9.2``, ``builtin``.
        messages: message name to its definition.
        unstable: message name to the versions that may still change (conv-unstable), without stable messages.
        sources: displayed name of a file to its text.
        findings: of the rules of the language; messages with errors are not among ``messages``.
        is_single_file: whether it is one file, so that messages it lacks are not compared.
        absent: missing jars; messages of their groups that the side lacks are not compared.
    """

    name: str
    messages: Mapping[str, MessageDefinition]
    unstable: Mapping[str, Versions]
    sources: Mapping[str, str]
    findings: tuple[Finding, ...] = ()
    is_single_file: bool = False
    absent: tuple[AbsentJar, ...] = ()

    def unstable_versions(self, message: str) -> Versions:
        """The versions of a message that may still change."""
        return self.unstable.get(message, NO_VERSIONS)

    def may_lack(self, message: MessageDefinition) -> bool:
        """Whether a message that the side lacks is no change."""
        return self.is_single_file or message.group in {jar.group for jar in self.absent}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Messages that are not compared, since a jar is missing.

    Attributes:
        side: name of the side that lacks it.
        jar: its coordinates.
        messages: the names of the messages of its group that the other side has.
    """

    side: str
    jar: str
    messages: tuple[str, ...]

    def __str__(self) -> str:
        text = f"{self.side} has no {self.jar}: Maven does not have this jar"
        if not self.messages:
            return f"{text}, so messages that it may define are not compared"
        number = len(self.messages)
        return f"{text}, so {number} message{'s are' if number > 1 else ' is'} not compared: {', '.join(self.messages)}"


def left_out(older: Side, newer: Side) -> tuple[LeftOut, ...]:
    """The messages that are not compared, since jars are missing."""
    return tuple(
        LeftOut(
            side.name,
            absent.jar,
            tuple(
                sorted(
                    name
                    for name, message in other.messages.items()
                    if message.group == absent.group and name not in side.messages
                )
            ),
        )
        for side, other in ((older, newer), (newer, older))
        for absent in side.absent
    )
