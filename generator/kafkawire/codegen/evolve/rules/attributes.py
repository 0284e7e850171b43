"""Attributes of fields that do not change the bytes of a value: default, ignorable, mapKey, entityType."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.definition import FieldDefinition
from kafkawire.codegen.evolve.rules.rule import Change, EvolutionRule, FieldChange, are_alike
from kafkawire.codegen.resolve.layouts import default_value

_SHOWN = 60
"""Characters of a default that are shown."""


@EvolutionRule(
    "conv-default",
    "A field keeps its default.",
    "A tagged field at its default is not sent, so writer and reader have different values. An in-line field is sent, "
    "but where a version lacks the field, each side assumes its own default.",
    ("breaking", "risky"),
    ("evo-default-differs",),
    about_bytes=True,
).for_fields
def default(field: FieldChange) -> Iterator[Change]:
    """The values are compared, not the texts: no default and ``0`` are the same for a number."""
    older, newer = field.older, field.newer
    if older is None or newer is None or not are_alike(older.type, newer.type):
        return
    before, after = default_value(older), default_value(newer)
    if (type(before), before) == (type(after), after) or (before != before and after != after):  # noqa: PLR0124 NaN
        return
    what = f"the default of {newer.name} was {_shown(older)} and is now {_shown(newer)}"
    tagged = field.versions_where(("tagged", "tagged"))
    reason = (
        f"{what}, and a tagged field at its default is not sent, so each side assumes its own default for the other's"
    )
    yield Change("breaking", tagged, reason, newer.place, "default")
    reason = (
        f"{what}, so peers that do not set the field send another value, and versions without it are read with another"
    )
    yield Change("risky", field.versions - tagged, reason, newer.place, "default")


def _shown(field: FieldDefinition) -> str:
    value = default_value(field)
    text = "empty" if value in ((), b"", "") else "null" if value is None else field.default or str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


@EvolutionRule(
    "conv-ignorable",
    "The attribute ignorable stays the same as long as a version that lacks the field is valid.",
    "Encoding such a version now drops a value that was rejected before, or rejects one that was dropped.",
    ("risky", "safe"),
).for_fields
def ignorable(field: FieldChange) -> Iterator[Change]:
    """The change has no effect if every shared version has the field."""
    older, newer = field.older, field.newer
    if older is None or newer is None or older.ignorable == newer.ignorable:
        return
    what = f"{newer.name} is {'now' if newer.ignorable else 'no longer'} ignorable"
    then = "drops a value that was rejected before" if newer.ignorable else "rejects a value that was dropped before"
    lacking = field.versions_where(("absent", "absent"), ("inline", "absent"), ("tagged", "absent"))
    reason = f"{what}, so encoding a version that lacks the field {then}"
    yield Change("risky", lacking, reason, newer.place, "ignorable")
    if not lacking:
        reason = f"{what}, which has no effect: every version that both sides have contains the field"
        yield Change("safe", field.versions, reason, newer.place, "ignorable")


@EvolutionRule(
    "evo-map-key",
    "The key of a keyed collection stays the same.",
    "The bytes stay the same, but one side looks up elements by a key that the other side does not keep unique.",
    ("risky",),
).for_fields
def map_key(field: FieldChange) -> Iterator[Change]:
    """Kafka's checker does not compare it."""
    older, newer = field.older, field.newer
    if older is not None and newer is not None and older.map_key != newer.map_key:
        what = "is now part" if newer.map_key else "is no longer part"
        reason = f"{newer.name} {what} of the key of its collection, so lookups find other elements"
        yield Change("risky", field.versions, reason, newer.place, "mapKey")


@EvolutionRule(
    "evo-entity-type",
    "The entityType of a field stays the same.",
    "It documents the field: nothing changes on the wire, but types in generated code may.",
    ("safe",),
).for_fields
def entity_type(field: FieldChange) -> Iterator[Change]:
    """Reported for the versions of both sides."""
    older, newer = field.older, field.newer
    if older is not None and newer is not None and older.entity_type != newer.entity_type:
        reason = f"entityType {older.entity_type} of {newer.name} became {newer.entity_type}; the bytes stay the same"
        yield Change("safe", field.versions, reason, newer.place, "entityType")
