"""Every key is accounted for: what was parsed and is written again contains the original."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from tests.laws.codegen.definition_strategies import SPECS, Json, definitions

from kafkawire.codegen.importing.canonical import as_json, canonical_text
from kafkawire.codegen.parse.load import load_definitions, parse_message
from kafkawire.codegen.versions import parse_versions

WITHOUT_EFFECT: dict[str, tuple[Json, ...]] = {
    "about": ("",),
    "commonStructs": ([],),
    "default": ("",),
    "deprecatedVersions": ("none",),
    "entityType": ("unknown",),
    "fields": ([],),
    "ignorable": (False,),
    "latestVersionUnstable": (False,),
    "listeners": ([],),
    "mapKey": (False,),
    "nullableVersions": ("none",),
    "taggedVersions": ("none",),
    "zeroCopy": (False,),
    # Of a message without valid versions only: nothing of it is flexible.
    "flexibleVersions": ("none",),
}
"""Attributes whose value may be left out, because leaving them out says the same."""

LISTS = ("fields", "commonStructs", "listeners")
BOOLEANS = ("ignorable", "mapKey", "zeroCopy", "latestVersionUnstable")
INTEGERS = ("apiKey", "tag")


def normal(key: str, value: Json) -> Json:
    """A value in the one form that canonical text has."""
    if key in LISTS:
        return value if isinstance(value, list) else [value]
    if isinstance(value, dict):
        return {range_: str(header) for range_, header in value.items()}
    if key in BOOLEANS:
        return value in (True, "true")
    if key in INTEGERS:
        assert isinstance(value, int | str)
        return int(value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if key.lower().endswith("versions"):
        return str(parse_versions(text))
    return text.strip() if key == "type" else text


def missing(original: Json, written: Json, path: str = "") -> list[str]:
    """Paths of what the original says and the written form does not."""
    if isinstance(original, dict) and isinstance(written, dict):
        lost = []
        for key, value in original.items():
            if value is None:
                continue
            expected = normal(key, value)
            if key in written:
                lost += missing(expected, written[key], f"{path}.{key}")
            elif expected not in WITHOUT_EFFECT.get(key, ()):
                lost.append(f"{path}.{key}")
        return lost
    if isinstance(original, list) and isinstance(written, list) and len(original) == len(written):
        pairs = enumerate(zip(original, written, strict=True))
        return [path_ for index, (one, other) in pairs for path_ in missing(one, other, f"{path}[{index}]")]
    return [] if original == written else [path]


@given(definitions)
def test_what_was_parsed_contains_the_original(original: dict[str, Json]) -> None:
    message, findings = parse_message(json.dumps(original), "Example.json")
    assert [finding.rule for finding in findings if finding.severity == "error"] == []
    assert message is not None
    assert missing(original, json.loads(json.dumps(as_json(message, about=True)))) == []


@given(definitions)
def test_canonical_text_reads_back_as_the_same_message(original: dict[str, Json]) -> None:
    message, _ = parse_message(json.dumps(original), "Example.json")
    assert message is not None
    again, findings = parse_message(canonical_text(message, about=True), "Example.json")
    assert findings == []
    assert again == message


def test_the_law_notices_what_is_missing() -> None:
    original: Json = {"name": "A", "fields": [{"name": "B", "mapKey": "true"}, {"default": 1}]}
    assert missing(original, {"name": "A", "fields": [{"name": "B"}, {"default": "2"}]}) == [
        ".fields[0].mapKey",
        ".fields[1].default",
    ]
    assert missing(original, {"name": "A", "fields": [{"name": "B"}]}) == [".fields"]


REAL = sorted(SPECS.rglob("*.json"))
IMPORTED = [path for path in REAL if "proposals" not in path.parts]


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_real_definitions_contain_their_original(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    message, findings = parse_message(text, str(path))
    assert findings == []
    assert message is not None
    assert missing(json.loads(text), json.loads(json.dumps(as_json(message)))) == []


@pytest.mark.parametrize("path", IMPORTED, ids=lambda path: path.stem)
def test_imported_definitions_are_canonical(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    message, _ = parse_message(text, str(path))
    assert message is not None
    assert canonical_text(message) == text


def test_real_definitions_have_no_errors() -> None:
    loaded = load_definitions(SPECS)
    assert [finding for finding in loaded.findings if finding.severity == "error"] == []
    assert len(loaded.messages) == len(REAL)
