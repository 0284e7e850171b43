"""Names of messages, structs and fields; types and nullability of fields."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.definition import FieldDefinition, TypeRef
from kafkawire.codegen.evolve.rules.rule import Change, EvolutionRule, FieldChange, MessageChange, are_alike, presence

RENAMED = EvolutionRule(
    "evo-renamed",
    "Messages, structs and fields keep their names.",
    "Names are not on the wire, but programs, JSON dumps and logs use them; a rename can also hide a new meaning.",
    ("safe",),
)


@RENAMED.for_fields
def field_renamed(field: FieldChange) -> Iterator[Change]:
    """The fields have the same tag or the same position."""
    older, newer = field.older, field.newer
    if older is not None and newer is not None and older.name != newer.name:
        how = "place in line" if newer.tag is None else "tag"
        reason = f"{older.name} is now called {newer.name}: type and {how} are the same, and names are not on the wire"
        yield Change("safe", field.kept, reason, newer.place, "name")


@RENAMED.for_fields
def struct_renamed(field: FieldChange) -> Iterator[Change]:
    """Kafka's checker rejects this (evo-type-differs)."""
    older, newer = field.older, field.newer
    if older is None or newer is None or not (older.type.is_struct and newer.type.is_struct):
        return
    if older.type.name != newer.type.name:
        reason = f"the struct {older.type.name} is now called {newer.type.name}, and names are not on the wire"
        yield Change("safe", field.kept, reason, newer.place, "type")


@RENAMED.for_messages
def message_renamed(message: MessageChange) -> Iterator[Change]:
    """The messages have the same type and key."""
    older, newer = message.older, message.newer
    if older.name != newer.name:
        reason = f"{older.name} is now called {newer.name}: its key {newer.api_key} identifies it on the wire"
        yield Change("safe", message.shared, reason, newer.place, "name")


@EvolutionRule(
    "conv-type",
    "A field keeps its type; in versions that are not flexible, an array of primitives may become an array of structs "
    "with one such field, since the bytes are the same.",
    "Readers of the other side read the bytes as a value of another type.",
    ("breaking", "risky", "safe"),
    ("evo-type-differs",),
    about_bytes=True,
).for_fields
def type_changed(field: FieldChange) -> Iterator[Change]:
    """The exception applies in both directions. The types bytes and records have the same bytes."""
    older, newer = field.older, field.newer
    if older is None or newer is None or are_alike(older.type, newer.type):
        return
    what = f"type {older.type} of {newer.name} became {newer.type}"
    wrapped = field.kept_where(lambda version: _is_wrapping(field, older, newer, version))
    octets = field.kept if {str(older.type), str(newer.type)} == {"bytes", "records"} else frozenset()
    reason = f"{what}, which has the same bytes in a version that is not flexible"
    yield Change("safe", wrapped, reason, newer.place, "type")
    reason = f"{what}, which has the same bytes, but peers now expect other content in them"
    yield Change("risky", octets, reason, newer.place, "type")
    reason = f"{what}, so a reader of the other side reads the bytes as a value of another type"
    yield Change("breaking", field.kept - wrapped - octets, reason, newer.place, "type")


def _is_wrapping(field: FieldChange, older: FieldDefinition, newer: FieldDefinition, version: int) -> bool:
    """Whether one side has an array of primitives and the other an array of structs with that field (wire-struct)."""
    message = field.struct.message
    before, after = older.type, newer.type
    if version in message.older.flexible_versions or version in message.newer.flexible_versions:
        return False
    if before.is_struct == after.is_struct or not (before.array and after.array):
        return False
    struct = message.newer_shapes[after.name] if after.is_struct else message.older_shapes[before.name]
    inside = [inner for inner in struct.fields if presence(inner, version) != "absent"]
    element = TypeRef((before if after.is_struct else after).name, array=False, is_struct=False)
    return (
        [inner.type for inner in inside] == [element]
        and version not in inside[0].nullable_versions
        and (version in older.nullable_versions) == (version in newer.nullable_versions)
    )


@EvolutionRule(
    "conv-nullable",
    "In every version that both sides have, null is legal on both or on neither.",
    "The side where null is illegal rejects it, and single structs have an additional byte where null is legal.",
    ("breaking",),
    ("evo-max-nullable-lower", "evo-min-nullable-differs"),
    about_bytes=True,
).for_fields
def nullability(field: FieldChange) -> Iterator[Change]:
    """A field may become nullable in new versions."""
    older, newer = field.older, field.newer
    if older is None or newer is None or not are_alike(older.type, newer.type):
        return
    before, after = older.nullable_versions, newer.nullable_versions
    gained = field.kept_where(lambda version: version not in before and version in after)
    lost = field.kept_where(lambda version: version in before and version not in after)
    marked = newer.type.is_struct and not newer.type.array
    then = "readers of the other side read the byte that marks null as a value" if marked else ""
    reason = f"null is now legal for {newer.name}, so {then or 'readers that do not expect it reject it'}"
    yield Change("breaking", gained, reason, newer.place, "nullableVersions")
    reason = (
        f"null is no longer legal for {newer.name}, so {then or 'a null from a peer that still sends it is rejected'}"
    )
    yield Change("breaking", lost, reason, newer.place, "nullableVersions")
