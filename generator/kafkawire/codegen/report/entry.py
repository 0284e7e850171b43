"""What a report says about one place, whichever check found it."""

from __future__ import annotations

from dataclasses import dataclass
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
