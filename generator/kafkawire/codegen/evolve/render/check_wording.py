"""The words of the findings of a check, in all forms of output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from kafkawire.codegen.evolve.checking.result import PURPOSES, CheckResult, JudgedFinding, MessageBytes
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.readability import Reading, VersionCompatibility
from kafkawire.codegen.report.entry import Entry, Level, ReportedRule, RepositoryPaths
from kafkawire.codegen.report.text import counted
from kafkawire.codegen.versions import Versions

Kind = Literal["breaking", "risky", "safe", "accepted"]
"""What a finding is shown as."""

_LEVELS: dict[Kind, Level] = {"breaking": "error", "risky": "warning", "safe": "note", "accepted": "note"}


def subject(finding: EvolutionFinding) -> str:
    """What a finding is about: ``VoteRequest 0-1 Topics.Partitions.ReplicaId``."""
    return " ".join(part for part in (finding.message, str(finding.versions), finding.path) if part)


def kind(judged: JudgedFinding) -> Kind:
    """What a finding is shown as."""
    return "accepted" if judged.accepted else judged.finding.severity


def grouped(findings: Iterable[JudgedFinding]) -> Iterator[tuple[JudgedFinding, ...]]:
    """Findings with the same rule and reason together, at the place of the first; accepted ones last."""
    groups: dict[tuple[str, str, str, str], list[JudgedFinding]] = {}
    for judged in sorted(findings, key=lambda judged: judged.accepted is not None):
        accepted = judged.accepted.reason if judged.accepted else ""
        groups.setdefault((kind(judged), judged.finding.rule, judged.finding.reason, accepted), []).append(judged)
    return map(tuple, groups.values())


def summary(result: CheckResult) -> str:
    """The number of findings: ``1 breaking, 2 risky, 0 safe, 1 accepted``."""
    return ", ".join(f"{number} {name}" for name, number in result.counts.items() if number or name != "accepted")


def bytes_summary(result: CheckResult) -> str:
    """How many versions were compared, and how many of them are compatible."""
    versions = [version for message in result.bytes for version in message.versions]
    shared = f"bytes: {counted(len(versions), 'version')} of {counted(len(result.bytes), 'message')}"
    compatible = sum(version.is_compatible for version in versions)
    return f"{shared} are valid on both sides, {compatible} of them compatible both ways"


@dataclass(frozen=True, slots=True)
class BytesRow:
    """Consecutive versions of a message that are incompatible for the same reasons.

    Attributes:
        message: name of the message.
        versions: the versions.
        unstable: whether the older side may still change them.
        old_to_new, new_to_old: how the newer side reads the older one's messages, and the reverse.
    """

    message: str
    versions: Versions
    unstable: bool
    old_to_new: Reading
    new_to_old: Reading

    def __str__(self) -> str:
        note = " (unstable)" if self.unstable else ""
        readings = f"old to new {reading_text(self.old_to_new)}; new to old {reading_text(self.new_to_old)}"
        return f"{self.message} {self.versions}{note}: {readings}"


def reading_text(reading: Reading) -> str:
    """A verdict with its obstacles: ``conditional (Name: null is refused)``."""
    obstacles = "; ".join(f"{o.path}: {o.reason}" if o.path else o.reason for o in reading.obstacles)
    return f"{reading.verdict} ({obstacles})" if obstacles else reading.verdict


def bytes_rows(result: CheckResult) -> Iterator[BytesRow]:
    """The versions whose bytes are not compatible both ways."""
    for message in result.bytes:
        yield from _rows(message)


def _rows(message: MessageBytes) -> Iterator[BytesRow]:
    def same_row(item: tuple[int, VersionCompatibility]) -> tuple[int, bool, Reading, Reading]:
        index, found = item
        # Consecutive numbers have the same distance to their indexes.
        return found.version - index, found.version in message.unstable, found.old_to_new, found.new_to_old

    incompatible = [found for found in message.versions if not found.is_compatible]
    for (_, unstable, old_to_new, new_to_old), row in groupby(enumerate(incompatible), same_row):
        numbers = [found.version for _, found in row]
        yield BytesRow(message.message, Versions(numbers[0], numbers[-1]), unstable, old_to_new, new_to_old)


def entries_of(result: CheckResult, paths: RepositoryPaths) -> Iterator[Entry]:
    """The findings for GitHub's annotations and SARIF."""
    for judged in result.findings:
        finding = judged.finding
        yield Entry(
            finding.file,
            paths.of(finding.file),
            finding.span,
            _LEVELS[kind(judged)],
            finding.rule,
            f"{subject(finding)}: {finding.reason}",
            f"accepted: {judged.accepted.reason}" if judged.accepted else "",
        )


def rules_of(result: CheckResult) -> Iterator[ReportedRule]:
    """The rules of the profile, for SARIF."""
    return (ReportedRule(rule, purpose) for rule, purpose in PURPOSES[result.profile].items())
