"""A comparison for programs: one JSON document, whose form is told in the documentation."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.change import Change, Location, MessageChanges, SchemaDiff
from kafkawire.codegen.evolve.diff_wording import counts
from kafkawire.codegen.evolve.json_value import JsonValue
from kafkawire.codegen.versions import Versions

FORM = 1
"""The number of the form; it grows when something is renamed, removed or changes its meaning."""


def diff_json(diff: SchemaDiff) -> str:
    """The document, ending in a line feed."""
    head: dict[str, JsonValue] = {
        "form": FORM,
        "older": diff.older,
        "newer": diff.newer,
        "summary": {noun: dict(numbers) for noun, numbers in counts(diff).items()},
        "missing": [{"side": one.side, "jar": one.jar, "messages": list(one.messages)} for one in diff.left_out],
    }
    return _with_list(head, "messages", [_message(message) for message in diff.messages], "") + "\n"


def _message(message: MessageChanges) -> str:
    head: dict[str, JsonValue] = {
        "name": message.name,
        "status": message.status,
        "older": _side(message.older),
        "newer": _side(message.newer),
    }
    return _with_list(head, "changes", [json.dumps(_change(change)) for change in message.changes], "  ")


def _with_list(head: dict[str, JsonValue], key: str, items: Sequence[str], indent: str) -> str:
    """An object whose last attribute is a list with an item a line, so that lines of documents can be compared."""
    inner = ",".join(f"\n{indent}  {item}" for item in items)
    return f"{json.dumps(head)[:-1]}, {json.dumps(key)}: [{inner}]}}"


def _side(message: MessageDefinition | None) -> JsonValue:
    if message is None:
        return None
    valid = (message.valid_versions,) if message.valid_versions else ()
    return {
        "name": message.name,
        "type": message.type,
        "api_key": message.api_key,
        "versions": _ranges(valid),
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
