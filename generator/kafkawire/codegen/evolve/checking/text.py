"""A result as lines for people: findings with source line and caret, the worst first, then what the bytes say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kafkawire.codegen.evolve.checking.result import CheckResult, JudgedFinding
from kafkawire.codegen.evolve.checking.wording import (
    Kind,
    bytes_rows,
    bytes_summary,
    kind,
    subject,
    summary,
    told_together,
)
from kafkawire.codegen.parse.source import Lines
from kafkawire.codegen.report.text import excerpt, printable

LineKind = Kind | Literal["plain", "faint"]
"""What a line tells, by which it is coloured."""

_ALIKE = 3
"""From so many findings on that tell the same, only the first is shown with its source line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the text."""

    kind: LineKind
    text: str


def text_lines(result: CheckResult) -> Iterator[Line]:
    """The lines of a result, without colours and line ends."""
    lines = {name: Lines(text) for name, text in result.sources().items()}
    for group in told_together(result.findings):
        yield from _group(group, lines)
    yield from _bytes(result)
    for unused in result.unused:
        where = f" (line {unused.line})" if unused.line else ""
        yield Line("risky", printable(f"accepted{where}, but no longer found: {unused}"))
    if result.unused:
        yield Line("plain", "")
    yield Line("plain", f"{summary(result)}: {result.older.name} -> {result.newer.name}")


def _group(group: tuple[JudgedFinding, ...], lines: Mapping[str, Lines]) -> Iterator[Line]:
    shown = 1 if len(group) > _ALIKE else len(group)
    for judged in group[:shown]:
        yield from _finding(judged, lines)
        yield Line("plain", "")
    for judged in group[shown:]:
        yield Line("faint", printable(f"  the same: {_place(judged)}: {subject(judged.finding)}"))
    if shown < len(group):
        yield Line("plain", "")


def _finding(judged: JudgedFinding, lines: Mapping[str, Lines]) -> Iterator[Line]:
    finding, span = judged.finding, judged.finding.span
    shown = kind(judged)
    head = f"{_place(judged)}: {shown}[{finding.rule}]: {subject(finding)}: {finding.reason}"
    yield Line(shown, printable(head))
    source = lines.get(finding.file)
    if source is not None and source.line(span.line).strip():
        for line in excerpt(span, source.line(span.line)):
            yield Line("faint", line.rstrip())
    if judged.accepted is not None:
        yield Line("plain", printable(f"accepted: {judged.accepted.reason}"))


def _place(judged: JudgedFinding) -> str:
    span = judged.finding.span
    return f"{judged.finding.file}:{span.line}:{span.column}"


def _bytes(result: CheckResult) -> Iterator[Line]:
    for row in bytes_rows(result):
        yield Line("plain", printable(f"bytes: {row}"))
    yield Line("plain", bytes_summary(result))
