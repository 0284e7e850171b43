"""What a report says about one place of a file, and where the file is in its repository."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kafkawire.codegen.definition import Span

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One finding.

    Attributes:
        file: the file as it is shown to people.
        path: its path from the root of the repository, with ``/`` between its parts; None for a file that is in none.
        span: stretch of the file.
        level: ``error`` for what must be mended, ``warning`` for what should be looked at, ``note`` for the rest.
        rule: id of the rule.
        message: what is wrong; one sentence, or several lines.
        help: what to do about it, or empty.
    """

    file: str
    path: str | None
    span: Span
    level: Level
    rule: str
    message: str
    help: str = ""

    @property
    def advice(self) -> str:
        """The message with what to do about it."""
        return f"{self.message}; {self.help}" if self.help else self.message


@dataclass(frozen=True, slots=True)
class ReportedRule:
    """A rule as a report explains it.

    Attributes:
        id: its id.
        summary: what must hold, in one sentence.
        help: what to do where it does not hold, or empty.
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
        """The path of a file that is shown as `file`; None if it is not in this repository.

        Besides files of the disk this knows what a file at a git ref is shown as, ``git:main:specs/clients/X.json``.
        """
        path = self._here / file
        if path.exists():
            path = path.parent.resolve() / path.name  # a link is annotated itself, and not what it leads to
            return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else None
        words = file.split(":", 2)
        return words[2] if len(words) == 3 and words[0] == "git" and words[2] else None
