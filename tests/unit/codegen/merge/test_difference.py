"""What differs between two layouts of a version, and turning it back."""

from __future__ import annotations

import pytest
from tests.made.release_jars import Json, field, message, parsed

from kafkawire.codegen.importing.recheck import undo
from kafkawire.codegen.merge.difference import Difference, layout_differences
from kafkawire.codegen.merge.layout_digest import layout_digest
from kafkawire.codegen.resolve.layouts import resolve_message
from kafkawire.layout import StructLayout


def layout(*fields: Json, flexible: bool = True) -> StructLayout:
    definition = message("A", "0", fields, flexibleVersions="0+" if flexible else "none")
    return resolve_message(parsed(definition)).of_version(0)


def struct(name: str, *fields: Json, type_: str = "[]Node", **attributes: object) -> Json:
    return field(name, type_, "0+", fields=list(fields), **attributes)


def tagged(name: str, tag: int, type_: str = "int8", **attributes: object) -> Json:
    return field(name, type_, "0+", tag=tag, taggedVersions="0+", **attributes)


ID, COUNT = field("Id", "int32", "0+"), field("Count", "int32", "0+")


@pytest.mark.parametrize(
    ("older", "newer", "differences"),
    [
        ([ID], [ID], []),
        ([struct("F", ID)], [struct("F", ID, type_="[]Other")], []),
        ([ID], [COUNT], [("renamed", "Id is now Count")]),
        (
            [struct("F", ID)],
            [struct("G", COUNT)],
            [("renamed", "F is now G"), ("renamed", "F.Id is now Count")],
        ),
        ([ID, COUNT], [COUNT, ID], [("wire", "fields: Id, Count became Count, Id")]),
        ([ID], [ID, COUNT], [("wire", "fields: Id became Id, Count")]),
        ([struct("F", ID)], [struct("F", ID, COUNT)], [("wire", "F: Id became Id, Count")]),
        ([ID], [field("Id", "int64", "0+")], [("wire", "Id: int32 compact became int64 compact")]),
        ([ID], [field("Id", "[]int32", "0+")], [("wire", "Id: int32 compact became []int32 compact")]),
        (
            [field("S", "string", "0+")],
            [field("S", "string", "0+", nullableVersions="0+")],
            [("wire", "S: string compact became string nullable compact")],
        ),
        ([ID], [field("Id", "int32", "0+", default="-1")], [("wire", "Id: default 0 became default -1")]),
        (
            [ID],
            [field("Id", "int32", "0+", ignorable=True)],
            [("attribute", "Id: ignorable false became ignorable true")],
        ),
        (
            [struct("F", ID)],
            [struct("F", field("Id", "int32", "0+", mapKey=True))],
            [("attribute", "F.Id: mapKey false became mapKey true")],
        ),
        ([ID], [ID, tagged("T", 0)], [("added-tag", "T was added as tag 0")]),
        ([ID, tagged("T", 0)], [ID], [("wire", "T: tag 0 became absent")]),
        ([tagged("T", 0)], [tagged("U", 0)], [("renamed", "T is now U")]),
        ([tagged("T", 0)], [tagged("T", 0, "int16")], [("wire", "T: int8 compact became int16 compact")]),
        ([struct("F", ID)], [struct("F", ID, tagged("T", 0))], [("added-tag", "F.T was added as tag 0")]),
        ([tagged("T", 0), tagged("U", 1)], [tagged("U", 1), tagged("T", 0)], []),
    ],
)  # fmt: skip
def test_differences(older: list[Json], newer: list[Json], differences: list[tuple[str, str]]) -> None:
    assert [(d.kind, str(d)) for d in layout_differences(layout(*older), layout(*newer))] == differences


def test_becoming_flexible_is_a_difference() -> None:
    (difference,) = layout_differences(layout(ID, flexible=False), layout(ID))

    assert (difference.kind, str(difference)) == ("wire", "flexibleVersions: false became true")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ([ID], [COUNT]),
        ([struct("F", ID, struct("G", COUNT, type_="Leaf"))], [struct("H", COUNT, struct("K", ID, type_="Leaf"))]),
        ([struct("F", ID)], [struct("G", ID, tagged("T", 0)), tagged("U", 0)]),
        ([tagged("T", 0)], [tagged("V", 0), tagged("U", 1)]),
    ],
)
def test_undo_gives_the_older_layout(older: list[Json], newer: list[Json]) -> None:
    before, after = layout(*older), layout(*newer)

    assert layout_digest(undo(after, layout_differences(before, after))) == layout_digest(before)
    assert layout_digest(after) != layout_digest(before)


@pytest.mark.parametrize(
    ("difference", "message"),
    [
        (Difference("wire", "Id", "int8", "int32"), "cannot be undone: Id: int8 became int32"),
        (Difference("renamed", "Old", "Old", "New"), "the layout of A has no field New"),
        (Difference("added-tag", "Id.T", "", "tag 0"), r"Id is not a struct, so there is no Id\.T"),
    ],
)
def test_undo_refuses_what_the_layout_does_not_show(difference: Difference, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        undo(layout(ID), [difference])
