"""Laws of `check`: rules and bytes never contradict each other, legal evolutions pass and illegal ones do not."""

from __future__ import annotations

import copy
import json
from typing import cast

from hypothesis import assume, event, given, note, strategies as st
from tests.laws.codegen.evolve.mutations import HIGHEST, Object, definitions, mutations, rearrangements

from kafkawire.codegen.check import check_message
from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.checking.result import CheckResult, check_sides
from kafkawire.codegen.evolve.rules.catalogue import EVOLUTION_RULES
from kafkawire.codegen.evolve.side import Side
from kafkawire.codegen.parse.load import parse_message
from kafkawire.codegen.specs_tree import unstable_versions

OF_BYTES = frozenset(
    {
        "conv-add-field", "conv-flexible", "conv-nullable", "conv-order", "conv-remove-field", "conv-type",
        "evo-field-flexible-shrinks", "evo-field-moved", "evo-flexible-shrinks", "evo-pair-missing-new",
        "evo-pair-missing-old", "evo-tag", "conv-default",
    }
)  # fmt: skip
"""Rules whose breaking findings are about the bytes of a version that both sides have."""


def test_the_rules_about_bytes_are_marked() -> None:
    assert {rule.id for rule in EVOLUTION_RULES.values() if rule.about_bytes} == OF_BYTES


def read(definition: Object) -> MessageDefinition:
    """The definition, if it is a legal one."""
    message, findings = parse_message(json.dumps(definition), "A.json")
    assume(message is not None and not findings)
    assert message is not None
    assume(not any(finding.severity == "error" for finding in check_message(message)))
    return message


def check(older: MessageDefinition, newer: MessageDefinition) -> CheckResult:
    sides = [Side("side", {message.name: message}, unstable_versions((message,), {}), {}) for message in (older, newer)]
    return check_sides(sides[0], sides[1], "kafkawire")


@st.composite
def edits(draw: st.DrawFn) -> tuple[MessageDefinition, MessageDefinition]:
    """A definition before and after somebody edited it up to three times."""
    definition = draw(definitions())
    edited = definition
    for _ in range(draw(st.integers(1, 3))):
        edited = draw(st.one_of(mutations(edited), rearrangements(edited)))
    note(f"before: {json.dumps(definition)}")
    note(f"after:  {json.dumps(edited)}")
    return read(definition), read(edited)


@given(definitions())
def test_a_side_compared_with_itself_has_no_findings(definition: Object) -> None:
    message = read(definition)
    result = check(message, message)
    assert result.findings == ()
    assert all(version.is_compatible for one in result.bytes for version in one.versions)


@given(edits())
def test_bytes_that_are_not_understood_are_explained_by_a_rule(
    edit: tuple[MessageDefinition, MessageDefinition],
) -> None:
    result = check(*edit)
    reported = {
        version
        for judged in result.findings
        if judged.finding.severity != "safe"
        for version in judged.finding.versions
    }
    for one in result.bytes:
        differing = {found.version for found in one.versions if not found.is_compatible}
        event("bytes differ" if differing else "bytes agree")
        assert {version for version in differing if version not in one.unstable} <= reported


@given(edits())
def test_what_breaks_by_a_rule_about_bytes_shows_in_the_bytes(
    edit: tuple[MessageDefinition, MessageDefinition],
) -> None:
    """In each version of the finding: a version whose bytes both sides understand has no such finding."""
    result = check(*edit)
    same = {found.version for one in result.bytes for found in one.versions if found.is_compatible}
    breaking = [judged.finding for judged in result.findings if judged.finding.severity == "breaking"]
    about_bytes = [finding for finding in breaking if finding.rule in OF_BYTES]
    event("rules about bytes" if about_bytes else "others")
    for finding in about_bytes:
        assert not same & set(finding.versions), finding


@given(edits())
def test_unstable_versions_may_change(edit: tuple[MessageDefinition, MessageDefinition]) -> None:
    older, newer = edit
    result = check(older, newer)
    free = result.older.unstable_versions(older.name)
    assert not any(judged.finding.severity != "safe" and free.contains(judged.finding.versions)
                   for judged in result.findings if free)  # fmt: skip


NEXT = HIGHEST + 1


@st.composite
def legal_evolutions(draw: st.DrawFn) -> tuple[Object, Object]:
    """A definition and what a careful author makes of it: a new version, new fields in it, new tagged fields."""
    older = draw(definitions())
    newer = copy.deepcopy(older) | {"validVersions": f"0-{NEXT}"}
    fields = cast(list[Object], newer["fields"])
    flexible = str(newer["flexibleVersions"])
    for step in draw(st.lists(st.sampled_from(["field", "tagged", "end", "nullable", "about"]), max_size=4)):
        field = draw(st.sampled_from(fields))
        name = f"New{len(fields)}"
        match step:
            case "field":
                fields.insert(draw(st.integers(0, len(fields))), _new(name, f"{NEXT}+"))
            case "tagged" if flexible != "none":
                tags = [cast(int, one["tag"]) for one in fields if "tag" in one]
                tagged: Object = {"tag": max(tags, default=-1) + 1, "taggedVersions": flexible}
                fields.append({**_new(name, flexible), **tagged})
            case "end" if field["versions"] == "0+" and "tag" not in field:
                field["versions"] = f"0-{HIGHEST}"
            case "nullable" if field["type"] == "string" and "nullableVersions" not in field and "tag" not in field:
                field["nullableVersions"] = f"{NEXT}+"
            case _:
                field["about"] = "What it is."
    return older, newer


def _new(name: str, versions: str) -> Object:
    return {"name": name, "type": "int32", "versions": versions}


@given(legal_evolutions())
def test_legal_evolutions_never_break(evolution: tuple[Object, Object]) -> None:
    older, newer = map(read, evolution)
    result = check(older, newer)
    assert not result.fails, result.findings
    assert all(version.is_compatible for one in result.bytes for version in one.versions)


@st.composite
def illegal_evolutions(draw: st.DrawFn) -> tuple[Object, Object]:
    """A definition, and what a careless author makes of it."""
    older = draw(definitions())
    newer = copy.deepcopy(older)
    fields = cast(list[Object], newer["fields"])
    match draw(st.sampled_from(["add", "remove", "retype", "key", "highest"])):
        case "add":
            fields.insert(draw(st.integers(0, len(fields))), _new("New", "0+"))
        case "remove":
            always = [one for one in fields if one["versions"] == "0+" and "tag" not in one]
            assume(always)
            fields.remove(always[0])
        case "retype":
            always = [one for one in fields if one["versions"] == "0+" and one["type"] in ("int8", "int32", "uuid")]
            assume(always)
            always[0] |= {"type": "int64", "default": None, "entityType": None}
        case "key":
            newer["apiKey"] = 2
        case _:
            newer["validVersions"] = f"0-{HIGHEST - 1}"
    return older, newer


@given(illegal_evolutions())
def test_illegal_evolutions_break(evolution: tuple[Object, Object]) -> None:
    older, newer = map(read, evolution)
    assert check(older, newer).fails
