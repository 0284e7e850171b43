"""Whether one layout understands the bytes of another, case by case; the laws hold the same against real bytes."""

from __future__ import annotations

import pytest
from tests.made.release_jars import Json, field, message, parsed

from kafkawire.codegen.evolve.readability import (
    Obstacle,
    Reading,
    Verdict,
    byte_compatibility,
    readability,
)
from kafkawire.codegen.resolve.layouts import resolve_message
from kafkawire.layout import StructLayout

Fields = list[Json]


def layout(fields: Fields, flexible: bool = True, **attributes: object) -> StructLayout:
    definition = message("A", "0", fields, flexibleVersions="0+" if flexible else "none", **attributes)
    return resolve_message(parsed(definition)).of_version(0)


def reading(older: Fields, newer: Fields, flexible: bool = True) -> Reading:
    return readability(layout(older, flexible), layout(newer, flexible))


def both_ways(older: Fields, newer: Fields, flexible: bool = True) -> tuple[Verdict, Verdict]:
    return reading(older, newer, flexible).verdict, reading(newer, older, flexible).verdict


def one(type_: str = "int32", name: str = "X", **attributes: object) -> Json:
    return field(name, type_, "0+", **attributes)


def tagged(type_: str = "int32", tag: int = 0, name: str = "X", **attributes: object) -> Json:
    return one(type_, name, tag=tag, taggedVersions="0+", **attributes)


def struct(*fields: Json, type_: str = "Inner", name: str = "X", **attributes: object) -> Json:
    return one(type_, name, fields=list(fields), **attributes)


NULL = {"nullableVersions": "0+"}
NULL_DEFAULT = {"nullableVersions": "0+", "default": "null"}
A, B, C = one(name="A"), one(name="B"), one("string", name="C")
TAG_A, TAG_B = tagged(name="A"), tagged(tag=1, name="B")

OK: Verdict = "compatible"
SOME: Verdict = "conditional"
NONE: Verdict = "incompatible"


def test_equal_layouts_are_compatible() -> None:
    assert reading([A, struct(B, C)], [A, struct(B, C)]) == Reading()
    assert Reading().verdict == OK


@pytest.mark.parametrize(
    ("older", "newer", "old_to_new", "new_to_old"),
    [
        ("int32", "int64", NONE, NONE),
        ("int16", "uint16", SOME, SOME),
        ("int32", "uint32", SOME, SOME),
        ("bool", "int8", OK, SOME),
        ("int64", "float64", NONE, NONE),
        ("uuid", "bytes", NONE, NONE),
        ("uuid", "int64", NONE, NONE),
        ("string", "[]int8", NONE, NONE),
        ("bytes", "[]int8", NONE, NONE),
        ("[]int32", "[]uint32", SOME, SOME),
        ("[]int32", "[]int64", SOME, SOME),
        ("[]int32", "int32", NONE, NONE),
        ("[]int32", "[]string", SOME, SOME),
    ],
)
@pytest.mark.parametrize("flexible", [False, True])
def test_a_changed_type_is_as_bad_as_its_bytes(
    older: str, newer: str, old_to_new: Verdict, new_to_old: Verdict, flexible: bool
) -> None:
    assert both_ways([one(older)], [one(newer)], flexible) == (old_to_new, new_to_old)


@pytest.mark.parametrize(
    ("older", "newer", "flexible", "old_to_new", "new_to_old"),
    [
        ("string", "bytes", True, OK, SOME),
        ("string", "bytes", False, NONE, NONE),
        ("string", "records", True, OK, SOME),
        ("bytes", "records", True, OK, OK),
        ("bytes", "records", False, OK, OK),
    ],
)
def test_text_and_octets_are_alike_where_their_lengths_are(
    older: str, newer: str, flexible: bool, old_to_new: Verdict, new_to_old: Verdict
) -> None:
    assert both_ways([one(older)], [one(newer)], flexible) == (old_to_new, new_to_old)


@pytest.mark.parametrize("type_", ["string", "bytes", "records", "[]int32"])
@pytest.mark.parametrize("flexible", [False, True])
def test_null_is_refused_where_the_reader_has_no_null(type_: str, flexible: bool) -> None:
    assert both_ways([one(type_)], [one(type_, **NULL)], flexible) == (OK, SOME)
    assert reading([one(type_, **NULL)], [one(type_)], flexible).obstacles == (
        Obstacle("X", "conditional", "null is rejected"),
    )


@pytest.mark.parametrize("flexible", [False, True])
def test_a_struct_that_may_be_null_has_a_byte_more(flexible: bool) -> None:
    assert both_ways([struct(A)], [struct(A, **NULL)], flexible) == (NONE, NONE)
    assert reading([struct(A)], [struct(A, **NULL)], flexible).obstacles == (
        Obstacle(
            "X", "incompatible", "nullable for the reader only: the byte before the struct says whether it is null"
        ),
    )


def test_what_differs_in_a_nullable_struct_does_not_matter_to_null() -> None:
    assert reading([struct(A, **NULL)], [struct(A, B, **NULL)]).obstacles == (
        Obstacle("X.B", "conditional", "only the reader has this field in line, unless X is null"),
    )


def test_one_side_that_is_flexible_understands_nothing() -> None:
    older, newer = layout([A], flexible=False), layout([A], flexible=True)

    assert readability(older, newer).obstacles == (
        Obstacle("", "incompatible", "the version is flexible for the reader only"),
    )
    assert readability(newer, older).obstacles == (
        Obstacle("", "incompatible", "the version is flexible for the writer only"),
    )


@pytest.mark.parametrize(("type_", "verdict"), [("string", NONE), ("bytes", NONE)])
def test_a_field_that_is_compact_on_one_side_is_misread(type_: str, verdict: Verdict) -> None:
    assert both_ways([one(type_)], [one(type_, flexibleVersions="none")]) == (verdict, verdict)


@pytest.mark.parametrize("flexible", [False, True])
@pytest.mark.parametrize(
    ("older", "newer", "paths"),
    [
        ([A, B], [A], ["B"]),
        ([A, B], [B], ["A"]),
        ([A], [C, A], ["C"]),
        ([A, B], [B, A], ["A", "B"]),
        ([A, B, C], [A, C], ["B"]),
    ],
)
def test_fields_in_line_are_found_by_their_place(
    flexible: bool, older: Fields, newer: Fields, paths: list[str]
) -> None:
    found = reading(older, newer, flexible)

    assert [obstacle.path for obstacle in found.obstacles] == paths
    assert {obstacle.verdict for obstacle in found.obstacles} == {NONE}
    assert reading(newer, older, flexible).verdict == NONE


def test_a_new_name_is_no_obstacle() -> None:
    assert both_ways([A, C], [B, C]) == (OK, OK)
    assert both_ways([TAG_A], [tagged(name="B")]) == (OK, OK)
    assert both_ways([struct(A)], [struct(B, type_="Other", name="Y")]) == (OK, OK)
    assert both_ways([struct(A, **NULL)], [struct(B, type_="Other", name="Y", **NULL)]) == (OK, OK)


def test_an_exchange_of_names_is_no_renaming() -> None:
    assert both_ways([A, one(name="K"), one(name="L"), B], [B, one(name="K"), one(name="L"), A]) == (NONE, NONE)


def test_what_differs_in_elements_does_not_matter_to_the_empty_array() -> None:
    for older, newer in (
        ([struct(A, type_="[]Inner")], [struct(A, B, type_="[]Inner")]),
        ([one("[]int8")], [one("[]bool")]),
    ):
        assert reading(older, newer).verdict == SOME

    assert reading([struct(A, type_="[]Inner")], [struct(A, B, type_="[]Inner")]).obstacles == (
        Obstacle("X.B", "conditional", "only the reader has this field in line, unless X is empty"),
    )


def test_paths_are_those_of_the_writer() -> None:
    older = struct(struct(one(name="Id"), type_="[]Deep", name="Partitions"), type_="[]Inner", name="Topics")
    newer = struct(struct(one("int64", name="Number"), type_="[]Deep", name="Parts"), type_="[]Inner", name="Subjects")

    assert [obstacle.path for obstacle in reading([older], [newer]).obstacles] == ["Topics.Partitions.Id"]
    assert [obstacle.path for obstacle in reading([newer], [older]).obstacles] == ["Subjects.Parts.Number"]


def test_primitives_may_become_structs_of_one_field_in_plain_versions() -> None:
    older, newer = [one("[]int32")], [struct(A, type_="[]Inner")]

    assert both_ways(older, newer, flexible=False) == (OK, OK)
    assert both_ways(older, newer, flexible=True) == (SOME, SOME)
    assert both_ways([A, C], [struct(A), C], flexible=False) == (OK, OK)
    assert both_ways([A, C], [struct(A), C], flexible=True) == (NONE, NONE)


def test_a_struct_around_fields_takes_no_bytes_in_plain_versions() -> None:
    assert both_ways([A, B, C], [struct(A, B), C], flexible=False) == (OK, OK)
    assert both_ways([A, B, C], [struct(A, B), C], flexible=True) == (NONE, NONE)
    assert both_ways([A], [A, struct()], flexible=False) == (OK, OK)
    assert both_ways([A], [A, struct()], flexible=True) == (NONE, NONE)


def test_a_new_tagged_field_is_no_obstacle() -> None:
    assert both_ways([A], [A, TAG_B]) == (OK, OK)
    assert both_ways([TAG_A], [TAG_A, TAG_B]) == (OK, OK)
    assert both_ways([struct(A, type_="[]Inner")], [struct(A, tagged("string"), type_="[]Inner")]) == (OK, OK)


def test_a_field_moved_into_the_tagged_section_is_missed() -> None:
    assert reading([A], [TAG_A]).obstacles == (
        Obstacle("A", "incompatible", "in line for the writer, but tagged field 0 for the reader"),
    )
    assert both_ways([A], [TAG_A]) == (NONE, NONE)


def test_another_tag_is_another_field() -> None:
    moved = [tagged(name="B"), tagged(tag=1, name="A")]

    assert [o.path for o in reading([TAG_A], [moved[1]]).obstacles] == ["A"]
    assert both_ways([TAG_A], [moved[1]]) == (SOME, SOME)
    assert both_ways([TAG_A, TAG_B], moved) == (SOME, SOME)
    assert both_ways([TAG_A], [tagged(tag=1, name="A", default="5")]) == (NONE, NONE)


def test_a_tag_with_another_type_is_only_good_for_what_is_left_out() -> None:
    assert both_ways([tagged("int32")], [tagged("int64")]) == (SOME, SOME)
    assert both_ways([tagged("int32")], [tagged("string", name="Y")]) == (SOME, SOME)
    assert both_ways([tagged("int32")], [tagged("string")]) == (NONE, NONE)
    assert both_ways([tagged("string")], [tagged("bytes")]) == (OK, SOME)


def test_a_struct_under_a_tag_that_may_be_null_has_a_byte_more() -> None:
    older, newer = struct(A, tag=0, taggedVersions="0+"), struct(A, tag=0, taggedVersions="0+", **NULL)

    assert both_ways([older], [newer]) == (SOME, SOME)


def test_another_default_of_a_tagged_field_changes_what_is_left_out() -> None:
    assert reading([tagged()], [tagged(default="5")]).obstacles == (
        Obstacle("X", "conditional", "its default 0 is not written and read as the reader's default 5"),
    )
    assert both_ways([tagged()], [tagged(default="5")]) == (SOME, SOME)
    assert both_ways([tagged("string") | NULL], [tagged("string") | NULL_DEFAULT]) == (SOME, SOME)
    assert both_ways([tagged("string")], [tagged("string") | NULL_DEFAULT]) == (SOME, SOME)


def test_another_default_in_line_is_no_obstacle() -> None:
    assert both_ways([one()], [one(default="5")]) == (OK, OK)


def test_defaults_inside_a_tagged_struct_count() -> None:
    def outer(inner: Json) -> Json:
        return struct(inner, tag=0, taggedVersions="0+")

    assert both_ways([outer(one())], [outer(one(default="5"))]) == (SOME, SOME)
    assert both_ways([outer(one())], [outer(one(name="Y", default="5"))]) == (SOME, SOME)
    assert both_ways([outer(tagged())], [outer(tagged(name="Y", default="5"))]) == (SOME, SOME)
    assert both_ways([outer(one())], [outer(one(name="Y"))]) == (OK, OK)
    assert both_ways([outer(one())], [outer(one("int64"))]) == (SOME, SOME)


def test_a_default_that_is_not_a_number_is_never_left_out() -> None:
    not_a_number = [tagged("float64", default="NaN")]

    assert both_ways(not_a_number, not_a_number) == (OK, OK)
    assert both_ways(not_a_number, [tagged("float64")]) == (OK, SOME)
    assert both_ways(not_a_number, [tagged("int64", default="5")]) == (NONE, NONE)


def test_nothing_is_understood_if_no_part_of_a_value_is() -> None:
    """The empty array, which is left out, is null for the reader; all others have elements that it misreads."""
    older = [tagged("[]int32")]
    newer = [tagged("[]int64") | NULL_DEFAULT]

    assert reading(older, newer).verdict == NONE


def test_common_structs_count_wherever_they_are_used() -> None:
    def using(*inner: Json) -> StructLayout:
        fields = [one("Shared", name="One"), one("[]Shared", name="Many")]
        return layout(fields, commonStructs=[{"name": "Shared", "versions": "0+", "fields": list(inner)}])

    assert [(o.path, o.verdict) for o in readability(using(A), using(A, C)).obstacles] == [
        ("Many.C", SOME),
        ("One.C", NONE),
    ]


def test_obstacles_keep_their_own_weight() -> None:
    found = reading([one("string", name="A", **NULL), one(name="B")], [one("string", name="A"), one("int8", name="B")])

    assert [(o.path, o.verdict) for o in found.obstacles] == [("A", SOME), ("B", NONE)]
    assert found.verdict == NONE


def test_every_version_of_both_sides_is_compared() -> None:
    early = field("B", "int8", "0-1")
    late = field("T", "int8", "2+", tag=0, taggedVersions="2+")
    older = message("A", "0-2", [A, early], flexibleVersions="2+")

    def compared(*fields: Json) -> list[tuple[int, Verdict, Verdict]]:
        newer = message("A", "1-3", fields, flexibleVersions="2+")
        sides = (resolve_message(parsed(definition)) for definition in (older, newer))
        return [(c.version, c.old_to_new.verdict, c.new_to_old.verdict) for c in byte_compatibility(*sides)]

    assert compared(A, early, late) == [(1, OK, OK), (2, OK, OK)]
    assert compared(A, field("B", "int16", "0-1")) == [(1, NONE, NONE), (2, OK, OK)]
    assert compared(A, field("B", "bool", "0-1")) == [(1, SOME, OK), (2, OK, OK)]
