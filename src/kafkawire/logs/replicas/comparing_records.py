"""The records of compacted replicas compared: each broker compacts for itself, so batches differ where records agree.

A record that a replica lacks was compacted if a later record has its key: Kafka keeps the last record of each key, and
removes a null value, which deletes its key, after ``delete.retention.ms``. Control records go with the records of their
transaction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from kafkawire.logs.replicas.finding import Replica, ReplicatedLog
from kafkawire.logs.replicas.findings import Finding, FindingKind, shown_absence
from kafkawire.logs.replicas.sound_batches import Batches, Damage, SoundBatch
from kafkawire.logs.replicas.walking import Absence, Step, walk
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import Record, decode_records

_DIGEST_SIZE: Final = 16
_COMPACTED: Final = "the others have compacted it"


def compare_records(log: ReplicatedLog, sources: Sequence[Batches]) -> Iterator[Finding]:
    """The findings about the records of replicas, one of each kind.

    Args:
        log: the log.
        sources: its replicas, which are read once here, and once more if records are missing.

    Raises:
        LogReadError: a file cannot be read.
    """
    found = {kind: _Gathered(log.name, kind) for kind in FindingKind}
    missing: list[_Missing] = []
    for step in walk([_Records(each) for each in sources]):
        kind, reason = _kind(log, step)
        if kind is FindingKind.MISSING:
            missing.append(_Missing.of(step))
        else:
            found[kind].add(Finding(log.name, kind, step.offset, step.offset, 1, _names(log, step.found), reason))
    superseded = _Superseded(missing, sources) if missing else None
    for each in missing:
        kind, reason = FindingKind.MISSING, f"{', '.join(_names(log, each.lacking))} {Absence.GAP.value}"
        if superseded is not None and superseded.explains(each):
            kind, reason = FindingKind.SOME, _COMPACTED
        found[kind].add(Finding(log.name, kind, each.offset, each.offset, 1, _names(log, each.having), reason))
    lost = next((each for source in sources for each in source.at_end), None)
    yield from (each.finding for each in found.values() if each.finding is not None)
    if lost is not None and all(source.at_end for source in sources):
        yield Finding(log.name, FindingKind.LOST, None, None, 0, (), lost.shown)


@dataclass(frozen=True)
class _FoundRecord:
    offset: int
    record: Record
    is_control: bool
    after: tuple[Damage, ...]


class _Records:
    """The records of the batches of a replica."""

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self._unread: tuple[Damage, ...] = ()

    @property
    def replica(self) -> Replica:
        return self._batches.replica

    @property
    def at_end(self) -> tuple[Damage, ...]:
        return (*self._unread, *self._batches.at_end)

    def __iter__(self) -> Iterator[_FoundRecord]:
        for found in self._batches:
            self._unread = (*self._unread, *found.after)
            for record in self._decoded(found):
                yield _FoundRecord(record.offset, record, found.batch.is_control, self._unread)
                self._unread = ()

    def _decoded(self, found: SoundBatch) -> tuple[Record, ...]:
        """The records; none, and damage, if the CRC is right and they are malformed."""
        try:
            return decode_records(found.batch, limit=self._batches.options.max_frame_bytes)
        except DecodeError as error:
            damage = Damage(found.file, found.batch.position, found.batch.size, "bad_records", str(error))
            self._unread = (*self._unread, damage)
            return ()


class _Missing(NamedTuple):
    """A record that some replicas lack without damage.

    Attributes:
        key: its digest; None without a key.
        offset: of the record.
        having, lacking: numbers of replicas.
    """

    key: bytes | None
    offset: int
    having: tuple[int, ...]
    lacking: tuple[int, ...]

    @classmethod
    def of(cls, step: Step[_FoundRecord]) -> _Missing:
        """The record of a step."""
        found = next(iter(step.found.values()))
        lacking = tuple(number for number, each in step.absent.items() if each is Absence.GAP)
        return cls(_digest(found.record.key), step.offset, tuple(step.found), lacking)


class _Superseded:
    """Which missing records compaction may have removed: reads the replicas again for the last record of their keys."""

    def __init__(self, missing: Sequence[_Missing], sources: Sequence[Batches]) -> None:
        self._ends = [-1 if source.last_offset is None else source.last_offset for source in sources]
        self._last = {each.key: each.offset for each in missing if each.key is not None}
        for source in sources:
            again = Batches(source.replica, source.is_compacted, source.options)
            for found in _Records(again):
                key = _digest(found.record.key)
                if key in self._last and not found.is_control:
                    self._last[key] = max(self._last[key], found.offset)

    def explains(self, each: _Missing) -> bool:
        """Whether a later record has the key, or may have had it in a part that no replica with the record has."""
        if each.key is None:
            return False
        known_to = max(self._ends[number] for number in each.having)
        return self._last[each.key] > each.offset or any(self._ends[number] > known_to for number in each.lacking)


class _Gathered:
    """All findings of a kind as one: its range, its number, and the reason of the first."""

    def __init__(self, log: str, kind: FindingKind) -> None:
        self._log = log
        self._kind = kind
        self.finding: Finding | None = None

    def add(self, finding: Finding) -> None:
        if self.finding is None:
            self.finding = finding
        else:
            self.finding = replace(self.finding, last_offset=finding.last_offset, batches=self.finding.batches + 1)


def _kind(log: ReplicatedLog, step: Step[_FoundRecord]) -> tuple[FindingKind, str | None]:
    (first, one), *others = step.found.items()
    for number, other in others:
        if (difference := _difference(one.record, other.record)) is not None:
            return FindingKind.DIFFERS, f"{log.replicas[first].name} and {log.replicas[number].name}: {difference}"
    absent = step.absent.values()
    if Absence.DAMAGED in absent:
        return FindingKind.DAMAGED, shown_absence(log, step, Absence.DAMAGED)
    if Absence.GAP in absent:
        if one.is_control or (one.record.value is None and one.record.key is not None):
            return FindingKind.SOME, _COMPACTED
        return FindingKind.MISSING, None
    for absence in (Absence.AFTER_END, Absence.BEFORE_START):
        if absence in absent:
            return FindingKind.SOME, shown_absence(log, step, absence)
    return FindingKind.SAME, None


def _difference(one: Record, other: Record) -> str | None:
    if one.key != other.key:
        return "another key"
    return "another value" if one.value != other.value else None


def _names(log: ReplicatedLog, numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(log.replicas[number].name for number in numbers)


def _digest(key: bytes | None) -> bytes | None:
    return None if key is None else hashlib.blake2b(key, digest_size=_DIGEST_SIZE).digest()
