"""Checks two sides: the findings of a profile, which of them are accepted, and the comparison of bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from kafkawire.codegen.evolve.checking.accepted import Acceptance
from kafkawire.codegen.evolve.finding import EvolutionFinding, Severity
from kafkawire.codegen.evolve.pairing import MessagePair, pair_messages
from kafkawire.codegen.evolve.readability import VersionCompatibility, byte_compatibility
from kafkawire.codegen.evolve.rules.catalogue import EVOLUTION_RULES
from kafkawire.codegen.evolve.rules.walk import evolution_findings
from kafkawire.codegen.evolve.side import LeftOut, Side, left_out
from kafkawire.codegen.evolve.upstream import UPSTREAM_RULES, upstream_findings
from kafkawire.codegen.resolve.layouts import resolve_message
from kafkawire.codegen.versions import Versions

Profile = Literal["kafkawire", "upstream"]
"""The rules that are applied: those of kafkawire, or those of Kafka's own checker."""

SEVERITIES: tuple[Severity, ...] = ("breaking", "risky", "safe")
"""The severities, the most severe first."""

PURPOSES: Mapping[Profile, Mapping[str, str]] = MappingProxyType(
    {
        "kafkawire": {rule.id: rule.purpose for rule in EVOLUTION_RULES.values()},
        "upstream": {rule.id: rule.purpose for rule in UPSTREAM_RULES.values()},
    }
)
"""For each profile, the ids of its rules with their purposes."""


@dataclass(frozen=True, slots=True)
class JudgedFinding:
    """A finding, and the entry that accepts it, if any."""

    finding: EvolutionFinding
    accepted: Acceptance | None

    @property
    def fails(self) -> bool:
        """Whether it makes the check fail."""
        return self.finding.severity == "breaking" and self.accepted is None


@dataclass(frozen=True, slots=True)
class MessageBytes:
    """The comparison of bytes for each version of a message that both sides have.

    Attributes:
        message: its name, that of the newer side.
        unstable: the versions that the older side may still change.
        versions: the versions in ascending order.
    """

    message: str
    unstable: Versions
    versions: tuple[VersionCompatibility, ...]

    @property
    def understood(self) -> frozenset[int]:
        """The versions in which each side reads all that the other writes."""
        return frozenset(found.version for found in self.versions if found.is_compatible)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check.

    Attributes:
        older, newer: the sides.
        profile: the rules that were applied.
        findings: the most severe first, then by message and field.
        unused: entries of the file of accepted findings that match no finding.
        bytes: every message that both sides have in some version, by name.
    """

    older: Side
    newer: Side
    profile: Profile
    findings: tuple[JudgedFinding, ...]
    unused: tuple[Acceptance, ...]
    bytes: tuple[MessageBytes, ...]

    @property
    def fails(self) -> bool:
        """Whether a breaking finding is not accepted."""
        return any(judged.fails for judged in self.findings)

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of findings of each severity, and of accepted ones, which are not counted by severity."""
        found = Counter("accepted" if judged.accepted else judged.finding.severity for judged in self.findings)
        return {name: found[name] for name in (*SEVERITIES, "accepted")}

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The messages that were not compared, since a jar is missing."""
        return left_out(self.older, self.newer)

    def sources(self) -> Mapping[str, str]:
        """Displayed name of a file to its text."""
        return {**self.older.sources, **self.newer.sources}


def check_sides(older: Side, newer: Side, profile: Profile, acceptances: tuple[Acceptance, ...] = ()) -> CheckResult:
    """Compare two sides, whose definitions have no errors."""
    pairs = pair_messages(older, newer)
    compared = tuple(_bytes(older, pairs))
    if profile == "kafkawire":
        findings = evolution_findings(older, newer, pairs, {one.message: one.understood for one in compared})
    else:
        findings = _upstream(older, newer)
    judged = tuple(JudgedFinding(finding, _acceptance_of(finding, acceptances)) for finding in findings)
    used = {one.accepted for one in judged}
    unused = tuple(one for one in acceptances if one not in used and one.rule in PURPOSES[profile])
    return CheckResult(older, newer, profile, judged, unused, compared)


def _acceptance_of(finding: EvolutionFinding, acceptances: tuple[Acceptance, ...]) -> Acceptance | None:
    return next((acceptance for acceptance in acceptances if acceptance.covers(finding)), None)


def _upstream(older: Side, newer: Side) -> tuple[EvolutionFinding, ...]:
    """Kafka's checker compares files of the same name, and has no unstable versions."""
    names = sorted(older.messages.keys() & newer.messages.keys())
    return tuple(finding for name in names for finding in upstream_findings(older.messages[name], newer.messages[name]))


def _bytes(older: Side, pairs: tuple[MessagePair, ...]) -> Iterator[MessageBytes]:
    for pair in pairs:
        if pair.older is None or pair.newer is None:
            continue
        versions = byte_compatibility(resolve_message(pair.older), resolve_message(pair.newer))
        if versions:
            yield MessageBytes(pair.name, older.unstable_versions(pair.older.name), versions)
