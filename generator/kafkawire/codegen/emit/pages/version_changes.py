"""What changed on the wire from one version of a message to the next, read off the layouts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kafkawire.codegen.emit.grammar import type_text
from kafkawire.layout import FieldLayout, StructLayout

ChangeKind = Literal[
    "flexible", "inflexible", "added", "removed", "nullable", "not-nullable", "tagged", "inline", "compact", "plain"
]
"""``inline``: no longer tagged. ``compact``, ``plain``: of a field with flexibleVersions of its own."""


@dataclass(frozen=True, slots=True)
class LayoutChange:
    """One change of a message.

    Attributes:
        kind: what happened.
        field: the field by Python's names, ``Topic.topic_id`` inside of a struct; empty if it is the whole message.
        form: how an added field is written, ``compact string, nullable``.
        tag: the tag of a field that is tagged now.
    """

    kind: ChangeKind
    field: str = ""
    form: str = ""
    tag: int | None = None


def layout_changes(older: StructLayout, newer: StructLayout) -> tuple[LayoutChange, ...]:
    """All changes, those of the message itself first, then those of each struct that both versions have.

    A struct that is added or removed appears as a change of the field that holds it.
    """
    changes: list[LayoutChange] = []
    if older.flexible != newer.flexible:
        changes.append(LayoutChange("flexible" if newer.flexible else "inflexible"))
    changes += _struct_changes(older, newer, "")
    before = _structs_inside(older)
    for name, struct in _structs_inside(newer).items():
        if name in before:
            changes += _struct_changes(before[name], struct, f"{name}.")
    return tuple(changes)


def _structs_inside(layout: StructLayout) -> Mapping[str, StructLayout]:
    """The structs of a message by name; in one version each has one layout."""
    found: dict[str, StructLayout] = {}
    for field in (*layout.inline, *layout.tagged):
        if field.struct is not None and field.struct.name not in found:
            found[field.struct.name] = field.struct
            found |= _structs_inside(field.struct)
    return found


def _struct_changes(older: StructLayout, newer: StructLayout, prefix: str) -> Iterator[LayoutChange]:
    before = {field.name: field for field in older.fields if field.presence != "absent"}
    now = {field.name: field for field in newer.fields if field.presence != "absent"}
    for name, field in now.items():
        if name not in before:
            yield LayoutChange("added", prefix + field.attribute, type_text(field), field.tag)
    for name, field in before.items():
        if name not in now:
            yield LayoutChange("removed", prefix + field.attribute)
    for name, field in now.items():
        if name in before:
            follows = older.flexible != newer.flexible and field.compact == newer.flexible
            yield from _field_changes(before[name], field, prefix + field.attribute, follows_message=follows)


def _field_changes(
    older: FieldLayout, newer: FieldLayout, path: str, *, follows_message: bool
) -> Iterator[LayoutChange]:
    if older.nullable != newer.nullable:
        yield LayoutChange("nullable" if newer.nullable else "not-nullable", path)
    if older.presence != newer.presence:
        yield LayoutChange("tagged" if newer.presence == "tagged" else "inline", path, tag=newer.tag)
    if older.compact != newer.compact and not follows_message:
        yield LayoutChange("compact" if newer.compact else "plain", path)
