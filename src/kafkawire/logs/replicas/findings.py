"""Findings about replicas of a log: ranges of offsets of which the same holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from kafkawire.logs.replicas.finding import ReplicatedLog
from kafkawire.logs.replicas.sound_batches import Batches
from kafkawire.logs.replicas.walking import Absence, P, Step


class FindingKind(StrEnum):
    """What holds of a range of offsets."""

    ENDS = "ends"
    """What one replica has: its first and last offset."""

    SAME = "same"
    """All replicas have the same."""

    SOME = "some"
    """Some replicas have it; the others begin later, or end before it. That is no difference."""

    DAMAGED = "damaged"
    """Some replicas have it, and the bytes of others are damaged there: a merge repairs them."""

    LOST = "lost"
    """No replica has a sound batch."""

    MISSING = "missing"
    """Some replicas have it, and others have nothing there, between what comes before and after it."""

    DIFFERS = "differs"
    """Replicas have different records."""

    @property
    def is_difference(self) -> bool:
        """Whether replicas differ in what they have."""
        return self in {FindingKind.MISSING, FindingKind.DIFFERS}

    @property
    def is_damage(self) -> bool:
        """Whether bytes are damaged."""
        return self in {FindingKind.DAMAGED, FindingKind.LOST}


@dataclass(frozen=True)
class Finding:
    """A range of offsets of a log, and what holds of it.

    Attributes:
        log: name of the log.
        kind: what holds.
        first_offset, last_offset: the range; None where that is not known.
        batches: how many batches of the replicas that have it; in compacted logs, how many records.
        replicas: the folders of those that have it.
        reason: what the others have, or the first difference, in words.
    """

    log: str
    kind: FindingKind
    first_offset: int | None
    last_offset: int | None
    batches: int
    replicas: tuple[str, ...]
    reason: str | None = None


def joined(findings: Iterator[Finding]) -> Iterator[Finding]:
    """The findings, with those in one that follow each other, are of one kind and of the same replicas."""
    held: Finding | None = None
    for each in findings:
        if held is None:
            held = each
        elif held.kind is each.kind and held.replicas == each.replicas and held.kind is not FindingKind.ENDS:
            held = replace(held, last_offset=each.last_offset, batches=held.batches + each.batches)
        else:
            yield held
            held = each
    if held is not None:
        yield held


def ends_of(log: str, sources: Sequence[Batches]) -> Iterator[Finding]:
    """What each replica has, after it was read."""
    for source in sources:
        name = source.replica.name
        damaged = f", {source.damaged} bytes are damaged" if source.damaged else ""
        reason = f"last leader epoch {source.last_epoch}{damaged}" if source.count else f"no sound batch{damaged}"
        yield Finding(log, FindingKind.ENDS, source.first_offset, source.last_offset, source.count, (name,), reason)


def shown_absence(log: ReplicatedLog, step: Step[P], absence: Absence) -> str:
    """Why replicas have nothing at an offset, in words; of damage, the first."""
    numbers = [number for number, each in step.absent.items() if each is absence]
    names = ", ".join(log.replicas[number].name for number in numbers)
    damage = step.damage.get(numbers[0])
    return f"{names} {absence.value}" + (f": {damage[0].shown}" if damage else "")
