"""What a check of two sets of definitions has to say about one change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kafkawire.codegen.definition import Span
from kafkawire.codegen.versions import Versions

Severity = Literal["breaking", "risky", "safe"]
"""``breaking``: peers of one side misread or refuse what the other sends. ``risky``: the bytes are understood, but
somebody may miss something. ``safe``: worth knowing."""


@dataclass(frozen=True, slots=True)
class EvolutionFinding:
    """One change, judged by one rule.

    Attributes:
        rule: id of the rule, see docs/how-to/check-evolution.md.
        severity: how bad it is.
        message: name of the message, that of the newer side where both have it.
        path: the field by Kafka's names below the message, ``Topics.Partitions.LeaderEpoch``; empty for the message.
        versions: the versions concerned.
        reason: what changed and why that matters, in one sentence.
        file: the definition file as it is shown; of the newer side, or of the older one where only that has it.
        span: stretch of the file.
    """

    rule: str
    severity: Severity
    message: str
    path: str
    versions: Versions
    reason: str
    file: str
    span: Span
