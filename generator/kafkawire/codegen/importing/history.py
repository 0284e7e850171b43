"""Merges releases in order.

The newest release that has a version determines its layout. A message that was renamed keeps its key: it is one message
with the newer name, and its older names are aliases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.importing.coordinator_form import Part, as_parts
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.release import MessageKey, ReleaseMessages
from kafkawire.codegen.merge.conflict import Conflict, MergeError, Sides
from kafkawire.codegen.merge.merge import merge_messages


@dataclass(slots=True)
class MessageHistory:
    """A message in all releases.

    Attributes:
        message: the definition merged so far.
        parts: (release, its part), oldest first.
    """

    message: MessageDefinition
    parts: list[tuple[str, Part]] = field(default_factory=list)

    @property
    def releases(self) -> str:
        """The releases merged so far, for messages."""
        return " + ".join(release for release, _ in self.parts)


def merge_releases(releases: Sequence[ReleaseMessages]) -> tuple[MessageHistory, ...]:
    """Merge releases, oldest first.

    Returns:
        the messages with their history, sorted by group and name.

    Raises:
        SpecsImportError: with every conflict: releases, message, versions, field, and what differs.
    """
    histories: dict[MessageKey, MessageHistory] = {}
    conflicts: list[Conflict] = []
    for index, release in enumerate(releases):
        parts = as_parts(release, releases[index + 1 :])
        names = {(part.message.group, part.message.name) for part in parts}
        for part in parts:
            key = (part.message.group, part.message.name)
            history = histories.pop(_found(key, part.message, histories, names), None) or MessageHistory(part.message)
            conflicts += _add(history, release.release, part)
            histories[key] = history
    if conflicts:
        raise SpecsImportError(*(str(conflict) for conflict in conflicts))
    return tuple(histories[key] for key in sorted(histories))


def _found(
    key: MessageKey, message: MessageDefinition, histories: dict[MessageKey, MessageHistory], names: set[MessageKey]
) -> MessageKey:
    """The key under which the message is merged so far: its name, or an older name with its API key (name-renames)."""
    if key in histories or message.api_key is None:
        return key
    for other, history in histories.items():
        known = history.message
        same = (known.group, known.type, known.api_key) == (message.group, message.type, message.api_key)
        if same and other not in names:
            return other
    return key


def _add(history: MessageHistory, release: str, part: Part) -> tuple[Conflict, ...]:
    """Merge the part of a further release into a history; returns the conflicts."""
    known, message = history.message, part.message
    sides = Sides(history.releases, release)
    for what, older, newer in (("type", known.type, message.type), ("apiKey", known.api_key, message.api_key)):
        if older != newer:
            return (Conflict(sides, message.name, "", what, f"{older} and {newer}"),)
    try:
        history.message = merge_messages(known, message, sides) if history.parts else message
    except MergeError as error:
        return error.conflicts
    history.parts.append((release, part))
    return ()
