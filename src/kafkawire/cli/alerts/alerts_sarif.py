"""Alerts as SARIF, for code scanning: a result for each of them, at the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from kafkawire.cli.visible import visible
from kafkawire.codegen.report.entry import Entry, Level, ReportedRule, RepositoryPaths
from kafkawire.codegen.report.sarif import render_sarif
from kafkawire.logs.alerts.finding import Alert
from kafkawire.logs.alerts.rules import ALERT_RULES, AlertSeverity
from kafkawire.version import __version__

_LEVELS: Final[Mapping[AlertSeverity, Level]] = {
    AlertSeverity.HIGH: "error",
    AlertSeverity.MEDIUM: "warning",
    AlertSeverity.LOW: "note",
}


def sarif_of(alerts: Iterable[Alert], log: str) -> str:
    """The SARIF log.

    Args:
        alerts: of a metadata log.
        log: path of the log.
    """
    path = RepositoryPaths(Path()).of(log)
    rules = (ReportedRule(rule.id, rule.title, rule.remedy) for rule in ALERT_RULES.values())
    return render_sarif([_entry(alert, log, path) for alert in alerts], rules, __version__)


def _entry(alert: Alert, log: str, path: str | None) -> Entry:
    return Entry(
        log,
        path,
        None,
        _LEVELS[alert.severity],
        alert.rule,
        visible(alert.message),
        ALERT_RULES[alert.rule].remedy,
        subject=f"{alert.resource_type}/{visible(alert.resource_name)}",
        facts={
            "time": None if alert.time is None else alert.time.isoformat(),
            "logOffset": alert.log_offset,
            "principal": None if alert.principal is None else visible(alert.principal),
        },
    )
