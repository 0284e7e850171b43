"""Conflicts between two definitions of a message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sides:
    """The names of what is merged, for messages: two releases, or a release and a proposal."""

    older: str
    newer: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A conflict.

    Attributes:
        sides: where the two definitions come from.
        message: name of the message.
        versions: the affected versions of the message, as text.
        path: the field, ``Topics.Partitions.LeaderId``, or an attribute of the message.
        what: the value of each side.
    """

    sides: Sides
    message: str
    versions: str
    path: str
    what: str

    def __str__(self) -> str:
        place = f"{self.message} {self.versions}".rstrip()
        return f"{self.sides.older} and {self.sides.newer} disagree about {place}, {self.path}: {self.what}"


class MergeError(Exception):
    """Definitions that cannot be merged.

    Attributes:
        conflicts: all conflicts.
    """

    def __init__(self, conflicts: tuple[Conflict, ...]) -> None:
        self.conflicts = conflicts
        super().__init__("\n".join(str(conflict) for conflict in conflicts))
