"""What replicas of a log have in common, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.replicas.comparing_records import compare_records
from kafkawire.logs.replicas.finding import ReplicatedLog
from kafkawire.logs.replicas.findings import Finding, FindingKind, ends_of, joined, shown_absence
from kafkawire.logs.replicas.sound_batches import Batches, SoundBatch, looks_compacted
from kafkawire.logs.replicas.walking import Absence, Step, walk


def compare_replicas(
    log: ReplicatedLog, options: ReadOptions = DEFAULT_OPTIONS, *, compacted: bool | None = None
) -> Iterator[Finding]:
    """The findings about the replicas of a log: ranges of offsets in order, then the ends of each replica.

    Replicas of a log that Kafka does not compact have the same batches: offset, leader epoch, size and CRC are
    compared. Compaction runs on each broker for itself, and rewrites batches. There, offset, key and value of records
    are compared, and a record that one replica lacks is no difference if a later one has its key, or if it deletes its
    key.

    Args:
        log: from ``find_replicas``.
        options: only ``max_frame_bytes`` counts.
        compacted: whether Kafka compacts the log. By default it does if there are offsets without records.

    Raises:
        LogReadError: a file cannot be read.

    Example:
        ```python
        from kafkawire.logs import compare_replicas, find_replicas

        logs, _ = find_replicas(["/evidence/broker-1", "/evidence/broker-2", "/evidence/broker-3"])
        for log in logs:
            for finding in compare_replicas(log):
                print(log.name, finding.kind, finding.first_offset, finding.last_offset, finding.reason)
        ```
    """
    plain = ReadOptions(max_frame_bytes=options.max_frame_bytes)
    is_compacted = looks_compacted(log, plain) if compacted is None else compacted
    sources = tuple(Batches(each, is_compacted, plain) for each in log.replicas)
    yield from compare_records(log, sources) if is_compacted else joined(_compared_batches(log, sources))
    yield from ends_of(log.name, sources)


def _compared_batches(log: ReplicatedLog, sources: tuple[Batches, ...]) -> Iterator[Finding]:
    expected: int | None = None
    for step in walk(sources):
        if expected is not None and step.offset > expected:
            yield _hole(log, expected, step)
        finding = _finding(log, step)
        yield finding
        expected = max(expected or 0, (finding.last_offset or 0) + 1)
    for source in sources:
        if source.at_end and (source.last_offset is None or source.last_offset + 1 == expected):
            yield Finding(log.name, FindingKind.LOST, expected, None, 0, (), source.at_end[0].shown)


def _hole(log: ReplicatedLog, expected: int, step: Step[SoundBatch]) -> Finding:
    """Offsets before a step that no replica has."""
    damage = [each for found in step.found.values() for each in found.after]
    reason = damage[0].shown if damage else "there is nothing, as if a segment was deleted"
    return Finding(log.name, FindingKind.LOST, expected, step.offset - 1, 0, (), reason)


def _finding(log: ReplicatedLog, step: Step[SoundBatch]) -> Finding:
    names = tuple(log.replicas[number].name for number in step.found)
    last = max(each.batch.last_offset for each in step.found.values())
    kind, reason = _kind(log, step)
    return Finding(log.name, kind, step.offset, last, 1, names, reason)


def _kind(log: ReplicatedLog, step: Step[SoundBatch]) -> tuple[FindingKind, str | None]:
    (first, one), *others = step.found.items()
    for number, other in others:
        if (difference := _difference(one, other)) is not None:
            return FindingKind.DIFFERS, f"{log.replicas[first].name} and {log.replicas[number].name}: {difference}"
    for absence, kind in (
        (Absence.GAP, FindingKind.MISSING),
        (Absence.DAMAGED, FindingKind.DAMAGED),
        (Absence.AFTER_END, FindingKind.SOME),
        (Absence.BEFORE_START, FindingKind.SOME),
    ):
        if absence in step.absent.values():
            return kind, shown_absence(log, step, absence)
    return FindingKind.SAME, None


def _difference(one: SoundBatch, other: SoundBatch) -> str | None:
    """How two batches at one offset differ."""
    first, second = one.batch, other.batch
    for what, mine, others in (
        ("last offset", first.last_offset, second.last_offset),
        ("leader epoch", first.partition_leader_epoch, second.partition_leader_epoch),
        ("size", first.size, second.size),
        ("CRC", first.crc, second.crc),
    ):
        if mine != others:
            return f"{what} {mine} and {others}"
    return None
