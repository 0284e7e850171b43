"""What changed among the fields of a message that both sides have."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.evolve.change import Change, ChangeKind, location
from kafkawire.codegen.evolve.pairing import FieldPair, StructPair, pair_structs
from kafkawire.codegen.evolve.predecessor import Stretch, predecessors, ranges_in, stretches
from kafkawire.codegen.merge.namespace import namespace_of, reach
from kafkawire.codegen.resolve.layouts import default_value
from kafkawire.codegen.versions import ranges_of

_ATTRIBUTES: Mapping[ChangeKind, str] = {
    "nullable": "nullableVersions",
    "tag": "taggedVersions",
    "compact": "flexibleVersions",
}


def field_changes(older: MessageDefinition, newer: MessageDefinition) -> Iterator[Change]:
    """The changes of all fields and structs, in the order of the tree."""
    comparison = _Comparison(older, newer)
    for pair in comparison.pairs:
        yield from comparison.of_struct(pair)


class _Comparison:
    """A message of both sides with its structs.

    Only structs that both sides use are compared; the fields of a new struct are listed below its field.
    """

    def __init__(self, older: MessageDefinition, newer: MessageDefinition) -> None:
        self._older = older
        self._newer = newer
        self.pairs = [p for p in pair_structs(older, newer) if p.older_versions and p.newer_versions]
        self._shapes = namespace_of(newer)
        self._reach = reach(self._shapes, frozenset(newer.valid_versions))
        self._older_valid = frozenset(older.valid_versions)
        self._listed = {pair.newer for pair in self.pairs}
        self._renamed: set[tuple[str, str]] = set()

    def of_struct(self, pair: StructPair) -> Iterator[Change]:
        before = self._stretches(pair)
        for field in pair.fields:
            yield from self._of_field(field, before)
        yield from self._order(pair, before)

    def _stretches(self, pair: StructPair) -> tuple[Stretch, ...]:
        older = (field.older for field in pair.fields if field.older is not None)
        flexible = (self._older.flexible_versions, self._newer.flexible_versions)
        ranges = (*ranges_in(older), *ranges_in(pair.newer_order), *flexible)
        return stretches(predecessors(pair.older_versions, pair.newer_versions), ranges)

    def _of_field(self, pair: FieldPair, before: Sequence[Stretch]) -> Iterator[Change]:
        """Compared with its predecessor, each version of the newer side gained, lost or kept the field."""
        came: frozenset[int] = frozenset()
        went: frozenset[int] = frozenset()
        kept: list[_Kept] = []
        for stretch in before:
            if not pair.holds_in(stretch.version):
                continue
            was = _state(self._older, pair.older, stretch.predecessor)
            now = _state(self._newer, pair.newer, stretch.version)
            if was is not None and now is not None:
                kept.append(_Kept(was, now, stretch.versions))
            elif now is not None:
                came |= stretch.versions
            elif was is not None:
                went |= stretch.versions
        yield from self._came(pair, came)
        yield from self._went(pair, went)
        if kept and pair.older is not None and pair.newer is not None:
            versions = frozenset[int]().union(*(one.versions for one in kept))
            yield from self._of_definition(pair, pair.older, pair.newer, versions)
            yield from self._of_states(pair, kept)

    def _came(self, pair: FieldPair, versions: frozenset[int]) -> Iterator[Change]:
        if pair.newer is None or not versions:
            return
        yield from self._added(pair.path, pair.newer, versions)
        yield from self._inside(pair.path, pair.newer)

    def _added(self, path: str, field: FieldDefinition, versions: frozenset[int]) -> Iterator[Change]:
        forms: dict[str, frozenset[int]] = {}
        each = {version: version for version in sorted(versions)}
        for stretch in stretches(each, (*ranges_in([field]), self._newer.flexible_versions)):
            form = _form(self._newer, field, stretch.version)
            forms[form] = forms.get(form, frozenset()) | stretch.versions
        for form, at in forms.items():
            yield self._change("field-added", FieldPair(path, None, field), ("", form), at)

    def _inside(self, path: str, field: FieldDefinition) -> Iterator[Change]:
        """The fields of a struct that a new field uses; each struct is listed once."""
        if not field.type.is_struct or field.type.name in self._listed:
            return
        self._listed.add(field.type.name)
        versions = self._reach[field.type.name]
        for inner in self._shapes[field.type.name].fields:
            yield from self._added(f"{path}.{inner.name}", inner, versions & frozenset(inner.versions))
            yield from self._inside(f"{path}.{inner.name}", inner)

    def _went(self, pair: FieldPair, versions: frozenset[int]) -> Iterator[Change]:
        if pair.older is not None and versions:
            yield self._change("field-removed", pair, (str(pair.older.type), ""), versions)

    def _of_definition(
        self, pair: FieldPair, older: FieldDefinition, newer: FieldDefinition, versions: frozenset[int]
    ) -> Iterator[Change]:
        """Attributes of a field that apply to all its versions."""
        if older.name != newer.name:
            yield self._change("field-renamed", pair, (older.name, newer.name), versions, "name")
        if _kind_of(older) != _kind_of(newer):
            yield self._change("field-type", pair, (str(older.type), str(newer.type)), versions, "type")
            yield from self._inside(pair.path, newer)
        elif older.type.name != newer.type.name and (older.type.name, newer.type.name) not in self._renamed:
            self._renamed.add((older.type.name, newer.type.name))
            yield self._change("struct-renamed", pair, (older.type.name, newer.type.name), versions, "type")
        if _has_other_default(older, newer):
            yield self._change("default", pair, (default_text(older), default_text(newer)), versions, "default")
        texts: tuple[tuple[ChangeKind, str, str, str], ...] = (
            ("ignorable", "ignorable", _yes(older.ignorable, "ignorable"), _yes(newer.ignorable, "ignorable")),
            ("map-key", "mapKey", _yes(older.map_key, "mapKey"), _yes(newer.map_key, "mapKey")),
            ("entity-type", "entityType", _entity(older), _entity(newer)),
        )
        for kind, attribute, was, now in texts:
            if was != now:
                yield self._change(kind, pair, (was, now), versions, attribute)

    def _of_states(self, pair: FieldPair, kept: Sequence[_Kept]) -> Iterator[Change]:
        """Attributes of a field that differ between versions."""
        found: dict[tuple[ChangeKind, str, str], frozenset[int]] = {}
        for one in kept:
            for (kind, was), (_, now) in zip(_texts(one.was), _texts(one.now), strict=True):
                if was != now:
                    found[kind, was, now] = found.get((kind, was, now), frozenset()) | one.versions
        for (kind, was, now), versions in found.items():
            yield self._change(kind, pair, (was, now), versions, _ATTRIBUTES[kind])

    def _order(self, pair: StructPair, before: Sequence[Stretch]) -> Iterator[Change]:
        """In-line fields that both sides have in another order; only those that moved are named."""
        found: dict[tuple[str, str], frozenset[int]] = {}
        newer_place = {field.name: place for place, field in enumerate(pair.newer_order)}
        for stretch in before:
            partners = [(f.older, f.newer) for f in pair.fields if f.holds_in(stretch.version)]
            was = [
                n.name
                for o, n in partners
                if o and n and _in_line(o, stretch.predecessor) and _in_line(n, stretch.version)
            ]
            now = sorted(was, key=lambda name: newer_place[name])
            if was != now:
                texts = _stretch_that_differs(was, now)
                found[texts] = found.get(texts, frozenset()) | stretch.versions
        for texts, versions in found.items():
            moved = next(f for f in pair.fields if f.newer is not None and f.newer.name == texts[1].partition(",")[0])
            yield self._change("field-order", FieldPair(pair.path, moved.older, moved.newer), texts, versions)

    def _change(
        self, kind: ChangeKind, pair: FieldPair, texts: tuple[str, str], versions: frozenset[int], attribute: str = ""
    ) -> Change:
        older = location(pair.older.place, attribute) if pair.older is not None else None
        newer = location(pair.newer.place, attribute) if pair.newer is not None else None
        return Change(
            kind, pair.path, *texts, ranges_of(versions), ranges_of(versions & self._older_valid), older, newer
        )


@dataclass(frozen=True, slots=True)
class _State:
    """Attributes of a field in one version."""

    nullable: bool
    tag: int | None
    own_encoding: bool | None
    """Whether its length is compact, where that differs from its message; else None."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """Versions that have a field, and its attributes before and now."""

    was: _State
    now: _State
    versions: frozenset[int]


def _state(message: MessageDefinition, field: FieldDefinition | None, version: int) -> _State | None:
    if field is None or version not in field.versions:
        return None
    flexible = version in message.flexible_versions
    compact = flexible if field.flexible_versions is None else version in field.flexible_versions
    return _State(
        nullable=version in field.nullable_versions,
        tag=field.tag if version in field.tagged_versions else None,
        own_encoding=None if compact == flexible else compact,
    )


def _texts(state: _State) -> tuple[tuple[ChangeKind, str], ...]:
    encodings = {None: "encoded as the message", True: "compact", False: "not compact"}
    return (
        ("nullable", _yes(state.nullable, "nullable")),
        ("tag", "in line" if state.tag is None else f"tag {state.tag}"),
        ("compact", encodings[state.own_encoding]),
    )


def _form(message: MessageDefinition, field: FieldDefinition, version: int) -> str:
    """A field in a version that has it: ``string, nullable, tag 1, default null, ignorable, entityType topicName``."""
    state = _state(message, field, version)
    texts = _texts(state) if state is not None else ()
    shown = [text for _, text in texts if text not in ("not nullable", "in line", "encoded as the message")]
    if _has_own_default(field):
        shown.append(f"default {default_text(field)}")
    shown += [word for word, holds in (("ignorable", field.ignorable), ("mapKey", field.map_key)) if holds]
    if field.entity_type != "unknown":
        shown.append(f"entityType {field.entity_type}")
    return ", ".join([str(field.type), *shown])


def default_text(field: FieldDefinition) -> str:
    """A default as text that is safe to show: strings in quotes, without control characters."""
    value = default_value(field)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    return "empty" if value in ((), b"") else str(value)


def _has_own_default(field: FieldDefinition) -> bool:
    """Whether the default differs from that of the type."""
    return default_text(field) != default_text(replace(field, default=None))


def _has_other_default(older: FieldDefinition, newer: FieldDefinition) -> bool:
    """Whether defaults differ, unless they differ only since the type changed."""
    if _kind_of(older) != _kind_of(newer) and not (_has_own_default(older) or _has_own_default(newer)):
        return False
    return default_text(older) != default_text(newer)


def _kind_of(field: FieldDefinition) -> tuple[bool, str]:
    """The type of a field, without the names of structs, which are compared by their fields."""
    return field.type.array, "" if field.type.is_struct else field.type.name


def _in_line(field: FieldDefinition, version: int) -> bool:
    return version in field.versions and version not in field.tagged_versions


def _stretch_that_differs(was: list[str], now: list[str]) -> tuple[str, str]:
    differs = [place for place, (old, new) in enumerate(zip(was, now, strict=True)) if old != new]
    stretch = slice(differs[0], differs[-1] + 1)
    return ", ".join(was[stretch]), ", ".join(now[stretch])


def _yes(holds: bool, word: str) -> str:
    return word if holds else f"not {word}"


def _entity(field: FieldDefinition) -> str:
    return "none" if field.entity_type == "unknown" else field.entity_type
