"""What is said to have changed between two versions is what changed."""

from __future__ import annotations

import pytest

from kafkawire.codegen.emit.pages.version_changes import LayoutChange, layout_changes
from kafkawire.codegen.package_data import specs_dir
from kafkawire.codegen.resolve.layouts import resolve
from kafkawire.codegen.specs_tree import load_specs
from kafkawire.layout import STRUCT, FieldLayout, StructLayout


def field(name: str, **more: object) -> FieldLayout:
    return FieldLayout(name, name.lower(), "string", **more)  # type: ignore[arg-type]


def layout(*fields: FieldLayout, flexible: bool = False) -> StructLayout:
    return StructLayout("Message", fields, flexible)


ABSENT = {"presence": "absent"}

CASES = {
    "nothing": (layout(field("A")), layout(field("A")), []),
    "added": (
        layout(field("A", **ABSENT)), layout(field("A", nullable=True)),
        [LayoutChange("added", "a", "string, nullable")],
    ),
    "added as a tag": (
        layout(flexible=True), layout(field("A", presence="tagged", tag=4, compact=True), flexible=True),
        [LayoutChange("added", "a", "compact string", 4)],
    ),
    "removed": (layout(field("A")), layout(), [LayoutChange("removed", "a")]),
    "nullable": (layout(field("A")), layout(field("A", nullable=True)), [LayoutChange("nullable", "a")]),
    "not nullable": (layout(field("A", nullable=True)), layout(field("A")), [LayoutChange("not-nullable", "a")]),
    "flexible, and its fields with it": (
        layout(field("A"), field("B")), layout(field("A", compact=True), field("B"), flexible=True),
        [LayoutChange("flexible")],
    ),
    "compact on its own": (
        layout(field("A"), flexible=True), layout(field("A", compact=True), flexible=True),
        [LayoutChange("compact", "a")],
    ),
    "tagged": (
        layout(field("A"), flexible=True), layout(field("A", presence="tagged", tag=0), flexible=True),
        [LayoutChange("tagged", "a", tag=0)],
    ),
    "in line": (
        layout(field("A", presence="tagged", tag=0), flexible=True), layout(field("A"), flexible=True),
        [LayoutChange("inline", "a")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_change_is_reported(case: str) -> None:
    older, newer, expected = CASES[case]
    assert list(layout_changes(older, newer)) == expected


def test_a_struct_that_many_fields_hold_changes_once() -> None:
    def holding(struct: StructLayout) -> StructLayout:
        fields = [FieldLayout(name, name.lower(), STRUCT, struct=struct, struct_name="Node") for name in ("Old", "New")]
        return layout(*fields)

    older, newer = StructLayout("Node", (field("Host"),), False), StructLayout("Node", (), False)
    assert layout_changes(holding(older), holding(newer)) == (LayoutChange("removed", "Node.host"),)


def test_changes_are_reported_exactly_where_the_layouts_of_kafka_differ() -> None:
    compared = 0
    for definition in load_specs(specs_dir()).messages:
        layouts = resolve(definition).layouts
        for version in list(definition.valid_versions)[1:]:
            older, newer = layouts.of_version(version - 1), layouts.of_version(version)
            assert bool(layout_changes(older, newer)) == (older != newer), (definition.name, version)
            compared += 1
    assert compared > 500


def test_backwards_what_was_added_is_removed() -> None:
    opposite = {
        "added": "removed", "removed": "added", "flexible": "inflexible", "inflexible": "flexible",
        "nullable": "not-nullable", "not-nullable": "nullable", "tagged": "inline", "inline": "tagged",
        "compact": "plain", "plain": "compact",
    }  # fmt: skip
    for definition in load_specs(specs_dir()).messages:
        layouts = resolve(definition).layouts
        for version in list(definition.valid_versions)[1:]:
            older, newer = layouts.of_version(version - 1), layouts.of_version(version)
            forwards = {(change.kind, change.field) for change in layout_changes(older, newer)}
            backwards = {(opposite[change.kind], change.field) for change in layout_changes(newer, older)}
            assert forwards == backwards, (definition.name, version)
