"""Laws of `diff`: it reports a change if and only if the meaning changed, and in the right direction."""

from __future__ import annotations

import json

from hypothesis import assume, given, note, strategies as st
from tests.laws.codegen.definition_strategies import SPECS
from tests.laws.codegen.evolve.meaning import meaning_of, side_of
from tests.laws.codegen.evolve.mutations import Object, definitions, mutations, rearrangements

from kafkawire.codegen.check import check_message
from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.change import Change, ChangeKind
from kafkawire.codegen.evolve.message_changes import diff_sides
from kafkawire.codegen.evolve.origin import load_side
from kafkawire.codegen.evolve.pairing import pair_structs
from kafkawire.codegen.evolve.side import Side
from kafkawire.codegen.importing.canonical import canonical_text
from kafkawire.codegen.merge.namespace import namespace_of, to_message
from kafkawire.codegen.parse.load import parse_message

MIRRORED: dict[ChangeKind, ChangeKind] = {
    "message-added": "message-removed",
    "message-removed": "message-added",
    "message-retired": "message-restored",
    "message-restored": "message-retired",
}


def read(definition: Object) -> MessageDefinition:
    """The definition, if it is a legal one."""
    message, findings = parse_message(json.dumps(definition), "A.json")
    assume(message is not None and not findings)
    assert message is not None
    assume(not any(finding.severity == "error" for finding in check_message(message)))
    return message


@st.composite
def edits(draw: st.DrawFn, *, rearranged: bool = True) -> tuple[MessageDefinition, MessageDefinition]:
    """A definition before and after somebody edited it."""
    definition = draw(definitions())
    changes_of = (mutations, rearrangements) if rearranged else (mutations,)
    edited = draw(st.one_of(*(change(definition) for change in changes_of)))
    note(f"before: {json.dumps(definition)}")
    note(f"after:  {json.dumps(edited)}")
    return read(definition), read(edited)


def changes(older: Side, newer: Side) -> list[Change]:
    return [change for message in diff_sides(older, newer).messages for change in message.changes]


@given(edits())
def test_a_change_is_reported_exactly_if_the_meaning_changed(edit: tuple[MessageDefinition, MessageDefinition]) -> None:
    older, newer = edit
    found = changes(side_of(older), side_of(newer))
    assert bool(found) == (meaning_of(older) != meaning_of(newer)), found


@given(edits())
def test_what_is_reported_of_messages_is_mirrored(edit: tuple[MessageDefinition, MessageDefinition]) -> None:
    older, newer = map(side_of, edit)
    forth = {(change.kind, change.older, change.newer) for change in changes(older, newer) if not change.path}
    back = {
        (MIRRORED.get(change.kind, change.kind), change.newer, change.older)
        for change in changes(newer, older)
        if not change.path
    }
    assert {found for found in forth if found[0] not in BY_VERSION} == {
        found for found in back if found[0] not in BY_VERSION
    }


BY_VERSION: frozenset[ChangeKind] = frozenset({"flexible", "header-version", "field-order"})
"""Reported for the versions that the newer side has."""


@given(edits(rearranged=False))
def test_a_field_that_came_is_one_that_went_seen_from_the_other_side(
    edit: tuple[MessageDefinition, MessageDefinition],
) -> None:
    older, newer = edit
    assume(older.valid_versions == newer.valid_versions and not older.common_structs)
    # A version that lacks a struct on one side is compared with another one there.
    assume(all(pair.older_versions == pair.newer_versions for pair in pair_structs(older, newer)))
    came = {change.path for change in changes(side_of(older), side_of(newer)) if change.kind == "field-added"}
    went = {change.path for change in changes(side_of(newer), side_of(older)) if change.kind == "field-removed"}
    assert went <= came
    for path in came - went:  # of a removed struct, only its field is reported
        assert any(path.startswith(f"{gone}.") for gone in went), path


@given(definitions())
def test_the_form_of_the_text_means_nothing(definition: Object) -> None:
    message = read(definition)
    reordered = {key: definition[key] for key in reversed(definition)} | {"validVersions": " 0-3 "}
    canonical, findings = parse_message(canonical_text(message), "A.json")
    assert canonical is not None, findings
    for form in (message, canonical, read(reordered), to_message(message, namespace_of(message))):
        assert changes(side_of(message), side_of(form)) == []


@given(definitions())
def test_open_ranges_end_at_the_last_valid_version(definition: Object) -> None:
    text = json.dumps(definition)
    closed = json.loads(text.replace('"versions": "0+"', '"versions": "0-3"').replace('+"', '-3"'))
    message, findings = parse_message(json.dumps(closed), "A.json")
    assert message is not None, findings
    assert changes(side_of(read(definition)), side_of(message)) == []


def test_real_definitions_are_like_themselves_and_their_canonical_form() -> None:
    side = load_side(str(SPECS))
    assert len(side.messages) > 280
    again = {}
    for name, message in side.messages.items():
        read_again, findings = parse_message(canonical_text(message), message.place.file, message.group)
        assert read_again is not None, findings
        again[name] = read_again
    canonical = Side("canonical", again, side.unstable, {})
    for older, newer in ((side, side), (side, canonical), (canonical, side)):
        found = diff_sides(older, newer)
        assert found.messages == ()
        assert found.unchanged == len(side.messages)
