"""The rules as data, and that one fault has one finding."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from kafkawire.codegen.check import RULES, check_message, check_set
from kafkawire.codegen.check.catalogue import FAMILIES, FIELD_CHECKS, MESSAGE_CHECKS, SET_CHECKS, STRUCT_CHECKS
from kafkawire.codegen.check.rule import FieldCheck, MessageCheck, SetCheck, StructCheck
from kafkawire.codegen.parse.load import load_paths, parse_message

CHECKS: tuple[FieldCheck | StructCheck | MessageCheck | SetCheck, ...] = (
    *FIELD_CHECKS,
    *STRUCT_CHECKS,
    *MESSAGE_CHECKS,
    *SET_CHECKS,
)


def found(tmp_path: Path, fields: str, extra: str = "", versions: str = "0-3") -> list[str]:
    path = tmp_path / "Example.json"
    path.write_text(
        f'{{"type": "data", "name": "Example", "validVersions": "{versions}", "flexibleVersions": "2+", {extra}'
        f'"fields": [{fields}]}}'
    )
    return [finding.rule for finding in load_paths([path]).findings]


def test_rules_say_what_they_are_for() -> None:
    for rule in RULES.values():
        assert rule.id == rule.id.lower()
        assert rule.purpose.endswith(".")
        assert rule.remedy
        assert not rule.remedy.endswith(".")


def test_gaps_and_texts_of_sentences_are_warnings_and_all_else_is_an_error() -> None:
    gaps = {id_ for id_ in RULES if id_.startswith("gap-")}
    sentences = {"meaning-empty", "meaning-sentence", "meaning-unknown-name"}
    assert {rule.id for rule in RULES.values() if rule.severity == "warning"} == gaps | sentences


def test_every_check_has_a_rule_of_its_own() -> None:
    ids = [check.rule.id for check in CHECKS]
    assert len(ids) == len(set(ids))


def test_every_function_of_a_family_is_registered() -> None:
    undecorated = [
        f"{family.__name__}.{name}"
        for family in FAMILIES
        for name, value in vars(family).items()
        if inspect.isfunction(value) and value.__module__ == family.__name__ and not name.startswith("_")
    ]
    family = "kafkawire.codegen.check.header_versions"
    assert undecorated == [f"{family}.entry_attribute", f"{family}.is_api_versions_response"]


TAGGED = {"tag": 1, "taggedVersions": "2+"}
LATE_INNER = {"name": "B", "type": "T", "versions": "9+", "fields": [{"name": "C", "type": "int8", "versions": "9+"}]}


def field(**attributes: object) -> str:
    return json.dumps({"name": "A", "type": "int8", "versions": "0+", **attributes})


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        (field(type="int24", default="x", nullableVersions="0+"), ["field-type-unknown"]),
        (field(type="S", versions="9+", fields=[LATE_INNER]), ["struct-versions-overlap"]),
        (field(tag="x", taggedVersions="2+"), ["json-wrong-kind"]),
        (field(tag="x", taggedVersions="2+") + "," + field(name="B", **TAGGED), ["json-wrong-kind"]),
        ('{"name": "A", "type": "int8", "tag": 0, "taggedVersions": "x"}', ["versions-not-a-number"]),
        (field(tag=-1, taggedVersions="2+"), ["field-tag-negative"]),
        (field(versions="3-2"), ["gap-reversed-range"]),
        ("7, " + field(**TAGGED), ["json-wrong-kind"]),
    ],
)
def test_one_fault_is_reported_once(tmp_path: Path, fields: str, rules: list[str]) -> None:
    assert found(tmp_path, fields) == rules


def test_flexible_versions_that_cannot_be_read_are_the_only_fault(tmp_path: Path) -> None:
    path = tmp_path / "Example.json"
    path.write_text(
        '{"type": "data", "name": "Example", "validVersions": "0-3", "flexibleVersions": "two", "fields": ['
        '{"name": "A", "type": "int8", "versions": "0+", "tag": 0, "taggedVersions": "2+"},'
        '{"name": "B", "type": "string", "versions": "0+", "flexibleVersions": "2+"}]}'
    )
    assert [finding.rule for finding in load_paths([path]).findings] == ["versions-not-a-number"]


def test_a_field_that_cannot_be_read_may_be_the_user_of_a_common_struct(tmp_path: Path) -> None:
    common = '"commonStructs": [{"name": "S", "versions": "0+", "fields": []}], '
    assert found(tmp_path, '{"name": "A", "type": "[]s", "versions": "0+"}', common) == ["field-type-unknown"]


def test_a_retired_message_is_not_asked_about_versions(tmp_path: Path) -> None:
    field = '{"name": "A", "type": "S", "versions": "0+", "tag": 0, "taggedVersions": "0+", "fields": []}'
    assert found(tmp_path, field, versions="none") == []


def test_several_cycles_of_structs_are_each_reported(tmp_path: Path) -> None:
    common = (
        '"commonStructs": [{"name": "S", "versions": "0+", "fields": [{"name": "X", "type": "S", "versions": "0+"}]},'
        '{"name": "T", "versions": "0+", "fields": [{"name": "X", "type": "S", "versions": "0+"},'
        '{"name": "Y", "type": "[]T", "versions": "0+"}]}], '
    )
    assert found(tmp_path, '{"name": "A", "type": "T", "versions": "0+"}', common) == ["struct-contains-itself"] * 2


def test_a_long_chain_of_structs_is_a_finding(tmp_path: Path) -> None:
    chain = ", ".join(
        f'{{"name": "S{n}", "versions": "0+", "fields": [{{"name": "X", "type": "S{n + 1}", "versions": "0+"}}]}}'
        for n in range(2000)
    )
    common = f'"commonStructs": [{chain}, {{"name": "S2000", "versions": "0+", "fields": []}}], '
    assert found(tmp_path, '{"name": "A", "type": "S0", "versions": "0+"}', common) == ["struct-nesting"]


def test_check_set_keeps_folders_apart() -> None:
    text = '{"apiKey": 1, "type": "metadata", "name": "Record", "validVersions": "0", "flexibleVersions": "0+"}'
    messages = [parse_message(text, f"{group}/Record.json", group)[0] for group in ("metadata", "storage")]
    assert check_set([message for message in messages if message is not None]) == []
    twice = [parse_message(text, file, "metadata")[0] for file in ("a.json", "b.json")]
    rules = [finding.rule for finding in check_set([message for message in twice if message is not None])]
    assert rules == ["set-metadata-id-unique", "gap-duplicate-message-name"]


def test_check_message_says_nothing_about_a_sound_message() -> None:
    text = '{"type": "data", "name": "Example", "validVersions": "0", "flexibleVersions": "none"}'
    message, _ = parse_message(text, "Example.json")
    assert message is not None
    assert check_message(message) == []
