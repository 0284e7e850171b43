"""Reads ``field-meanings.toml``: what fields mean, by name, and by message where a name has several meanings.

The library that reads TOML has no positions of keys, so those are searched in the lines of the text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kafkawire.codegen.check.meanings import MEANING_DUPLICATE, MEANING_FILE
from kafkawire.codegen.check.sentences import check_sentences
from kafkawire.codegen.definition import Meaning, Span
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.parse.files import read_bytes, text_of

MEANINGS_FILE = "field-meanings.toml"

_GENERAL, _OF_MESSAGES = "fields", "messages"
_PART = r"""(?:[\w-]+|"[^"\\]*"|'[^']*')"""
_KEY = re.compile(rf"\s*(?P<key>{_PART}(?:\s*\.\s*{_PART})*)\s*=")
_HEADER = re.compile(rf"\s*\[\s*(?P<key>{_PART}(?:\s*\.\s*{_PART})*)\s*\]")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_FENCES = ('"""', "'''")


@dataclass(frozen=True, slots=True)
class Meanings:
    """The sentences of a folder of definitions.

    Attributes:
        entries: the sentences that can be used, in the order of the file.
        findings: problems of the file, but not of the names, which need the definitions.
        sources: the file and its text; empty if there is no such file.
    """

    entries: tuple[Meaning, ...]
    findings: tuple[Finding, ...]
    sources: Mapping[str, str]


NO_MEANINGS = Meanings((), (), {})


def load_meanings(root: Path, shown: Callable[[Path], str] = str) -> Meanings:
    """Read the file of a folder of definitions; without one there are no sentences.

    Args:
        root: the folder.
        shown: makes the displayed name of a path; by default the path itself.
    """
    path = root / MEANINGS_FILE
    if not path.exists():
        return NO_MEANINGS
    name = shown(path)
    data = read_bytes(path, name)
    if isinstance(data, Finding):
        return Meanings((), (data,), {})
    text, findings = text_of(data, name)
    if text is None:
        return Meanings((), tuple(findings), {})
    read = parse_meanings(text, name)
    return Meanings(read.entries, (*findings, *read.findings), read.sources)


def parse_meanings(text: str, file: str) -> Meanings:
    """Read the sentences from the text of a file; `file` is its displayed name."""
    keys = tuple(_keys(text))
    findings = list(_repeated(keys, file))
    entries: list[Meaning] = []
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        if not findings:
            findings.append(_not_toml(error, text, file))
    else:
        spans = dict(reversed(keys))
        for path, value in _values(tables, ()):
            meaning = _meaning(path, value, file, _span_of(path, spans))
            if isinstance(meaning, Finding):
                findings.append(meaning)
            else:
                entries.append(meaning)
    findings.extend(check_sentences(entries))
    return Meanings(tuple(entry for entry in entries if entry.sentence.strip()), tuple(findings), {file: text})


_Path = tuple[str, ...]


def _keys(text: str) -> Iterator[tuple[_Path, Span]]:
    """The path of each table and key with its place; names in dots are separate, quoted or not."""
    table: _Path = ()
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        was_inside = inside
        inside ^= any(line.count(fence) % 2 for fence in _FENCES)
        if was_inside:
            continue
        header = _HEADER.match(line)
        match = header or _KEY.match(line)
        if match is None:
            continue
        names = tuple(part.strip(" \t\"'") for part in match["key"].split("."))
        if header:
            table = names
        yield (
            (table if header else (*table, *names)),
            Span(number, match.start("key") + 1, number, match.end("key") + 1),
        )


def _repeated(keys: tuple[tuple[_Path, Span], ...], file: str) -> Iterator[Finding]:
    first: dict[_Path, Span] = {}
    for path, span in keys:
        if first.setdefault(path, span) is not span:
            text = f"{'.'.join(path[1:]) or path[0]} is given twice, first in line {first[path].line}"
            yield MEANING_DUPLICATE.finding(file, span, text)


def _values(table: Mapping[str, object], path: _Path) -> Iterator[tuple[_Path, object]]:
    """Everything that is not a table, with its path."""
    for key, value in table.items():
        inner = (*path, *key.split("."))
        if isinstance(value, dict):
            yield from _values(value, inner)
        else:
            yield inner, value


def _meaning(path: _Path, value: object, file: str, span: Span) -> Meaning | Finding:
    """The sentence with this path: ``fields.NAME``, or ``messages.MESSAGE.PATH``."""
    table, *names = path
    if table not in (_GENERAL, _OF_MESSAGES):
        return MEANING_FILE.finding(file, span, f"{'.'.join(path)} is in neither [fields] nor [messages.NAME]")
    if table == _GENERAL and len(names) != 1:
        text = f"{'.'.join(path)}: [fields] has names of fields only"
        return MEANING_FILE.finding(file, span, text, "move a path of names to the table [messages.NAME]")
    if table == _OF_MESSAGES and len(names) < 2:
        return MEANING_FILE.finding(file, span, f"{'.'.join(path)} is not a table of fields")
    if not isinstance(value, str):
        return MEANING_FILE.finding(file, span, f"{'.'.join(names)} is not a text", "write the sentence in quotes")
    message = names.pop(0) if table == _OF_MESSAGES else ""
    return Meaning(message, ".".join(names), value, file, span)


def _span_of(path: _Path, spans: Mapping[_Path, Span]) -> Span:
    """The place of a key; if it is inside of an inline table, that of the table."""
    while path and path not in spans:
        path = path[:-1]
    return spans.get(path, Span(1, 1, 1, 1))


def _not_toml(error: Exception, text: str, file: str) -> Finding:
    if isinstance(error, RecursionError):
        return MEANING_FILE.finding(file, Span(1, 1, 1, 1), "invalid TOML: tables are nested too deeply")
    message = str(error)
    place = _PLACE.search(message)
    lines = text.split("\n")
    line, column = len(lines), len(lines[-1]) + 1
    if place and place[1]:
        line, column = int(place[1]), int(place[2])
    return MEANING_FILE.finding(file, Span(line, column, line, column), f"invalid TOML: {_PLACE.sub('', message)}")
