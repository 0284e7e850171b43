"""Attributes of fields that name only versions which are not valid."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafkawire.codegen.definition import FieldDefinition
from kafkawire.codegen.evolve.rules.rule import Change, EvolutionRule, FieldChange
from kafkawire.codegen.versions import Versions

_LEFT_OVER = "remain from versions that were dropped"
_NO_EFFECT = "have no effect, perhaps because a version is missing from validVersions"


@EvolutionRule(
    "evo-field-never-valid",
    "A field is in some valid version.",
    "No peer can send or read it; often the new version is missing from validVersions.",
    ("risky", "safe"),
    ("evo-pair-old-misplaced", "evo-pair-new-misplaced"),
).for_fields
def field_never_valid(field: FieldChange) -> Iterator[Change]:
    """A field that remains after old versions are dropped is harmless."""
    yield from _never_valid(field, "versions", lambda written: written.versions)


@EvolutionRule(
    "evo-nullable-never-valid",
    "Null is legal in some valid version, if it is legal at all.",
    "No peer can send null; often the new version is missing from validVersions.",
    ("risky", "safe"),
).for_fields
def nullable_never_valid(field: FieldChange) -> Iterator[Change]:
    """Reported only where the field itself is valid."""
    if field.newer is not None and _is_valid(field, field.newer.versions):
        yield from _never_valid(field, "nullableVersions", lambda written: written.nullable_versions)


@EvolutionRule(
    "evo-tagged-never-valid",
    "A field is tagged in some valid version, if it has a tag.",
    "No peer sends it as a tagged field; often the new version is missing from validVersions.",
    ("risky", "safe"),
).for_fields
def tagged_never_valid(field: FieldChange) -> Iterator[Change]:
    """Reported only where the field itself is valid."""
    if field.newer is not None and _is_valid(field, field.newer.versions):
        yield from _never_valid(field, "taggedVersions", lambda written: written.tagged_versions)


@EvolutionRule(
    "evo-override-never-valid",
    "The flexibleVersions of a field contain a valid version, or are none.",
    "They have no effect; often the new version is missing from validVersions.",
    ("risky", "safe"),
).for_fields
def override_never_valid(field: FieldChange) -> Iterator[Change]:
    """Kafka's definitions use ``none``, which Kafka's checker rejects."""
    yield from _never_valid(field, "flexibleVersions", lambda written: written.flexible_versions or Versions(0, -1))


def _never_valid(
    field: FieldChange, attribute: str, range_of: Callable[[FieldDefinition], Versions]
) -> Iterator[Change]:
    """Only if the older side did not have the same fault already."""
    if (
        field.newer is None
        or field.pair.only is not None
        or not range_of(field.newer)
        or _is_valid(field, range_of(field.newer))
    ):
        return
    message = field.struct.message
    before = range_of(field.older) if field.older is not None else Versions(0, -1)
    if before and not before.intersect(message.older.valid_versions):
        return
    was_valid = bool(before.intersect(range_of(field.newer)).intersect(message.older.valid_versions))
    stated = f"{attribute} {range_of(field.newer)} of {field.newer.name}"
    reason = f"{stated} meet no valid version and {_LEFT_OVER if was_valid else _NO_EFFECT}"
    versions = frozenset(message.newer.valid_versions)
    yield Change("safe" if was_valid else "risky", versions, reason, field.newer.place, attribute)


def _is_valid(field: FieldChange, versions: Versions) -> bool:
    return bool(versions.intersect(field.struct.message.newer.valid_versions))
