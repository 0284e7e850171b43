"""Comparisons as lines of text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kafkawire.codegen.evolve.change import SchemaDiff
from kafkawire.codegen.evolve.checking.result import CheckResult, JudgedFinding
from kafkawire.codegen.evolve.render.check_wording import bytes_rows, bytes_summary, grouped, kind, subject, summary
from kafkawire.codegen.evolve.render.diff_wording import (
    details,
    diff_summary,
    headline,
    nothing_changed,
    sign_of_message,
)
from kafkawire.codegen.parse.source import Lines
from kafkawire.codegen.report.text import excerpt, printable

_STYLES = {"+": "green", "-": "red", "~": "yellow",
           "breaking": "bold red", "risky": "yellow", "safe": "green", "accepted": "cyan"}  # fmt: skip
_LONG_GROUP = 4
"""Of this many equal findings, only the first is shown with its source line."""


class Line(NamedTuple):
    """A line, and the style in which rich prints it; an empty style is plain text."""

    text: str
    style: str = ""


def diff_lines(diff: SchemaDiff) -> Iterator[Line]:
    """What changed: a line for each message, and below it one for each change of its parts."""
    yield Line(f"{diff.older} -> {diff.newer}")
    yield Line("")
    for message in diff.messages:
        sign, text = sign_of_message(message), headline(message)
        yield Line(f"{sign} {message.name}: {text}" if text else f"{sign} {message.name}", _STYLES[sign])
        for detail_sign, detail in details(message):
            yield Line(f"    {detail_sign} {detail}", _STYLES[detail_sign])
    if diff.messages:
        yield Line("")
    yield Line(diff_summary(diff) if diff.messages else nothing_changed(diff))


def check_lines(result: CheckResult) -> Iterator[Line]:
    """The findings with source line and caret, the most severe first, then the comparison of bytes."""
    sources = {name: Lines(text) for name, text in result.sources().items()}
    for group in grouped(result.findings):
        yield from _group(group, sources)
    yield from (Line(printable(f"bytes: {row}")) for row in bytes_rows(result))
    yield Line(bytes_summary(result))
    for unused in result.unused:
        where = f" (line {unused.line})" if unused.line else ""
        yield Line(printable(f"accepted{where}, but no longer found: {unused}"), _STYLES["risky"])
    if result.unused:
        yield Line("")
    yield Line(f"{summary(result)}: {result.older.name} -> {result.newer.name}")


def _group(group: Sequence[JudgedFinding], sources: Mapping[str, Lines]) -> Iterator[Line]:
    shown = 1 if len(group) >= _LONG_GROUP else len(group)
    for judged in group[:shown]:
        yield from _finding(judged, sources)
        yield Line("")
    for judged in group[shown:]:
        yield Line(printable(f"  the same: {_place(judged)}: {subject(judged.finding)}"), "dim")
    if shown < len(group):
        yield Line("")


def _finding(judged: JudgedFinding, sources: Mapping[str, Lines]) -> Iterator[Line]:
    finding, line = judged.finding, judged.finding.span.line
    head = f"{_place(judged)}: {kind(judged)}[{finding.rule}]: {subject(finding)}: {finding.reason}"
    yield Line(printable(head), _STYLES[kind(judged)])
    source = sources.get(finding.file)
    if source is not None and source.line(line).strip():
        yield from (Line(shown.rstrip(), "dim") for shown in excerpt(finding.span, source.line(line)))
    if judged.accepted is not None:
        yield Line(printable(f"accepted: {judged.accepted.reason}"))


def _place(judged: JudgedFinding) -> str:
    span = judged.finding.span
    return f"{judged.finding.file}:{span.line}:{span.column}"
