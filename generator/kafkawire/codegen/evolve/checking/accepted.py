"""The file of accepted findings: changes that were made on purpose, each with its reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.spelling import did_you_mean
from kafkawire.codegen.versions import Versions, VersionsSyntaxError, parse_versions

MAXIMUM_SIZE = 1 << 20
"""Most bytes of a file of accepted findings."""

_TABLE = "accepted"
_HEADER = re.compile(r"\s*\[\[\s*accepted\s*\]\]")
_REQUIRED = ("rule", "message", "reason")
_KEYS = (*_REQUIRED, "path", "versions")


class AcceptedError(Exception):
    """A file of accepted findings that cannot be used; the text has the place and the problem."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An entry of the file.

    Attributes:
        line: line of the entry, or 0 if it is unknown.
        rule: id of the rule.
        message: name of the message.
        reason: why the change is accepted.
        path: the field; None for any field and for the message itself.
        versions: the versions that may be affected; None for any.
    """

    line: int
    rule: str
    message: str
    reason: str
    path: str | None = None
    versions: Versions | None = None

    def covers(self, finding: EvolutionFinding) -> bool:
        """Whether it accepts a finding: everything in the entry matches, and no other versions are affected."""
        return (
            (self.rule, self.message) == (finding.rule, finding.message)
            and (self.path is None or self.path == finding.path)
            and (self.versions is None or self.versions.contains(finding.versions))
        )

    def __str__(self) -> str:
        """What it accepts, in words."""
        parts = [self.rule, self.message, str(self.versions or ""), self.path or ""]
        return " ".join(part for part in parts if part)


def read_accepted(file: Path, rules: Mapping[str, object]) -> tuple[Acceptance, ...]:
    """Read a file of accepted findings.

    Args:
        file: a TOML file with tables ``[[accepted]]``: ``rule``, ``message`` and ``reason``, and, to accept less,
            ``path`` and ``versions``.
        rules: all rules by id.

    Raises:
        AcceptedError: if it cannot be read, has another form, or names an unknown rule.
    """
    text = _text_of(file)
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise AcceptedError(f"{file}: not TOML: {error}") from None
    for key in content:
        if key != _TABLE:
            line = _line_of(text.splitlines(), key, 0)
            raise AcceptedError(f"{file}{line}: unknown key {key!r}; entries begin with [[{_TABLE}]]")
    entries = content.get(_TABLE, [])
    if not isinstance(entries, list):
        raise AcceptedError(f"{file}: {_TABLE} is not a list of tables; entries begin with [[{_TABLE}]]")
    starts = _starts(text, len(entries))
    return tuple(_Entry(file, text, start, entry).read(rules) for start, entry in zip(starts, entries, strict=True))


def _text_of(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(MAXIMUM_SIZE + 1)
    except OSError as error:
        raise AcceptedError(f"{file}: {error.strerror or error}") from None
    if len(data) > MAXIMUM_SIZE:
        raise AcceptedError(f"{file}: larger than {MAXIMUM_SIZE} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise AcceptedError(f"{file}: not UTF-8 at byte {error.start}") from None


def _starts(text: str, count: int) -> list[int]:
    """The line of each entry; 0 for all if the entries have no headers of their own."""
    found = [number for number, line in enumerate(text.splitlines(), 1) if _HEADER.match(line)]
    return found if len(found) == count else [0] * count


def _line_of(lines: list[str], key: str, start: int) -> str:
    """``:LINE`` of a key, searched after a line (counted from 1); that line, or nothing, if it is not found."""
    pattern = re.compile(rf"\s*(\[+\s*)?[\"']?{re.escape(key)}[\"']?\s*[=\].]")
    for number, line in enumerate(lines[start:], start + 1):
        if pattern.match(line):
            return f":{number}"
        if start and _HEADER.match(line):
            break
    return f":{start}" if start else ""


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry as it was written."""

    file: Path
    text: str
    start: int
    entry: object

    def read(self, rules: Mapping[str, object]) -> Acceptance:
        values = self._texts()
        rule = values["rule"]
        if rule not in rules:
            hint = did_you_mean(rule, list(rules))
            raise self._error("rule", f"there is no rule {rule!r}" + (f"; {hint}" if hint else ""))
        return Acceptance(
            self.start, rule, values["message"], values["reason"], values.get("path"), self._versions(values)
        )

    def _texts(self) -> dict[str, str]:
        if not isinstance(self.entry, dict):
            raise self._error("", f"an entry of {_TABLE} is not a table")
        values: dict[str, str] = {}
        for key, value in self.entry.items():
            if key not in _KEYS:
                raise self._error(key, f"unknown key {key!r}; an entry has {', '.join(_KEYS)}")
            if not isinstance(value, str):
                raise self._error(key, f"{key} is not a string")
            values[key] = value
        for key in _REQUIRED:
            if not values.get(key, "").strip():
                raise self._error(key, f"an entry needs {key}")
        return values

    def _versions(self, values: Mapping[str, str]) -> Versions | None:
        if "versions" not in values:
            return None
        try:
            return parse_versions(values["versions"])
        except VersionsSyntaxError as error:
            raise self._error("versions", str(error)) from None

    def _error(self, key: str, problem: str) -> AcceptedError:
        line = _line_of(self.text.splitlines(), key, self.start) if self.start else ""
        return AcceptedError(f"{self.file}{line}: {problem}")
