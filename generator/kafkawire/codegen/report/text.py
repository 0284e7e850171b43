"""Findings as text with the source line and a caret, or as JSON with one object a line."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from kafkawire.codegen.definition import Span
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.parse.source import Lines

_WIDTH = 120
"""Columns of a source line that are shown; longer lines are cut around the finding."""
_TAB = 4


def render_text(findings: Sequence[Finding], sources: Mapping[str, str]) -> str:
    """Findings for people: place, rule, message, source line, caret and help; each ends with an empty line."""
    lines = {name: Lines(text) for name, text in sources.items()}
    return "".join(_text_of(finding, lines.get(finding.file)) + "\n" for finding in findings)


def render_json(findings: Iterable[Finding]) -> str:
    """Findings for programs: one JSON document, a list with an object for each."""
    objects = ",\n".join(map(_json_of, findings))
    return f"[\n{objects}\n]\n" if objects else "[]\n"


def render_json_lines(findings: Iterable[Finding]) -> str:
    """Findings for programs: one object a line; the message includes the help."""
    return "".join(_json_of(finding) + "\n" for finding in findings)


def summary(findings: Sequence[Finding], files: int) -> str:
    """The number of errors and warnings, and of files."""
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    return f"{counted(errors, 'error')}, {counted(warnings, 'warning')} in {counted(files, 'file')}"


def counted(number: int, noun: str) -> str:
    """``1 error``, ``2 errors``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _json_of(finding: Finding) -> str:
    span = finding.span
    return json.dumps(
        {
            "file": finding.file,
            "line": span.line,
            "column": span.column,
            "end_line": span.end_line,
            "end_column": span.end_column,
            "rule": finding.rule,
            "severity": finding.severity,
            "message": f"{finding.message}; {finding.remedy}" if finding.remedy else finding.message,
        }
    )


def _text_of(finding: Finding, lines: Lines | None) -> str:
    span = finding.span
    head = f"{finding.file}:{span.line}:{span.column}: {finding.severity}[{finding.rule}]: {finding.message}"
    shown = [printable(head)]
    if lines is not None and lines.line(span.line).strip():
        shown.extend(excerpt(span, lines.line(span.line)))
    if finding.remedy:
        shown.append(printable(f"help: {finding.remedy}"))
    return "".join(line.rstrip() + "\n" for line in shown)


def excerpt(span: Span, line: str) -> tuple[str, str]:
    """The source line and a line of carets under the span, or under its first line."""
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    # Of a line of megabytes, only the part that may be shown is processed.
    before, marked = line[max(start - _WIDTH - 1, 0) : start], line[start : max(end, start)][:_WIDTH]
    after = line[max(end, start) :][:_WIDTH]
    left, middle, right = _columns(before), _columns(marked), _columns(after)
    if _width(left + middle) > _WIDTH and len(left) > _WIDTH // 2:
        left = "..." + left[-_WIDTH // 2 :]
    middle = middle[:_WIDTH]
    right = right[: max(_WIDTH - _width(left + middle), 0)]
    carets = "^" * max(_width(middle), 1)
    return f"  {left}{middle}{right}", "  " + " " * _width(left) + carets


def _columns(text: str) -> str:
    """A part of a source line with tabs as spaces and without control characters."""
    return printable(text.replace("\t", " " * _TAB))


def printable(text: str) -> str:
    """A text in which control characters, which a terminal would obey, are replaced."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _width(text: str) -> int:
    """Columns of a text on a terminal: East Asian wide letters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )
