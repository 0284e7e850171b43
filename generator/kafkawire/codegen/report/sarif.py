"""Findings as SARIF 2.1.0 (OASIS Static Analysis Results Interchange Format), for code scanning and editors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from urllib.parse import quote

from kafkawire.codegen.definition import Span
from kafkawire.codegen.report.entry import Entry, ReportedRule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"

Json = dict[str, object]


def render_sarif(entries: Iterable[Entry], rules: Iterable[ReportedRule], version: str) -> str:
    """One log with one run.

    Args:
        entries: the findings.
        rules: the rules; those without a finding are left out.
        version: of kafkawire.

    The URI of a file in the repository is relative to ``%SRCROOT%``; that of any other file is its displayed name.
    Columns count code points from 1, and the end is exclusive.
    """
    found = list(entries)
    named = {entry.rule for entry in found}
    explained = sorted((rule for rule in rules if rule.id in named), key=lambda rule: rule.id)
    indexes = {rule.id: index for index, rule in enumerate(explained)}
    driver: Json = {"name": "kafkawire", "version": version, "rules": [_rule(rule) for rule in explained]}
    run: Json = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(entry, indexes[entry.rule]) for entry in found],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: ReportedRule) -> Json:
    explained: Json = {"id": rule.id, "shortDescription": {"text": rule.summary}}
    return explained | {"help": {"text": rule.help}} if rule.help else explained


def _result(entry: Entry, rule_index: int) -> Json:
    result: Json = {
        "ruleId": entry.rule,
        "ruleIndex": rule_index,
        "level": entry.level,
        "message": {"text": _text(entry.advice)},
        "locations": [_location(entry)],
    }
    return result | {"properties": dict(entry.facts)} if entry.facts else result


def _location(entry: Entry) -> Json:
    location: Json = {}
    if entry.file:
        region: Json = {} if entry.span is None else {"region": _region(entry.span)}
        location["physicalLocation"] = {"artifactLocation": _artifact(entry), **region}
    if entry.subject:
        location["logicalLocations"] = [{"fullyQualifiedName": _text(entry.subject)}]
    return location


def _artifact(entry: Entry) -> Json:
    if entry.path is None:
        return {"uri": _uri(entry.file)}
    return {"uri": _uri(entry.path), "uriBaseId": _ROOT}


def _text(text: str) -> str:
    """The text without halves of surrogate pairs, which names of files can have and JSON cannot."""
    return text.encode(errors="replace").decode()


def _uri(path: str) -> str:
    """A relative reference: other characters than letters, digits and ``-._~/`` are percent-encoded as UTF-8."""
    return quote(path, safe="/", errors="replace")


def _region(span: Span) -> Json:
    return {"startLine": span.line, "startColumn": span.column, "endLine": span.end_line, "endColumn": span.end_column}
