"""Findings that represent errors of Kafka's checker."""

from __future__ import annotations

from dataclasses import dataclass

from kafkawire.codegen.check.rule import Rule
from kafkawire.codegen.definition import MessageDefinition, Place
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.versions import NO_VERSIONS, Versions


@dataclass(frozen=True, slots=True)
class Spot:
    """What a finding is about.

    Attributes:
        message, path: as in the finding.
        place, attribute: the object in a file and its attribute; the whole object if it lacks the attribute.
    """

    message: str
    path: str
    place: Place
    attribute: str


def refusal(rule: Rule, spot: Spot, versions: Versions, problem: str, remedy: str = "") -> EvolutionFinding:
    """A finding whose reason is the problem, and the given remedy or that of the rule."""
    place = spot.place
    reason = f"{problem}; {remedy or rule.remedy}"
    return EvolutionFinding(
        rule.id, "breaking", spot.message, spot.path, versions, reason, place.file, place.of(spot.attribute)
    )


def flexible_versions(message: MessageDefinition) -> Versions:
    """The flexible versions as Kafka's parser has them: those of a retired message are ignored."""
    return message.flexible_versions if message.valid_versions else NO_VERSIONS


def between(lowest: int, highest: int) -> Versions:
    """The versions from `lowest` to `highest`, which may be the end of an empty range, or below it."""
    return Versions(max(lowest, 0), highest)
