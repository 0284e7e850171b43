"""Flexible versions and header versions: how everything in a version is encoded."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.emit import headers
from kafkawire.codegen.evolve.rules.rule import Change, EvolutionRule, FieldChange, MessageChange

_MISREAD = "readers of the other side misread every length, and the tagged sections"

CONV_FLEXIBLE = EvolutionRule(
    "conv-flexible",
    "A message becomes flexible in a new version.",
    "A version that becomes flexible has other lengths and additional tagged sections, which older peers misread.",
    ("breaking",),
    about_bytes=True,
)


@CONV_FLEXIBLE.for_messages
def message_becomes_flexible(message: MessageChange) -> Iterator[Change]:
    """Kafka's checker allows it."""
    older, newer = message.older.flexible_versions, message.newer.flexible_versions
    versions = frozenset(version for version in message.shared if version not in older and version in newer)
    reason = f"a version that exists already became flexible, so {_MISREAD}"
    yield Change("breaking", versions, reason, message.newer.place, "flexibleVersions")


@EvolutionRule(
    "evo-flexible-shrinks",
    "A flexible version stays flexible.",
    "One side writes its lengths and tagged sections in another form than the other side expects.",
    ("breaking",),
    about_bytes=True,
).for_messages
def message_no_longer_flexible(message: MessageChange) -> Iterator[Change]:
    """Versions that one side lacks do not count."""
    older, newer = message.older.flexible_versions, message.newer.flexible_versions
    versions = frozenset(version for version in message.shared if version in older and version not in newer)
    reason = f"a flexible version is no longer flexible, so {_MISREAD}"
    yield Change("breaking", versions, reason, message.newer.place, "flexibleVersions")


@CONV_FLEXIBLE.for_fields
def field_becomes_flexible(field: FieldChange) -> Iterator[Change]:
    """A field with flexible versions of its own, where the message's stayed."""
    if field.newer is not None:
        reason = f"the length of {field.newer.name} became compact, so readers of the other side misread it"
        yield Change("breaking", _differing(field, compact=True), reason, field.newer.place, "flexibleVersions")


@EvolutionRule(
    "evo-field-flexible-shrinks",
    "A field whose length is compact in a version keeps a compact length.",
    "Readers of the other side misread the length, and everything after it.",
    ("breaking",),
    about_bytes=True,
).for_fields
def field_no_longer_flexible(field: FieldChange) -> Iterator[Change]:
    """A field with flexible versions of its own, where the message's stayed."""
    if field.newer is not None:
        reason = f"the length of {field.newer.name} is no longer compact, so readers of the other side misread it"
        yield Change("breaking", _differing(field, compact=False), reason, field.newer.place, "flexibleVersions")


def _differing(field: FieldChange, *, compact: bool) -> frozenset[int]:
    """The versions in which the field changed to or from a compact length, and its message did not."""
    older, newer, message = field.older, field.newer, field.struct.message
    if older is None or newer is None or (older.flexible_versions is None and newer.flexible_versions is None):
        return frozenset()
    return field.kept_where(
        lambda version: (
            (version in message.older.flexible_versions) == (version in message.newer.flexible_versions)
            and _is_compact(message.newer, newer, version) == compact
            and _is_compact(message.older, older, version) != compact
        )
    )


def _is_compact(message: MessageDefinition, field: FieldDefinition, version: int) -> bool:
    own = field.flexible_versions
    return version in (message.flexible_versions if own is None else own)


@EvolutionRule(
    "evo-header-versions",
    "A version of a request or response keeps its header version.",
    "Peers misread the header, and where the body begins.",
    ("breaking",),
).for_messages
def header_versions(message: MessageChange) -> Iterator[Change]:
    """Stated or derived (header-request, header-response). A version that became flexible is reported only as that."""
    before, after = headers.header_versions(message.older)[1], headers.header_versions(message.newer)[1]
    older, newer = message.older.flexible_versions, message.newer.flexible_versions
    versions = frozenset(
        v for v in message.shared if before.get(v) != after.get(v) and (v in older) == (v in newer)
    )  # fmt: skip
    if versions:
        first = min(versions)
        reason = f"header version {before.get(first)} became {after.get(first)}, so peers misread the header"
        yield Change("breaking", versions, reason, message.newer.place, "headerVersions")
