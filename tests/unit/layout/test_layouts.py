"""Layouts as data: order on the wire, null markers, JSON names, versions."""

from __future__ import annotations

import pytest

from kafkawire.layout import STRUCT, FieldLayout, MessageLayouts, StructLayout


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
    old, new = layout(), layout(FieldLayout("A", "a", "int8"))
    layouts = MessageLayouts("M", (old, new), {3: 0, 4: 0, 5: 1})
    assert layouts.of_version(3) is layouts.of_version(4) is old
    assert layouts.of_version(5) is new
    with pytest.raises(KeyError):
        layouts.of_version(6)


def test_equal_layouts_are_equal_keys() -> None:
    assert {layout(FieldLayout("A", "a", "int8")): 1}[layout(FieldLayout("A", "a", "int8"))] == 1
    assert layout(FieldLayout("A", "a", "int8")) != layout(FieldLayout("A", "a", "int16"))
