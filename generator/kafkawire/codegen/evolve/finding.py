"""Findings about changes between two sets of definitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kafkawire.codegen.definition import Span
from kafkawire.codegen.versions import Versions

Severity = Literal["breaking", "risky", "safe"]
"""``breaking``: peers of one side misread or reject what the other sends. ``risky``: the bytes are understood, but
information may be lost. ``safe``: informative only."""


@dataclass(frozen=True, slots=True)
class EvolutionFinding:
    """One change, judged by one rule.

    Attributes:
        rule: id of the rule, see docs/how-to/check-evolution.md.
        severity: its severity.
        message: name of the message, that of the newer side where both have it.
        path: the field by Kafka's names below the message, ``Topics.Partitions.LeaderEpoch``; empty for the message.
        versions: the affected versions.
        reason: what changed and its effect, in one sentence.
        file: displayed name of the definition file: of the newer side, or of the older one where only that has it.
        span: the place in the file.
    """

    rule: str
    severity: Severity
    message: str
    path: str
    versions: Versions
    reason: str
    file: str
    span: Span
