"""The text output of each kind of change."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tests.made.release_jars import Json, field, message, parsed, retired

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.change import Change, SchemaDiff
from kafkawire.codegen.evolve.message_changes import diff_sides
from kafkawire.codegen.evolve.predecessor import predecessors, stretches
from kafkawire.codegen.evolve.render.as_text import diff_lines
from kafkawire.codegen.evolve.side import Side
from kafkawire.codegen.specs_tree import unstable_versions
from kafkawire.codegen.versions import Versions


def side(*definitions: Json | MessageDefinition) -> Side:
    messages = [one if isinstance(one, MessageDefinition) else parsed(one) for one in definitions]
    return Side("side", {m.name: m for m in messages}, unstable_versions(tuple(messages), {}), {})


def compared(older: Iterable[Json | MessageDefinition], newer: Iterable[Json | MessageDefinition]) -> SchemaDiff:
    return diff_sides(side(*older), side(*newer))


def diff_of(older: Json | MessageDefinition, newer: Json | MessageDefinition) -> list[str]:
    """The lines about one message of both sides."""
    lines = [line.text for line in diff_lines(compared([older], [newer]))]
    return lines[2:-2]


def of_fields(older: Json | Iterable[Json], newer: Json | Iterable[Json], **both: object) -> list[str]:
    """The lines about the fields of a message of versions 0 to 2."""
    made = [message("A", "0-2", [fields] if isinstance(fields, dict) else fields, **both) for fields in (older, newer)]
    return [line.strip() for line in diff_of(made[0], made[1])[1:]]


def request(valid: str, *fields: Json, **more: object) -> Json:
    return message("PingRequest", valid, fields, **({"type": "request", "apiKey": 1} | more))


def one_change(older: Json, newer: Json) -> Change:
    (changed,) = compared([older], [newer]).messages
    (change,) = changed.changes
    return change


def test_a_message_that_came_or_went_is_reported_in_short() -> None:
    ping = request("0-2", flexibleVersions="1+", listeners=["broker"], latestVersionUnstable=True)
    came, went = compared([], [ping]), compared([ping], [])
    short = "PingRequest: request, key 1, versions 0-2, unstable 2, flexible 1+, listeners broker"
    assert [line.text for line in diff_lines(came)][2] == f"+ {short}"
    assert [line.text for line in diff_lines(went)][2] == f"- {short}"


@pytest.mark.parametrize(
    ("older", "newer", "lines"),
    [
        (request("0-1"), request("0-2"), ["~ PingRequest: versions 0-1 -> 0-2"]),
        (request("0-1"), request("1"), ["~ PingRequest: versions 0-1 -> 1"]),
        (request("0-1"), retired("PingRequest", "request", 1), [
            "- PingRequest: retired, versions 0-1 -> none, key 1 stays reserved",
        ]),
        (retired("PingRequest", "request", 1), request("0-1"), ["+ PingRequest: versions none -> 0-1"]),
        (request("0"), request("0") | {"name": "EchoRequest"}, ["~ EchoRequest: was PingRequest"]),
        (request("0"), request("0") | {"apiKey": 2}, ["~ PingRequest", "    ~ apiKey 1 -> 2"]),
        (message("A", "0", []), message("A", "0", [], type="header"), ["~ A", "    ~ type data -> header"]),
        (request("0-3"), request("0-3", flexibleVersions="2+"), [
            "~ PingRequest", "    ~ not flexible -> flexible (2-3, in place)",
        ]),
        (request("0-1"), request("0-2", flexibleVersions="2+"), [
            "~ PingRequest: versions 0-1 -> 0-2", "    ~ not flexible -> flexible (2+)",
        ]),
        (request("0-1", flexibleVersions="1+"), request("0-1", flexibleVersions="1+", headerVersions={"0+": 1}), [
            "~ PingRequest", "    ~ header version 2 -> 1 (1, in place)",
        ]),
        (
            request("0", type="response"),
            request("0", type="response", headerVersions={"0+": 1}),
            ["~ PingRequest", "    ~ header version 0 -> 1 (0, in place)"],
        ),
        (request("0-1", deprecatedVersions="0"), request("0-1"), [
            "~ PingRequest", "    ~ deprecated versions 0 -> none",
        ]),
        (request("0-1", latestVersionUnstable=True), request("0-2", latestVersionUnstable=True), [
            "~ PingRequest: versions 0-1 -> 0-2", "    ~ unstable versions 1 -> 2",
        ]),
        (request("0", listeners=["broker"]), request("0", listeners=["broker", "controller"]), [
            "~ PingRequest", "    ~ listeners broker -> broker controller",
        ]),
    ],
)  # fmt: skip
def test_what_changed_of_a_message(older: Json, newer: Json, lines: list[str]) -> None:
    assert diff_of(older, newer) == lines


TAGGED = {"tag": 0, "taggedVersions": "0+"}


@pytest.mark.parametrize(
    ("older", "newer", "lines"),
    [
        ([], field("F", "int16", "1+"), ["+ F int16 (1-2, in place)"]),
        (field("F", "[]int16", "0+"), [], ["- F []int16 (0-2, in place)"]),
        (field("F", "int16", "0+"), field("G", "int16", "0+"), ["~ G: was F"]),
        (field("F", "int16", "0+"), field("F", "int32", "0+"), ["~ F: type int16 -> int32 (0-2, in place)"]),
        (field("F", "int16", "0+"), field("F", "[]int16", "0+"), ["~ F: type int16 -> []int16 (0-2, in place)"]),
        (field("F", "string", "0+", nullableVersions="2+"), field("F", "string", "0+", nullableVersions="1+"), [
            "~ F: not nullable -> nullable (1, in place)",
        ]),
        (field("F", "int16", "0+"), field("F", "int16", "0+", **TAGGED), ["~ F: in line -> tag 0 (0-2, in place)"]),
        (field("F", "int16", "0+", **TAGGED), field("F", "int16", "0+", tag=1, taggedVersions="0+"), [
            "~ F: tag 0 -> tag 1 (0-2, in place)",
        ]),
        (field("F", "string", "0+"), field("F", "string", "0+", flexibleVersions="none"), [
            "~ F: encoded as the message -> not compact (0-2, in place)",
        ]),
        (field("F", "int16", "0+"), field("F", "int16", "0+", default=-1), ["~ F: default 0 -> -1"]),
        (field("F", "string", "0+"), field("F", "string", "0+", default="a\x1b[b"), [
            '~ F: default "" -> "a\\u001b[b"',
        ]),
        (field("F", "bool", "0+"), field("F", "bool", "0+", default="true"), ["~ F: default false -> true"]),
        (field("F", "[]int8", "0+", nullableVersions="0+"),
         field("F", "[]int8", "0+", nullableVersions="0+", default="null"), ["~ F: default empty -> null"]),
        (field("F", "int16", "0+"), field("F", "int16", "0+", ignorable=True), ["~ F: not ignorable -> ignorable"]),
        (field("F", "int16", "0+"), field("F", "int16", "0+", mapKey=True), ["~ F: not mapKey -> mapKey"]),
        (field("F", "string", "0+"), field("F", "string", "0+", entityType="topicName"), [
            "~ F: entityType none -> topicName",
        ]),
        ([field(name, "int16", "0+") for name in "ABCD"], [field(name, "int16", "0+") for name in "ACBD"], [
            "~ order B, C -> C, B (0-2, in place)",
        ]),
        ([field("S", "T", "0+", fields=[field(name, "int16", "1+") for name in "AB"])],
         [field("S", "T", "0+", fields=[field(name, "int16", "1+") for name in "BA"])],
         ["~ S: order A, B -> B, A (1-2, in place)"]),
        ([field("S", "T", "0+", fields=[field("A", "int8", "0+")])],
         [field("S", "U", "0+", fields=[field("A", "int8", "0+")])], ["~ S: struct T -> U"]),
    ],
)  # fmt: skip
def test_what_changed_of_a_field(older: Json | list[Json], newer: Json | list[Json], lines: list[str]) -> None:
    assert of_fields(older, newer, flexibleVersions="0+") == lines


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (field("F", "int16", "0+"), field("F", "int16", "0-2")),
        (field("F", "int16", "0+"), field("F", "int16", "0+", about="What it is for.")),
        (field("F", "int16", "0+"), field("F", "int16", "0+", default=0)),
        (field("F", "int32", "0+", default=255), field("F", "int32", "0+", default="0xff")),
        (field("F", "bytes", "0+"), field("F", "bytes", "0+", zeroCopy=True)),
        (field("F", "string", "0+", nullableVersions="1+"), field("F", "string", "0+", nullableVersions="1-2")),
        (field("F", "int16", "5+", ignorable=True), []),
        ([field("F", "int8", "0+"), field("G", "int8", "0+", **TAGGED)],
         [field("G", "int8", "0+", **TAGGED), field("F", "int8", "0+")]),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_not_reported(older: Json | list[Json], newer: Json | list[Json]) -> None:
    assert of_fields(older, newer, flexibleVersions="0+") == []


def test_whether_a_struct_is_inline_or_common_means_nothing() -> None:
    inner = [field("Id", "int32", "0+")]
    inline = message("A", "0", [field("One", "Item", "0+", fields=inner)])
    common = message(
        "A", "0", [field("One", "Item", "0+")], commonStructs=[{"name": "Item", "versions": "0+", "fields": inner}]
    )
    assert compared([inline], [common]).messages == ()


def test_the_order_of_listeners_means_nothing() -> None:
    listeners = ["broker", "controller"]
    assert compared([request("0", listeners=listeners)], [request("0", listeners=listeners[::-1])]).messages == ()


@pytest.mark.parametrize(
    ("older", "newer", "lines"),
    [
        # A new version is compared with the one before it, even if older ranges include it.
        (request("0-1"), request("0-2", field("F", "int16", "2+")), ["    + F int16 (2+)"]),
        (request("0-1", field("F", "int16", "0+")), request("0-2", field("F", "int16", "0-1")), ["    - F int16 (2+)"]),
        (request("0-1", field("F", "int16", "0-1")), request("0-2", field("F", "int16", "0+")), []),
        (request("0-1", field("F", "int16", "2+")), request("0-2", field("F", "int16", "2+")), ["    + F int16 (2+)"]),
        # What is in versions that both sides have, and in new ones.
        (request("0-1"), request("0-2", field("F", "int16", "1+")), ["    + F int16 (1+, 1 in place)"]),
        # A field that only lived in dropped versions is part of the drop; so is what was said of them.
        (request("0-2", field("F", "int16", "0-1")), request("2"), []),
        (request("0-2", deprecatedVersions="0-1"), request("2"), []),
        (request("0-2", field("F", "int16", "0+")), request("1-2", field("F", "int16", "1+")), []),
        # A version that was dropped before is compared with the lowest older one.
        (request("1"), request("0-1", field("F", "int16", "0")), ["    + F int16 (0)"]),
    ],
)  # fmt: skip
def test_versions_that_only_one_side_has(older: Json, newer: Json, lines: list[str]) -> None:
    first, *rest = diff_of(older, newer)
    assert first.startswith("~ PingRequest: versions ")
    assert rest == lines


def test_an_added_struct_is_listed_with_its_fields_once() -> None:
    item = [field("Id", "int32", "0+"), field("Note", "string", "2+", nullableVersions="2+", default="null")]
    newer = [field("One", "[]Item", "1+"), field("Two", "Item", "2+")]
    common = [{"name": "Item", "versions": "0+", "fields": item}]
    lines = diff_of(message("A", "0-1", []), message("A", "0-2", newer, commonStructs=common))
    assert lines[1:] == [
        "    + One []Item (1+, 1 in place)",
        "    + One.Id int32 (1+, 1 in place)",
        "    + One.Note string, nullable, default null (2+)",
        "    + Two Item (2+)",
    ]


def test_a_field_that_becomes_a_struct_is_listed_with_the_fields_of_that() -> None:
    struct = field("F", "[]Item", "0+", fields=[field("Name", "string", "0+", mapKey=True)])
    assert of_fields(field("F", "[]string", "0+"), struct) == [
        "~ F: type []string -> []Item (0-2, in place)",
        "+ F.Name string, mapKey (0-2, in place)",
    ]


def test_a_field_that_came_in_two_forms_is_reported_in_both() -> None:
    newer = field("F", "string", "1+", nullableVersions="2+")
    assert of_fields([], newer) == ["+ F string (1, in place)", "+ F string, nullable (2, in place)"]


def test_coordinator_records_in_the_older_form() -> None:
    older = [message("OffsetKey", "0-1", [field("Group", "string", "0-1")]), message("OffsetValue", "0", [])]
    newer = [
        message("LegacyOffsetKey", "0", [field("Group", "string", "0+")], type="coordinator-key", apiKey=0),
        message("OffsetKey", "0", [field("Group", "string", "0+")], type="coordinator-key", apiKey=1),
        message("OffsetValue", "0", [], type="coordinator-value", apiKey=1),
    ]
    lines = [line.text for line in diff_lines(compared(older, newer))]
    assert lines[2:-2] == [
        "~ LegacyOffsetKey",
        "    ~ coordinator-key of record type 0, was version 0 of data message OffsetKey",
        "~ OffsetKey",
        "    ~ coordinator-key of record type 1, was version 1 of a data message",
        "~ OffsetValue",
        "    ~ coordinator-value of record type 1, was a data message",
    ]


def test_a_change_knows_its_places_and_versions() -> None:
    change = one_change(
        request("0-1", field("F", "string", "0+")),
        request("0-1", field("F", "string", "0+", nullableVersions="1+")),
    )
    assert (change.kind, change.versions, change.in_place) == ("nullable", (Versions(1, 1),), (Versions(1, 1),))
    assert change.older_location is not None
    assert change.newer_location is not None
    assert change.newer_location.file == "PingRequest.json"
    assert change.newer_location.span != change.older_location.span


def test_the_text_begins_with_the_sides_and_ends_with_the_counts() -> None:
    older = [request("0-2", field("F", "int16", "0+"), field("G", "int16", "0+")), message("Same", "0", [])]
    newer = [request("1-3", field("F", "int32", "0+"), field("H", "int16", "3+")), message("Same", "0", [])]
    lines = [line.text for line in diff_lines(compared(older, newer))]
    assert lines[:2] == ["side -> side", ""]
    assert lines[-2:] == [
        "",
        "messages: 1 changed, 1 unchanged; versions: 1 added, 1 dropped; fields: 1 added, 1 removed, 1 changed",
    ]


def test_no_change_is_one_line() -> None:
    same = [message("Same", "0", [])]
    assert [line.text for line in diff_lines(compared(same, same))][-1] == "no change of meaning in 1 message"


def test_tens_of_thousands_of_versions_are_compared_by_a_few() -> None:
    fields = [field(f"F{number}", "string", f"{number}+", nullableVersions=f"{number}+") for number in range(50)]
    older = message("A", "0-32766", [field("S", "[]T", "0+", fields=fields)], flexibleVersions="0+")
    newer = message("A", "0-32766", [field("S", "[]T", "0+", fields=fields[::-1])], flexibleVersions="0+")
    diff = compared([older], [newer])
    assert len(diff.messages[0].changes) == 49  # from version 1 on there is one field more to move in each
    versions = predecessors(frozenset(range(32767)), frozenset(range(32767)))
    assert len(stretches(versions, (Versions(number, 32767) for number in range(50)))) == 50


def test_a_stretch_ends_where_a_range_of_either_side_does() -> None:
    before = predecessors(frozenset({1, 2, 3}), frozenset({0, 2, 3, 4, 5}))
    assert dict(before) == {0: 1, 2: 2, 3: 3, 4: 3, 5: 3}
    found = stretches(before, [Versions(5, 9), Versions(3, 4)])
    assert [stretch.versions for stretch in found] == [{0, 2}, {3, 4}, {5}]
    assert predecessors(frozenset(), frozenset({1})) == {}
