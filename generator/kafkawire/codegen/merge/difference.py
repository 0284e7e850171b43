"""Differences between two layouts of a version, and whether they change bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kafkawire.layout import FieldLayout, StructLayout

Kind = Literal["renamed", "added-tag", "attribute", "wire"]
"""Kinds of differences.

``renamed``: another name for the same bytes. ``added-tag``: a tagged field that the older layout lacks; its
readers keep it as unknown (conv-add-tagged). ``attribute``: an attribute that does not change bytes (``ignorable``,
``mapKey``). ``wire``: anything that changes bytes or their meaning, including defaults (conv-default).
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between an older and a newer layout.

    Attributes:
        kind: its kind.
        path: the field by Kafka's names in the older layout, ``Topics.Partitions.CandidateId``; in the newer
            one for a field that the older lacks.
        older, newer: the value of each side.
    """

    kind: Kind
    path: str
    older: str
    newer: str

    def __str__(self) -> str:
        match self.kind:
            case "renamed":
                return f"{self.path} is now {self.newer}"
            case "added-tag":
                return f"{self.path} was added as {self.newer}"
            case _:
                return f"{self.path}: {self.older or 'absent'} became {self.newer or 'absent'}"


def layout_differences(older: StructLayout, newer: StructLayout) -> tuple[Difference, ...]:
    """All differences between two layouts, those of a struct before those of its fields."""
    if older.flexible != newer.flexible:
        return (Difference("wire", "flexibleVersions", _yes(older.flexible), _yes(newer.flexible)),)
    return tuple(_struct(older, newer, ""))


def _struct(older: StructLayout, newer: StructLayout, prefix: str) -> Iterator[Difference]:
    yield from _inline(older, newer, prefix)
    yield from _tagged(older, newer, prefix)


def _inline(older: StructLayout, newer: StructLayout, prefix: str) -> Iterator[Difference]:
    """In-line fields are paired by position: only their order is on the wire."""
    names = [[field.name for field in side.inline] for side in (older, newer)]
    pairs = list(zip(*names, strict=False))
    moved = any(old != new and (old in names[1] or new in names[0]) for old, new in pairs)
    if moved or len(names[0]) != len(names[1]):
        yield Difference("wire", prefix.rstrip(".") or "fields", ", ".join(names[0]), ", ".join(names[1]))
        return
    for old, new in zip(older.inline, newer.inline, strict=True):
        yield from _field(old, new, prefix)


def _tagged(older: StructLayout, newer: StructLayout, prefix: str) -> Iterator[Difference]:
    old_tags = {field.tag: field for field in older.tagged}
    new_tags = {field.tag: field for field in newer.tagged}
    for tag, field in old_tags.items():
        if tag in new_tags:
            yield from _field(field, new_tags[tag], prefix)
        else:
            yield Difference("wire", prefix + field.name, f"tag {tag}", "")
    for tag, field in new_tags.items():
        if tag not in old_tags:
            yield Difference("added-tag", prefix + field.name, "", f"tag {tag}")


def _field(old: FieldLayout, new: FieldLayout, prefix: str) -> Iterator[Difference]:
    path = prefix + old.name
    if old.name != new.name:
        yield Difference("renamed", path, old.name, new.name)
    shapes = [_wire_shape(field) for field in (old, new)]
    if shapes[0] != shapes[1]:
        yield Difference("wire", path, shapes[0], shapes[1])
        return
    if old.struct is not None and new.struct is not None:
        yield from _struct(old.struct, new.struct, f"{path}.")
    if old.default != new.default:
        yield Difference("wire", path, f"default {old.default!r}", f"default {new.default!r}")
    for name, was, now in (("ignorable", old.ignorable, new.ignorable), ("mapKey", old.map_key, new.map_key)):
        if was != now:
            yield Difference("attribute", path, f"{name} {_yes(was)}", f"{name} {_yes(now)}")


def _wire_shape(field: FieldLayout) -> str:
    """Everything that determines the bytes of a field in a version, without names and nested fields."""
    type_ = f"[]{field.type}" if field.array else field.type
    return " ".join([type_, *(["nullable"] if field.nullable else []), *(["compact"] if field.compact else [])])


def _yes(value: bool) -> str:
    return "true" if value else "false"
