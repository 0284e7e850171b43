"""Comparisons as JSON documents for programs; docs/how-to describes their form.

Each item of a list is on a line of its own, so that tools can compare two documents line by line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.change import Change, Location, MessageChanges, SchemaDiff
from kafkawire.codegen.evolve.checking.accepted import Acceptance
from kafkawire.codegen.evolve.checking.result import CheckResult, JudgedFinding, MessageBytes
from kafkawire.codegen.evolve.readability import Reading
from kafkawire.codegen.evolve.render.diff_wording import counts
from kafkawire.codegen.evolve.side import LeftOut
from kafkawire.codegen.importing.canonical import JsonValue
from kafkawire.codegen.versions import Versions

FORM = 1
"""The number of the form of both documents; it increases when something is renamed, removed or changes its meaning."""


def diff_json(diff: SchemaDiff) -> str:
    """The document of ``schema diff``."""
    head: dict[str, JsonValue] = {
        "form": FORM,
        "older": diff.older,
        "newer": diff.newer,
        "summary": {noun: dict(numbers) for noun, numbers in counts(diff).items()},
        "missing": _missing(diff.left_out),
    }
    return _with_list(head, "messages", [_message(message) for message in diff.messages], "") + "\n"


def check_json(result: CheckResult) -> str:
    """The document of ``schema check``."""
    head: dict[str, JsonValue] = {
        "form": FORM,
        "profile": result.profile,
        "older": result.older.name,
        "newer": result.newer.name,
        "summary": dict(result.counts),
    }
    lists = (
        ("missing", _missing(result.left_out)),
        ("findings", [_finding(judged) for judged in result.findings]),
        ("unused", [_unused(acceptance) for acceptance in result.unused]),
        ("bytes", [_bytes(message) for message in result.bytes]),
    )
    members = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    members += [f"{json.dumps(key)}: {_list(items)}" for key, items in lists]
    return "{\n" + ",\n".join(members) + "\n}\n"


def _missing(left_out: Iterable[LeftOut]) -> list[JsonValue]:
    return [{"side": one.side, "jar": one.jar, "messages": list(one.messages)} for one in left_out]


def _list(items: Iterable[JsonValue]) -> str:
    shown = ",\n".join(f"  {json.dumps(item)}" for item in items)
    return f"[\n{shown}\n]" if shown else "[]"


def _with_list(head: dict[str, JsonValue], key: str, items: Sequence[str], indent: str) -> str:
    """An object whose last attribute is a list of items that are JSON already."""
    inner = ",".join(f"\n{indent}  {item}" for item in items)
    return f"{json.dumps(head)[:-1]}, {json.dumps(key)}: [{inner}]}}"


def _message(message: MessageChanges) -> str:
    head: dict[str, JsonValue] = {
        "name": message.name,
        "status": message.status,
        "older": _side(message.older),
        "newer": _side(message.newer),
    }
    return _with_list(head, "changes", [json.dumps(_change(change)) for change in message.changes], "  ")


def _side(message: MessageDefinition | None) -> JsonValue:
    if message is None:
        return None
    return {
        "name": message.name,
        "type": message.type,
        "api_key": message.api_key,
        "versions": _ranges((message.valid_versions,) if message.valid_versions else ()),
        "file": message.place.file,
    }


def _change(change: Change) -> JsonValue:
    return {
        "kind": change.kind,
        "path": change.path,
        "older": change.older,
        "newer": change.newer,
        "versions": _ranges(change.versions),
        "in_place": _ranges(change.in_place),
        "older_location": _location(change.older_location),
        "newer_location": _location(change.newer_location),
    }


def _ranges(ranges: Sequence[Versions]) -> list[JsonValue]:
    return [[versions.lowest, versions.highest] for versions in ranges]


def _location(location: Location | None) -> JsonValue:
    if location is None:
        return None
    return {"file": location.file, "line": location.span.line, "column": location.span.column}


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
    versions: list[JsonValue] = [
        {
            "version": version.version,
            "unstable": version.version in message.unstable,
            "old_to_new": _reading(version.old_to_new),
            "new_to_old": _reading(version.new_to_old),
        }
        for version in message.versions
    ]
    return {"message": message.message, "versions": versions}


def _reading(reading: Reading) -> JsonValue:
    obstacles: list[JsonValue] = [
        {"path": obstacle.path, "verdict": obstacle.verdict, "reason": obstacle.reason}
        for obstacle in reading.obstacles
    ]
    return {"verdict": reading.verdict, "obstacles": obstacles}
