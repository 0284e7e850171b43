"""Which versions of a message there are, and which of them are final."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.evolve.rules.rule import Change, EvolutionRule, MessageChange

CONV_RETIRE = EvolutionRule(
    "conv-retire",
    "A retired message keeps its file with validVersions none, so that its key stays reserved.",
    "Peers of the older side can no longer use it; and if the file is gone, its key may be given to another message.",
    ("breaking", "risky"),
)
PERSISTENT = frozenset({"metadata", "coordinator-key", "coordinator-value"})
"""Types of messages that are stored in logs, where no versions are negotiated."""


@EvolutionRule(
    "conv-lowest",
    "The lowest version is raised only on purpose; Kafka requires a KIP.",
    "Peers that support only dropped versions cannot communicate with the newer side, and records in these versions "
    "can no longer be read.",
    ("breaking", "risky"),
).for_messages
def lowest_raised(message: MessageChange) -> Iterator[Change]:
    """Peers negotiate versions of requests and responses; records stay in logs."""
    older, newer = message.older.valid_versions, message.newer.valid_versions
    if not (older and newer):
        return
    dropped = frozenset(version for version in older if version < newer.lowest)
    if message.newer.type in PERSISTENT:
        reason = "no longer valid, so records that were written in it can no longer be read"
        yield Change("breaking", dropped, reason, message.newer.place, "validVersions")
    else:
        reason = "no longer valid, so peers without a higher version can no longer use this message"
        yield Change("risky", dropped, reason, message.newer.place, "validVersions")


@EvolutionRule(
    "evo-min-version-lower",
    "A version that was dropped is not valid again.",
    "Peers may still have its layout from before it was dropped, which may differ.",
    ("breaking",),
).for_messages
def lowest_lowered(message: MessageChange) -> Iterator[Change]:
    """For a message that was retired as a whole see conv-retire."""
    older, newer = message.older.valid_versions, message.newer.valid_versions
    if older and newer:
        back = frozenset(version for version in newer if version < older.lowest)
        reason = "valid again although it was dropped, so older peers may have another layout of it"
        yield Change("breaking", back, reason, message.newer.place, "validVersions")


@EvolutionRule(
    "evo-max-version-lower",
    "The highest version is not lowered.",
    "Peers that support only that version cannot communicate, and records that were written in it cannot be read.",
    ("breaking",),
).for_messages
def highest_lowered(message: MessageChange) -> Iterator[Change]:
    """Kafka's checker forbids it."""
    older, newer = message.older.valid_versions, message.newer.valid_versions
    if older and newer:
        dropped = frozenset(version for version in older if version > newer.highest)
        reason = "no longer valid, so messages that peers send or have written in it are rejected"
        yield Change("breaking", dropped, reason, message.newer.place, "validVersions")


@CONV_RETIRE.for_messages
def retired(message: MessageChange) -> Iterator[Change]:
    """The file stays, as it should."""
    older, newer = message.older, message.newer
    if not older.valid_versions or newer.valid_versions:
        return
    versions = frozenset(older.valid_versions)
    if newer.type in PERSISTENT:
        reason = "retired, so records of it can no longer be read"
        yield Change("breaking", versions, reason, newer.place, "validVersions")
    else:
        reason = "retired, so peers that still use it are rejected; its key stays reserved"
        yield Change("risky", versions, reason, newer.place, "validVersions")


@CONV_RETIRE.for_messages
def back_from_retirement(message: MessageChange) -> Iterator[Change]:
    """The key of a retired message is not used again."""
    older, newer = message.older, message.newer
    if newer.valid_versions and not older.valid_versions:
        reason = (
            f"apiKey {newer.api_key} was retired and is in use again, and older peers use it for the retired message"
        )
        yield Change("breaking", frozenset(newer.valid_versions), reason, newer.place, "validVersions")


@EvolutionRule(
    "conv-unstable",
    "A version that is final stays final.",
    "Servers hide a version that may still change, and peers cannot rely on it.",
    ("risky", "safe"),
).for_messages
def stability(message: MessageChange) -> Iterator[Change]:
    """Only requests, their responses and proposals have unstable versions."""
    marked = frozenset(
        v for v in message.shared if v in message.newer_unstable and v not in message.older_unstable
    )  # fmt: skip
    reason = "final before and now marked unstable, so servers hide it from peers that rely on it"
    yield Change("risky", marked, reason, message.newer.place, "latestVersionUnstable")
    final = frozenset(v for v in message.shared if v in message.older_unstable and v not in message.newer_unstable)
    reason = "marked unstable before and final now, so from here on it must not change"
    yield Change("safe", final, reason, message.newer.place, "latestVersionUnstable")


@EvolutionRule(
    "conv-records",
    "Persistent records grow by tagged fields rather than by versions (KIP-915).",
    "A downgraded broker cannot read records in a version that it lacks, but it skips unknown tagged fields.",
    ("risky", "safe"),
).for_messages
def record_version_added(message: MessageChange) -> Iterator[Change]:
    """Metadata records are written in a version only when the metadata version of the cluster allows it."""
    older, newer = message.older.valid_versions, message.newer.valid_versions
    if not (older and newer):
        return
    added = frozenset(version for version in newer if version > older.highest)
    if message.newer.type == "coordinator-value":
        reason = "a new version of a persistent record, so a downgraded broker cannot read records in it"
        yield Change("risky", added, reason, message.newer.place, "validVersions")
    elif message.newer.type == "metadata":
        reason = "a new version of a persistent record, which older controllers and brokers cannot read"
        yield Change("safe", added, reason, message.newer.place, "validVersions")
