"""A result as entries of a report, for GitHub's annotations and SARIF."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.evolve.checking.result import PURPOSES, CheckResult, JudgedFinding
from kafkawire.codegen.evolve.checking.wording import Kind, kind, subject
from kafkawire.codegen.report.entry import Entry, Level, ReportedRule
from kafkawire.codegen.report.repository import RepositoryPaths

_LEVELS: dict[Kind, Level] = {"breaking": "error", "risky": "warning", "safe": "note", "accepted": "note"}


def entries_of(result: CheckResult, paths: RepositoryPaths) -> Iterator[Entry]:
    """The findings: breaking is an error, risky a warning, safe and whatever was accepted a note."""
    for judged in result.findings:
        finding = judged.finding
        yield Entry(
            finding.file,
            paths.of(finding.file),
            finding.span,
            _LEVELS[kind(judged)],
            finding.rule,
            f"{subject(finding)}: {finding.reason}",
            _accepted(judged),
        )


def rules_of(result: CheckResult) -> Iterator[ReportedRule]:
    """The rules of the profile."""
    for rule, purpose in PURPOSES[result.profile].items():
        yield ReportedRule(rule, purpose)


def _accepted(judged: JudgedFinding) -> str:
    return f"accepted: {judged.accepted.reason}" if judged.accepted else ""
