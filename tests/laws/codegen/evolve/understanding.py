"""Whether a value came out right, judged by the values of both sides alone: nothing here knows how bytes look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, StructLayout
from kafkawire.wire.values import UNKNOWN_TAGS, is_default

IN_LINE = -1


@dataclass(frozen=True)
class Held:
    """A field with its value.

    Attributes:
        key: its name and those of the single structs around it; empty for elements that are no structs.
        place: the place in line and IN_LINE, or the place of the section and the tag.
        layout: its layout.
        value: what it holds.
        is_default: whether that is its default.
    """

    key: str
    place: tuple[int, int]
    layout: FieldLayout
    value: object
    is_default: bool = False


@dataclass
class Holding:
    """All fields of a struct, and its unknown tagged fields by place of the section and tag."""

    fields: list[Held] = field(default_factory=list)
    unknown: set[tuple[int, int]] = field(default_factory=set)
    places: int = 0


def came_out_right(
    sent_layout: StructLayout, sent: msgspec.Struct, got_layout: StructLayout, got: msgspec.Struct
) -> bool:  # fmt: skip
    """Whether each field that both sides have has the same value, and no tagged field is lost or made up."""
    one = _holding(sent_layout, sent, _nullable(got_layout))
    return _same_fields(one, _holding(got_layout, got, _nullable(sent_layout)))


def _same_fields(sent: Holding, got: Holding) -> bool:
    names = {held.key for held in sent.fields} - {""}, {held.key for held in got.fields} - {""}
    at_place = {held.place: held for held in got.fields}
    by_name = {held.key: held for held in got.fields if held.key}
    met: set[tuple[int, int]] = set()
    for one in sent.fields:
        other = by_name.get(one.key) or at_place.get(one.place)
        if other is not None and other.key != one.key:
            renamed = one.key not in names[1] and other.key not in names[0] and _kind(one.layout) == _kind(other.layout)
            other = other if renamed else None
        if other is not None:
            met.add(other.place)
            if not _same(one.layout, one.value, other.layout, other.value):
                return False
        elif not one.is_default and one.place not in got.unknown:
            return False
    made_up = (held for held in got.fields if held.place[1] != IN_LINE and held.place not in met)
    return all(held.is_default or _is_nan(held.value) for held in made_up)


def _holding(layout: StructLayout, value: object, whole: frozenset[str]) -> Holding:
    holding = Holding()
    _hold(holding, layout, value, "", whole)
    return holding


def _hold(holding: Holding, layout: StructLayout, owner: object, prefix: str, whole: frozenset[str]) -> None:
    """Add the fields of a struct, and those of the single structs in it, in the order of the wire."""
    assert isinstance(owner, msgspec.Struct)
    for inner in layout.inline:
        key, value = prefix + inner.name, getattr(owner, inner.attribute)
        if inner.struct is not None and not inner.array and not inner.nullable and key not in whole:
            _hold(holding, inner.struct, value, f"{key}.", whole)
        else:
            holding.fields.append(Held(key, (holding.places, IN_LINE), inner, value, is_default(owner, inner)))
            holding.places += 1
    if layout.flexible:
        for inner in layout.tagged:
            place = holding.places, inner.tag or 0
            value = getattr(owner, inner.attribute)
            holding.fields.append(Held(prefix + inner.name, place, inner, value, is_default(owner, inner)))
        holding.unknown |= {(holding.places, tag) for tag, _ in getattr(owner, UNKNOWN_TAGS)}
        holding.places += 1


def _nullable(layout: StructLayout | None, prefix: str = "") -> frozenset[str]:
    """Single structs in line that may be null: they stay whole on the other side too."""
    found: set[str] = set()
    for inner in layout.inline if layout is not None else ():
        if inner.struct is not None and not inner.array:
            key = prefix + inner.name
            found |= {key} if inner.nullable else _nullable(inner.struct, f"{key}.")
    return frozenset(found)


def _same(sent_layout: FieldLayout, sent: object, got_layout: FieldLayout, got: object) -> bool:
    if _kind(sent_layout) != _kind(got_layout):
        return False
    if sent is None or got is None:
        return sent is None and got is None
    if sent_layout.array:
        assert isinstance(sent, Sequence)
        assert isinstance(got, Sequence)
        pairs = zip(sent, got, strict=False)
        return len(sent) == len(got) and all(_same_element(sent_layout, a, got_layout, b) for a, b in pairs)
    if sent_layout.type == STRUCT:
        return _same_element(sent_layout, sent, got_layout, got)
    left, right = (value.encode() if isinstance(value, str) else value for value in (sent, got))
    return left == right or (_is_nan(left) and _is_nan(right))


def _same_element(sent_layout: FieldLayout, sent: object, got_layout: FieldLayout, got: object) -> bool:
    one = _element(sent_layout, sent, _nullable(got_layout.struct))
    return _same_fields(one, _element(got_layout, got, _nullable(sent_layout.struct)))


def _element(layout: FieldLayout, value: object, whole: frozenset[str]) -> Holding:
    if layout.struct is not None:
        return _holding(layout.struct, value, whole)
    return Holding([Held("", (0, IN_LINE), replace(layout, array=False, presence="inline"), value)])


def _kind(layout: FieldLayout) -> str:
    if layout.array:
        return "array"
    if layout.type == STRUCT:
        return "struct"
    domain = FIELD_TYPES[layout.type].domain
    return {"bool": "number", "int": "number", "text": "octets"}.get(domain, domain)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
