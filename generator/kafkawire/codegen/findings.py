"""Findings: problems of definitions, with their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kafkawire.codegen.definition import Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a definition.

    Attributes:
        file: path as the user gave it.
        span: place of the offending text.
        rule: id of the rule.
        severity: errors stop generation, warnings do not.
        message: what is wrong, with the path of the field and the value.
        remedy: how to fix it.
    """

    file: str
    span: Span
    rule: str
    severity: Severity
    message: str
    remedy: str = ""
