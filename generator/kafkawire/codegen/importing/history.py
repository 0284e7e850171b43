"""Releases merged in order, with the proof that nothing of any release was lost or changed.

The newest release that has a version governs it. A message that got another name under its key is one message
with the newer name; its older names are aliases.
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
class Strand:
    """One message through all releases.

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


def merge_releases(releases: Sequence[ReleaseMessages]) -> tuple[Strand, ...]:
    """Merge releases, oldest first.

    Returns:
        the messages with their history, sorted by group and name.

    Raises:
        SpecsImportError: with every conflict; each names releases, message, versions, field and what differs.
    """
    strands: dict[MessageKey, Strand] = {}
    conflicts: list[Conflict] = []
    for index, release in enumerate(releases):
        parts = as_parts(release, releases[index + 1 :])
        names = {(part.message.group, part.message.name) for part in parts}
        for part in parts:
            key = (part.message.group, part.message.name)
            strand = strands.pop(_found(key, part.message, strands, names), None) or Strand(part.message)
            conflicts += _add(strand, release.release, part)
            strands[key] = strand
    if conflicts:
        raise SpecsImportError(*(str(conflict) for conflict in conflicts))
    return tuple(strands[key] for key in sorted(strands))


def _found(
    key: MessageKey, message: MessageDefinition, strands: dict[MessageKey, Strand], names: set[MessageKey]
) -> MessageKey:
    """Where the message stands so far: under its name, or under another that its key had before (name-renames)."""
    if key in strands or message.api_key is None:
        return key
    for other, strand in strands.items():
        known = strand.message
        same = (known.group, known.type, known.api_key) == (message.group, message.type, message.api_key)
        if same and other not in names:
            return other
    return key


def _add(strand: Strand, release: str, part: Part) -> tuple[Conflict, ...]:
    """Merge the part of a further release into a strand; what is in the way."""
    known, message = strand.message, part.message
    sides = Sides(strand.releases, release)
    for what, older, newer in (("type", known.type, message.type), ("apiKey", known.api_key, message.api_key)):
        if older != newer:
            return (Conflict(sides, message.name, "", what, f"{older} and {newer}"),)
    try:
        strand.message = merge_messages(known, message, sides) if strand.parts else message
    except MergeError as error:
        return error.conflicts
    strand.parts.append((release, part))
    return ()
