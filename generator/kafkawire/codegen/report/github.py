"""Findings as workflow commands of GitHub Actions, which become annotations of the changed lines."""

from __future__ import annotations

from collections.abc import Iterable

from kafkawire.codegen.report.entry import Entry, Level
from kafkawire.codegen.report.text import printable

_COMMANDS: dict[Level, str] = {"error": "error", "warning": "warning", "note": "notice"}
_IN_MESSAGES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = str.maketrans({**_IN_MESSAGES, ":": "%3A", ",": "%2C"})


def render_github(entries: Iterable[Entry]) -> str:
    """One command a line: ``::error file=...,line=...,endLine=...,col=...,endColumn=...,title=RULE::MESSAGE``.

    A file outside of the repository is named in the message, since it cannot be annotated. Lines are left out if there
    is no text, and columns if a finding ends on another line, where GitHub does not accept them.
    """
    return "".join(_command(entry) + "\n" for entry in entries)


def _command(entry: Entry) -> str:
    properties: dict[str, str | int] = {}
    message = entry.advice
    span = entry.span
    if entry.path is None:
        place = entry.file if span is None else f"{entry.file}:{span.line}"
        message = f"{place}: {message}" if place else message
    else:
        properties["file"] = entry.path
        if span is not None:
            properties |= {"line": span.line, "endLine": span.end_line}
        if span is not None and span.line == span.end_line:
            properties |= {"col": span.column, "endColumn": span.end_column}
    properties["title"] = entry.rule
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[entry.level]} {written}::{_message(message)}"


def _property(text: str) -> str:
    return printable(text).translate(_IN_PROPERTIES)


def _message(text: str) -> str:
    """The text on one line, as a command is, without control characters."""
    return "%0A".join(printable(line).replace("%", "%25") for line in text.splitlines())
