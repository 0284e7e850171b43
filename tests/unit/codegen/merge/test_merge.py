"""Merging two definitions of a message: what each version looks like, and what cannot be."""

from __future__ import annotations

import pytest
from tests.made.release_jars import Json, field, message, parsed

from kafkawire.codegen.check import check_message
from kafkawire.codegen.importing.canonical import as_json
from kafkawire.codegen.merge.conflict import MergeError, Sides
from kafkawire.codegen.merge.difference import layout_differences
from kafkawire.codegen.merge.merge import merge_messages
from kafkawire.codegen.resolve.layouts import resolve_message

SIDES = Sides("1.0", "2.0")
ID = field("Id", "int32", "0+")


def request(valid: str, **attributes: object) -> Json:
    return message("ARequest", valid, [ID], type="request", apiKey=1, **attributes)


def merged(older: Json, newer: Json) -> Json:
    """The merged definition as JSON; it breaks no rule and has the layouts of the two."""
    both = parsed(older), parsed(newer)
    result = merge_messages(*both, SIDES)
    again = parsed(dict(as_json(result)))
    assert check_message(again) == []
    layouts = resolve_message(again)
    for version in both[1].valid_versions:
        assert layout_differences(resolve_message(both[1]).of_version(version), layouts.of_version(version)) == ()
    for version in set(both[0].valid_versions) - set(both[1].valid_versions):
        found = layout_differences(resolve_message(both[0]).of_version(version), layouts.of_version(version))
        assert [difference for difference in found if difference.kind != "attribute"] == []
    return dict(as_json(again))


def conflicts(older: Json, newer: Json) -> list[tuple[str, str]]:
    with pytest.raises(MergeError) as refused:
        merge_messages(parsed(older), parsed(newer), SIDES)
    assert all(conflict.sides == SIDES and conflict.message == "A" for conflict in refused.value.conflicts)
    return [(conflict.path, conflict.what) for conflict in refused.value.conflicts]


def test_a_newer_definition_that_has_all_versions_stands_alone() -> None:
    older, newer = message("A", "0-1", [ID]), message("A", "0-2", [ID, field("New", "int8", "2+")])

    assert merged(older, newer) == newer


def test_where_nothing_but_versions_was_dropped_the_newer_text_stays() -> None:
    fields = [ID, field("Text", "string", "1+", nullableVersions="2+"), field("Ends", "int8", "0-4")]

    assert merged(message("A", "0-4", fields), message("A", "2-5", fields)) == message("A", "0-5", fields)


def test_ranges_serve_the_versions_of_both() -> None:
    older = [ID, field("Text", "string", "0+", nullableVersions="1+"), field("Gone", "int8", "0+")]
    newer = [field("Id", "int32", "2+"), field("Text", "string", "2-3", nullableVersions="2-3")]

    assert merged(message("A", "0-2", older), message("A", "2-4", newer))["fields"] == [
        ID,
        field("Text", "string", "0-3", nullableVersions="1-3"),
        field("Gone", "int8", "0-1"),
    ]


def test_dropped_fields_keep_their_place_before_what_follows_them() -> None:
    older = [field(name, "int8", "0+") for name in ("A1", "X", "A2", "Y", "A3", "Z")]
    newer = [field(name, "int8", "0+") for name in ("A1", "N", "A2", "A3")]

    fields = merged(message("A", "0-1", older), message("A", "1-2", newer))["fields"]

    assert isinstance(fields, list)
    assert [made["name"] for made in fields] == ["A1", "N", "X", "A2", "Y", "A3", "Z"]


def test_a_dropped_struct_comes_back_whole() -> None:
    inner = [field("Deep", "[]Leaf", "0+", fields=[field("Value", "int64", "0+")])]
    older = message("A", "0-2", [ID, field("Nodes", "[]Node", "0+", fields=inner)])

    assert merged(older, message("A", "2-3", [ID]))["fields"] == [
        ID,
        field("Nodes", "[]Node", "0-1", fields=inner),
    ]


def test_fields_of_a_struct_are_merged_like_those_of_the_message() -> None:
    def definition(valid: str, *fields: Json) -> Json:
        return message("A", valid, [field("Nodes", "[]Node", "0+", fields=list(fields))])

    gone = field("Gone", "int8", "0+")

    assert merged(definition("0-1", ID, gone), definition("1-2", ID)) == definition(
        "0-2", ID, field("Gone", "int8", "0")
    )


def test_a_common_struct_that_became_inline_stays_common_where_both_uses_remain() -> None:
    node: Json = {"name": "Node", "versions": "0+", "fields": [ID]}
    older = message("A", "0-1", [field("F", "[]Node", "0+"), field("G", "Node", "0+")], commonStructs=[node])
    newer = message("A", "1-2", [field("F", "[]Node", "0+", fields=[ID])])

    result = merged(older, newer)

    assert result["commonStructs"] == [node]
    assert result["fields"] == [field("F", "[]Node", "0+"), field("G", "Node", "0")]


def test_a_struct_that_a_common_struct_needs_becomes_common() -> None:
    leaf = [field("Value", "int8", "0+")]
    older = message("A", "0", [field("F", "[]Node", "0+", fields=[field("Leaf", "Leaf", "0+", fields=leaf)])])
    node: Json = {"name": "Node", "versions": "0+", "fields": [ID]}
    newer = message("A", "1", [field("F", "[]Node", "0+")], commonStructs=[node])

    result = merged(older, newer)

    assert result["commonStructs"] == [
        {
            "name": "Node",
            "versions": "0+",
            "fields": [field("Id", "int32", "1+"), field("Leaf", "Leaf", "0")],
        },
        {"name": "Leaf", "versions": "0+", "fields": leaf},
    ]


def test_a_renamed_struct_has_the_newer_name_in_all_versions() -> None:
    older = message("A", "0-1", [field("F", "[]Old", "0+", fields=[ID])])
    newer = message("A", "1-2", [field("F", "[]New", "0+", fields=[ID])])

    assert merged(older, newer) == message("A", "0-2", [field("F", "[]New", "0+", fields=[ID])])


def test_flexible_and_deprecated_versions_are_those_of_each_release() -> None:
    older = request("0-3", flexibleVersions="2+", deprecatedVersions="0-1", listeners=["zkBroker"])
    newer = request("3-4", flexibleVersions="3+", listeners=["broker"])

    result = merged(older, newer)

    assert (result["flexibleVersions"], result["deprecatedVersions"]) == ("2+", "0-1")
    assert result["listeners"] == ["broker"]


@pytest.mark.parametrize(("older", "newer", "unstable"), [("0-2", "1-3", False), ("0-3", "1-2", True)])
def test_the_highest_version_is_as_stable_as_where_it_comes_from(older: str, newer: str, unstable: bool) -> None:
    result = merged(request(older, latestVersionUnstable=True), request(newer))

    assert result.get("latestVersionUnstable", False) is unstable


def test_attributes_that_no_version_carries_are_the_newer_ones() -> None:
    older = [field("Id", "int32", "0+", entityType="brokerId", ignorable=True, default="-1")]
    newer = [field("Id", "int32", "0+", default="-1")]

    assert merged(message("A", "0-1", older), message("A", "1-2", newer))["fields"] == newer


def test_a_tagged_field_keeps_its_tag_when_it_moved_in_line_and_back() -> None:
    older = [field("T", "int8", "0+", tag=0, taggedVersions="0+")]
    newer = [field("T", "int8", "1+", tag=0, taggedVersions="2+")]

    assert conflicts(
        message("A", "0-1", older, flexibleVersions="0+"), message("A", "1-2", newer, flexibleVersions="0+")
    ) == [("taggedVersions of T", "0+ in 0 and 2+ in 1-2 cannot be one range")]


@pytest.mark.parametrize(
    ("older", "newer", "path", "what"),
    [
        (field("F", "int8", "0+"), field("F", "int16", "0+"), "F", "type int8 in versions 0, type int16 in 0+"),
        (
            field("F", "int8", "0"),
            field("F", "int8", "2+"),
            "versions of F",
            "0 in 0 and 2+ in 1-2 cannot be one range",
        ),
        (
            field("F", "string", "0+", nullableVersions="0+"),
            field("F", "string", "0+", nullableVersions="2+"),
            "nullableVersions of F",
            "0+ in 0 and 2+ in 1-2 cannot be one range",
        ),
        (
            field("F", "string", "0+"),
            field("F", "string", "1+", nullableVersions="1+", default="null"),
            "F",
            "default null, but null is legal only in 1+ of 0+ (default-null-needs-all-nullable)",
        ),
        (
            field("F", "int8", "0+", tag=0, taggedVersions="0+"),
            ID,
            "F",
            "tagged in 0 only, but a tagged field has no last version (field-tagged-open-ended)",
        ),
    ],
)
def test_what_no_definition_can_say_is_a_conflict(older: Json, newer: Json, path: str, what: str) -> None:
    found = conflicts(
        message("A", "0-1", [older], flexibleVersions="0+"), message("A", "1-2", [newer], flexibleVersions="0+")
    )

    assert found == [(path, what)]


def test_another_tag_is_a_conflict() -> None:
    tags = [field(name, "int8", "0+", tag=tag, taggedVersions="0+") for name, tag in (("F", 0), ("G", 1))]
    swapped = [field(name, "int8", "0+", tag=tag, taggedVersions="0+") for name, tag in (("F", 1), ("G", 0))]

    assert conflicts(
        message("A", "0-1", tags, flexibleVersions="0+"), message("A", "1-2", swapped, flexibleVersions="0+")
    ) == [("F", "tag 0 became tag 1"), ("G", "tag 1 became tag 0")]
