"""Entries of reports: a place in a text, with the path of the file in its repository, or a thing that no text has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kafkawire.codegen.definition import Span

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One finding.

    Attributes:
        file: displayed name of the file or folder; empty if there is none.
        path: its path from the root of the repository, with ``/`` between its parts; None outside of the repository.
        span: the place in the file; None if it is no text, or has no such place.
        level: ``error`` if it must be corrected, ``warning`` if it should be reviewed, else ``note``.
        rule: id of the rule.
        message: what is wrong; one sentence, or several lines.
        help: how to fix it, or empty.
        subject: what it is about, such as ``topic orders``; empty if the place says it.
        facts: more for programs, by name.
    """

    file: str
    path: str | None
    span: Span | None
    level: Level
    rule: str
    message: str
    help: str = ""
    subject: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def advice(self) -> str:
        """The message with its help."""
        return f"{self.message}; {self.help}" if self.help else self.message


@dataclass(frozen=True, slots=True)
class ReportedRule:
    """A rule in a report.

    Attributes:
        id: its id.
        summary: what must hold, in one sentence.
        help: how to fix a violation, or empty.
    """

    id: str
    summary: str
    help: str = ""


class RepositoryPaths:
    """Paths from the root of the repository around a folder; without one, from that folder."""

    def __init__(self, here: Path) -> None:
        self._here = here.resolve()
        folders = (self._here, *self._here.parents)
        # In a linked working tree and in a submodule .git is a file.
        self._root = next((folder for folder in folders if (folder / ".git").exists()), self._here)

    def of(self, file: str) -> str | None:
        """The path of a file with the displayed name `file`; None if it is not in this repository.

        It is also found in the displayed name of a file at a git ref, ``git:main:specs/clients/X.json``.
        """
        path = self._here / file
        if path.exists():
            path = path.parent.resolve() / path.name  # the link itself is annotated, not its target
            return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else None
        words = file.split(":", 2)
        return words[2] if len(words) == 3 and words[0] == "git" and words[2] else None
