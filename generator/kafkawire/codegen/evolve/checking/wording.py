"""The words that all forms of a result share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from kafkawire.codegen.evolve.checking.result import CheckResult, JudgedFinding, MessageBytes
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.readability import Reading
from kafkawire.codegen.versions import Versions


def subject(finding: EvolutionFinding) -> str:
    """What a finding is about: ``VoteRequest 0-1 Topics.Partitions.ReplicaId``."""
    return " ".join(part for part in (finding.message, str(finding.versions), finding.path) if part)


Kind = Literal["breaking", "risky", "safe", "accepted"]
"""What a finding is shown as."""


def kind(judged: JudgedFinding) -> Kind:
    """What a finding is shown as."""
    return "accepted" if judged.accepted else judged.finding.severity


def told_together(findings: Iterable[JudgedFinding]) -> Iterator[tuple[JudgedFinding, ...]]:
    """Findings that say the same of several places, together where the first of them stands; accepted ones last."""
    groups: dict[tuple[str, str, str, str], list[JudgedFinding]] = {}
    for judged in sorted(findings, key=lambda judged: judged.accepted is not None):
        accepted = judged.accepted.reason if judged.accepted else ""
        told = kind(judged), judged.finding.rule, judged.finding.reason, accepted
        groups.setdefault(told, []).append(judged)
    return map(tuple, groups.values())


def summary(result: CheckResult) -> str:
    """How many findings there are: ``1 breaking, 2 risky, 0 safe, 1 accepted``."""
    return ", ".join(f"{number} {name}" for name, number in result.counts.items() if number or name != "accepted")


def bytes_summary(result: CheckResult) -> str:
    """How far the bytes of both sides agree."""
    versions = sum(len(message.versions) for message in result.bytes)
    differing = sum(not version.is_compatible for message in result.bytes for version in message.versions)
    told = f"bytes: {_counted(versions, 'version')} of {_counted(len(result.bytes), 'message')} are valid on both sides"
    return f"{told}, {versions - differing} of them compatible both ways"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@dataclass(frozen=True, slots=True)
class BytesRow:
    """Versions of a message that are alike: not compatible, for the same obstacles.

    Attributes:
        message: name of the message.
        versions: the versions.
        unstable: whether the older side may still change them.
        old_to_new, new_to_old: what the newer side reads of the older, and the other way round.
    """

    message: str
    versions: Versions
    unstable: bool
    old_to_new: Reading
    new_to_old: Reading

    def __str__(self) -> str:
        """All of it as a sentence."""
        ways = (("old to new", self.old_to_new), ("new to old", self.new_to_old))
        told = "; ".join(f"{way} {reading_text(reading)}" for way, reading in ways)
        note = " (unstable)" if self.unstable else ""
        return f"{self.message} {self.versions}{note}: {told}"


def reading_text(reading: Reading) -> str:
    """A verdict with its obstacles: ``conditional (Name: null is refused)``."""
    obstacles = "; ".join(f"{o.path}: {o.reason}" if o.path else o.reason for o in reading.obstacles)
    return f"{reading.verdict} ({obstacles})" if obstacles else reading.verdict


def bytes_rows(result: CheckResult) -> Iterator[BytesRow]:
    """The versions whose bytes are not compatible both ways."""
    for message in result.bytes:
        yield from _rows(message)


def _rows(message: MessageBytes) -> Iterator[BytesRow]:
    row: BytesRow | None = None
    for version in message.versions:
        one = Versions(version.version, version.version)
        unstable = version.version in message.unstable
        fresh = BytesRow(message.message, one, unstable, version.old_to_new, version.new_to_old)
        if row is not None and _continues(row, fresh):
            row = BytesRow(
                message.message, Versions(row.versions.lowest, one.highest), unstable, row.old_to_new, row.new_to_old
            )
            continue
        if row is not None:
            yield row
        row = None if version.is_compatible else fresh
    if row is not None:
        yield row


def _continues(row: BytesRow, fresh: BytesRow) -> bool:
    return (row.unstable, row.old_to_new, row.new_to_old) == (fresh.unstable, fresh.old_to_new, fresh.new_to_old) and (
        row.versions.highest + 1 == fresh.versions.lowest
    )
