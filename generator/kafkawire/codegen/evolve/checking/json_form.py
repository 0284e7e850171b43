"""A result for programs: one JSON document, whose form is told in the documentation."""

from __future__ import annotations

import json
from collections.abc import Iterable

from kafkawire.codegen.evolve.checking.accepted import Acceptance
from kafkawire.codegen.evolve.checking.result import CheckResult, JudgedFinding, MessageBytes
from kafkawire.codegen.evolve.json_value import JsonValue
from kafkawire.codegen.evolve.readability import Reading, VersionCompatibility

FORM = 1
"""The number of the form; it grows when something is renamed, removed or changes its meaning."""


def check_json(result: CheckResult) -> str:
    """The document, ending in a line feed; each item of a list has a line of its own, so that documents compare."""
    head: dict[str, JsonValue] = {
        "form": FORM,
        "profile": result.profile,
        "older": result.older.name,
        "newer": result.newer.name,
        "summary": dict(result.counts),
    }
    missing: list[JsonValue] = [
        {"side": one.side, "jar": one.jar, "messages": list(one.messages)} for one in result.left_out
    ]
    lists = (
        ("missing", missing),
        ("findings", [_finding(judged) for judged in result.findings]),
        ("unused", [_unused(acceptance) for acceptance in result.unused]),
        ("bytes", [_bytes(message) for message in result.bytes]),
    )
    members = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    members += [f"{json.dumps(key)}: {_list(items)}" for key, items in lists]
    return "{\n" + ",\n".join(members) + "\n}\n"


def _list(items: Iterable[JsonValue]) -> str:
    shown = ",\n".join(f"  {json.dumps(item)}" for item in items)
    return f"[\n{shown}\n]" if shown else "[]"


def _finding(judged: JudgedFinding) -> JsonValue:
    finding, span = judged.finding, judged.finding.span
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "path": finding.path,
        "versions": str(finding.versions),
        "reason": finding.reason,
        "file": finding.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "accepted": judged.accepted.reason if judged.accepted else None,
    }


def _unused(acceptance: Acceptance) -> JsonValue:
    return {
        "rule": acceptance.rule,
        "message": acceptance.message,
        "path": acceptance.path,
        "versions": None if acceptance.versions is None else str(acceptance.versions),
        "reason": acceptance.reason,
        "line": acceptance.line or None,
    }


def _bytes(message: MessageBytes) -> JsonValue:
    return {
        "message": message.message,
        "versions": [_version(version, version.version in message.unstable) for version in message.versions],
    }


def _version(version: VersionCompatibility, unstable: bool) -> JsonValue:
    return {
        "version": version.version,
        "unstable": unstable,
        "old_to_new": _reading(version.old_to_new),
        "new_to_old": _reading(version.new_to_old),
    }


def _reading(reading: Reading) -> JsonValue:
    return {
        "verdict": reading.verdict,
        "obstacles": [
            {"path": obstacle.path, "verdict": obstacle.verdict, "reason": obstacle.reason}
            for obstacle in reading.obstacles
        ],
    }
