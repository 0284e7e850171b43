"""Layouts as data: order on the wire, null markers, JSON names, versions."""

from __future__ import annotations

import pytest

from kafkawire.layout import STRUCT, Field, FieldLayout, MessageLayouts, StructLayout
from kafkawire.layout.messages import version_range


def layout(*fields: FieldLayout) -> StructLayout:
    return StructLayout("M", fields, flexible=True)


def test_field_order_and_tagged_order() -> None:
    a, b, c = (
        FieldLayout("A", "a", "int8"),
        FieldLayout("B", "b", "int8"),
        FieldLayout("C", "c", "int8", presence="absent"),
    )
    last = FieldLayout("T1", "t1", "int8", presence="tagged", tag=1)
    first = FieldLayout("T0", "t0", "int8", presence="tagged", tag=0)
    made = layout(last, a, c, first, b)
    assert made.inline == (a, b)
    assert made.tagged == (first, last)
    assert made.absent == (c,)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("TopicId", "topicId"), ("isKRaftController", "isKRaftController"), ("KRaftVersion", "kRaftVersion")],
)
def test_json_name(name: str, expected: str) -> None:
    assert FieldLayout(name, "x", "int8").json_name == expected


def test_wire_nullable_struct_markers() -> None:
    plain = FieldLayout("A", "a", STRUCT, struct=layout())
    inline = FieldLayout("A", "a", STRUCT, struct=layout(), nullable=True)
    tagged = FieldLayout("A", "a", STRUCT, struct=layout(), nullable=True, presence="tagged", tag=0)
    assert [field.null_marker for field in (plain, inline, tagged)] == ["none", "inline", "tagged"]


def test_versions_share_layouts() -> None:
    fields = (Field("A", "int8"), Field("B", "int8", "5+"), Field("C", "int8", "0-1", nullable="7"))
    layouts = MessageLayouts("M", "3-6", "none", {"M": fields})
    old, new = layouts.layouts
    assert layouts.of_version(3) is layouts.of_version(4)
    assert [field.presence for field in old.fields] == ["inline", "absent", "absent"]
    assert [field.presence for field in new.fields] == ["inline", "inline", "absent"]
    assert layouts.by_version == {3: 0, 4: 0, 5: 1, 6: 1}
    for version in (2, 7):
        with pytest.raises(KeyError):
            layouts.of_version(version)


def test_a_field_has_only_arguments_that_cannot_be_derived() -> None:
    structs = {
        "M": (
            Field("TopicIds", "[]uuid"),
            Field("Inner", "S", "1+", nullable="2+"),
            Field("Tagged", "string", "1+", tagged="2+", tag=4, default=None, attribute="tagged_"),
            Field("Plain", "string", flexible="none"),
        ),
        "S": (Field("Number", "float64"),),
    }
    layouts = MessageLayouts("M", "0-2", "1+", structs)
    inner = StructLayout("S", (FieldLayout("Number", "number", "float64", compact=True, default=0.0),), True)
    assert layouts.of_version(2).fields == (
        FieldLayout("TopicIds", "topic_ids", "uuid", array=True, compact=True, default=()),
        FieldLayout(
            "Inner", "inner", STRUCT, struct=inner, struct_name="S", nullable=True, ever_nullable=True, compact=True,
            default=(),
        ),
        FieldLayout("Tagged", "tagged_", "string", presence="tagged", tag=4, compact=True),
        FieldLayout("Plain", "plain", "string", default=""),
    )  # fmt: skip
    absent = layouts.of_version(0).fields[1]
    assert (absent.presence, absent.struct, absent.struct_name, absent.compact) == ("absent", None, "S", False)


@pytest.mark.parametrize(
    ("text", "versions"), [("none", []), ("2", [2]), ("0-2", [0, 1, 2]), ("32766+", [32766, 32767])]
)
def test_ranges_of_versions(text: str, versions: list[int]) -> None:
    assert list(version_range(text)) == versions


def test_equal_layouts_are_equal_keys() -> None:
    assert {layout(FieldLayout("A", "a", "int8")): 1}[layout(FieldLayout("A", "a", "int8"))] == 1
    assert layout(FieldLayout("A", "a", "int8")) != layout(FieldLayout("A", "a", "int16"))
