"""How a version has a field: in line, as a tagged field, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.definition import FieldDefinition
from kafkawire.codegen.evolve.rules.rule import Change, EvolutionRule, FieldChange, Presence, StructChange, presence

REGROUPED = EvolutionRule(
    "evo-regrouped",
    "The fields of a version that both sides have stay in their structs.",
    "Their bytes are the same, but programs, JSON dumps and logs have other names for them.",
    ("safe",),
)
"""Replaces a finding of a rule about bytes where the layouts prove that every value is read correctly."""

_SHIFTED = "the other side misreads it and everything after it"


@EvolutionRule(
    "evo-pair-missing-old",
    "A new in-line field has only new versions.",
    "In a version that both sides have, a reader of one side finds a field where it expects another.",
    ("breaking",),
    about_bytes=True,
).for_fields
def new_field_in_old_version(field: FieldChange) -> Iterator[Change]:
    """The field has no partner on the older side."""
    if field.older is None and field.newer is not None:
        reason = f"{field.newer.name} is a new in-line field of a version that exists already, so {_SHIFTED}"
        yield Change("breaking", field.versions_where(("absent", "inline")), reason, field.newer.place, "versions")


@EvolutionRule(
    "conv-add-field",
    "A field becomes in line only in new versions.",
    "In a version that both sides have, a reader of one side finds a field where it expects another.",
    ("breaking",),
    ("evo-min-effective-differs",),
    about_bytes=True,
).for_fields
def field_in_more_versions(field: FieldChange) -> Iterator[Change]:
    """The field had other versions before."""
    if field.older is not None and field.newer is not None:
        reason = f"{field.newer.name} is now in line in a version that lacked it, so {_SHIFTED}"
        yield Change("breaking", field.versions_where(("absent", "inline")), reason, field.newer.place, "versions")


@EvolutionRule(
    "evo-pair-missing-new",
    "An in-line field stays in the definition as long as a version that has it is valid.",
    "In a version that both sides have, a reader of one side misses a field and reads what follows as that field.",
    ("breaking",),
    about_bytes=True,
).for_fields
def field_gone(field: FieldChange) -> Iterator[Change]:
    """Kafka's checker does not detect it."""
    if field.older is not None and field.newer is None:
        reason = f"the in-line field {field.older.name} is gone from a version that had it, so {_SHIFTED}"
        yield Change("breaking", field.versions_where(("inline", "absent")), reason, field.older.place)


@EvolutionRule(
    "conv-remove-field",
    "An in-line field ends at a version that only the newer side has.",
    "In a version that both sides have, a reader of one side misses a field and reads what follows as that field.",
    ("breaking",),
    ("evo-max-effective-lower", "evo-min-effective-differs"),
    about_bytes=True,
).for_fields
def field_in_fewer_versions(field: FieldChange) -> Iterator[Change]:
    """The field is still there, with other versions."""
    if field.older is not None and field.newer is not None:
        reason = f"{field.newer.name} is no longer in line in a version that had it, so {_SHIFTED}"
        yield Change("breaking", field.versions_where(("inline", "absent")), reason, field.newer.place, "versions")


@EvolutionRule(
    "evo-field-moved",
    "A field does not move between line and tagged section within a version.",
    "Readers expect it at its former place; Kafka's own checker does not detect it.",
    ("breaking",),
    about_bytes=True,
).for_fields
def field_moved(field: FieldChange) -> Iterator[Change]:
    """Between in line and tagged, either way."""
    if field.newer is None:
        return
    moves: tuple[tuple[Presence, Presence, str], ...] = (
        ("inline", "tagged", "from in line to tagged"),
        ("tagged", "inline", "from tagged to in line"),
    )
    for before, after, what in moves:
        reason = f"{field.newer.name} moved {what}, so {_SHIFTED}"
        yield Change("breaking", field.versions_where((before, after)), reason, field.newer.place, "taggedVersions")


@EvolutionRule(
    "conv-add-tagged",
    "A tagged field may be added to any flexible version.",
    "Readers without the tag skip the field and keep its bytes.",
    ("safe",),
).for_fields
def tagged_field_added(field: FieldChange) -> Iterator[Change]:
    """Allowed, but the layout of a released version grew."""
    if field.newer is None or field.newer.tag in field.struct.reused_tags:
        return
    reason = f"{field.newer.name} is a new tagged field (tag {field.newer.tag}), which readers without it skip"
    yield Change("safe", field.versions_where(("absent", "tagged")), reason, field.newer.place, "tag")


@EvolutionRule(
    "conv-remove-tagged",
    "A tagged field is dropped only from versions that the older side does not have.",
    "The other side skips the field, so its value is lost without an error when a peer still sends it.",
    ("risky",),
).for_fields
def tagged_field_dropped(field: FieldChange) -> Iterator[Change]:
    """The bytes are understood, the value is lost."""
    if field.older is None or field.older.tag in field.struct.reused_tags:
        return
    shown: FieldDefinition = field.newer or field.older
    reason = (
        f"the tagged field {field.older.name} (tag {field.older.tag}) is gone, "
        "so its value is lost without an error when a peer still sends it"
    )
    yield Change("risky", field.versions_where(("tagged", "absent")), reason, shown.place, "taggedVersions")


TAG = EvolutionRule(
    "evo-tag",
    "A field keeps its tag, and no other field gets that tag, even after the field is gone.",
    "Peers read a field as another one, or skip it as unknown and lose its value; Kafka's checker does not detect it.",
    ("breaking",),
    about_bytes=True,
)


@TAG.for_fields
def tag_changed(field: FieldChange) -> Iterator[Change]:
    """`tag_reused` reports a tag that was another field's."""
    older, newer = field.older, field.newer
    if older is None or newer is None or older.tag == newer.tag or newer.tag in field.struct.reused_tags:
        return
    reason = (
        f"tag {older.tag} of {newer.name} became {newer.tag}, "
        "so each side skips the field of the other as unknown and its value is lost"
    )
    yield Change("breaking", field.versions_where(("tagged", "tagged")), reason, newer.place, "tag")


@TAG.for_structs
def tag_reused(struct: StructChange) -> Iterator[Change]:
    """Also where the earlier field is gone, and in versions that only the newer side has (conv-remove-tagged)."""
    owners = {field.older.tag: field.older for field in struct.fields if field.older is not None}
    for field in struct.fields:
        newer = field.newer
        if newer is None or newer.tag is None or newer.tag not in struct.reused_tags:
            continue
        owner = owners[newer.tag]
        versions = frozenset(v for v in struct.pair.newer_versions if presence(newer, v) == "tagged")
        reason = (
            f"tag {newer.tag} was {owner.name} of type {owner.type} and is now {newer.name} of type {newer.type}, "
            "so a peer of one side reads the field of the other as its own"
        )
        yield Change("breaking", versions, reason, newer.place, "tag", path=field.pair.path)


@EvolutionRule(
    "conv-order",
    "In-line fields keep their order.",
    "Readers assign values to the wrong fields.",
    ("breaking",),
    about_bytes=True,
).for_structs
def order(struct: StructChange) -> Iterator[Change]:
    """Reported at the first field that moved. Fields of one type swap their values without an error."""
    moved: dict[str, set[int]] = {}
    fields = {field.pair.path: field for field in struct.fields if field.newer is not None}
    for version, alike in struct.stretches:
        inline = [f for f in struct.fields if f.pair.holds_in(version) and f.at(version) == ("inline", "inline")]
        after = sorted(inline, key=lambda field: struct.newer_order[field.newer.name] if field.newer else 0)
        for before, now in zip(inline, after, strict=True):
            if before is not now:
                moved.setdefault(now.pair.path, set()).update(alike)
                break
    for path, versions in moved.items():
        newer = fields[path].newer
        if newer is not None:
            reason = f"{newer.name} moved among the in-line fields, so readers assign values to the wrong fields"
            yield Change("breaking", frozenset(versions), reason, newer.place, "name", path=path)
