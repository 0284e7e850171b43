"""Alerts as SARIF, for code scanning: a result for each of them, at the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from kafkawire.cli.visible import visible
from kafkawire.codegen.report.entry import Entry, Level, ReportedRule, RepositoryPaths
from kafkawire.codegen.report.sarif import render_sarif
from kafkawire.logs.alert_rules.rules import AlertRule, AlertSeverity
from kafkawire.logs.alerts.finding import Alert
from kafkawire.version import __version__

_LEVELS: Final[Mapping[AlertSeverity, Level]] = {
    AlertSeverity.HIGH: "error",
    AlertSeverity.MEDIUM: "warning",
    AlertSeverity.LOW: "note",
}


def sarif_of(alerts: Iterable[Alert], log: str, rules: Mapping[str, AlertRule]) -> str:
    """The SARIF log.

    Args:
        alerts: of a metadata log.
        log: path of the log.
        rules: all rules, by id.
    """
    path = RepositoryPaths(Path()).of(log)
    reported = (ReportedRule(rule.id, rule.title, rule.remedy) for rule in rules.values())
    entries = [_entry(alert, log, path, rules[alert.rule].remedy) for alert in alerts]
    return render_sarif(entries, reported, __version__)


def _entry(alert: Alert, log: str, path: str | None, remedy: str) -> Entry:
    return Entry(
        log,
        path,
        None,
        _LEVELS[alert.severity],
        alert.rule,
        visible(alert.message),
        remedy,
        subject=f"{alert.resource_type}/{visible(alert.resource_name)}",
        facts={
            "time": None if alert.time is None else alert.time.isoformat(),
            "logOffset": alert.log_offset,
            "principal": None if alert.principal is None else visible(alert.principal),
        },
    )
