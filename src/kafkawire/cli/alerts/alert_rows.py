"""The rows of ``kafkawire alerts``."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole
from kafkawire.logs.alert_rules.rules import AlertRule
from kafkawire.logs.alerts.finding import Alert


class AlertRow(Row, frozen=True):
    """What a rule found in a log.

    Attributes:
        time: of the change; null if unknown.
        severity: high, medium or low.
        rule: id of the rule.
        resource_type: what it happened to: TOPIC, GROUP, CLUSTER, BROKER, USER and so on.
        resource_name: the name, or the prefix or ``*`` of an ACL.
        principal: who it is about; null for none.
        message: what happened.
        log_offset: of the record; the end offset of a snapshot, if the change is known from a snapshot alone.
    """

    time: datetime | None
    severity: str
    rule: str
    resource_type: str
    resource_name: str
    principal: str | None
    message: str
    log_offset: int | None

    ROLES: ClassVar = {
        "time": ColumnRole.KEY,
        "severity": ColumnRole.KEY,
        "rule": ColumnRole.KEY,
        "resource_type": ColumnRole.DETAIL,
        "resource_name": ColumnRole.DETAIL,
        "principal": ColumnRole.DETAIL,
        "log_offset": ColumnRole.DETAIL,
    }

    @property
    def row_name(self) -> str:
        """The message."""
        return self.message

    @classmethod
    def of(cls, alert: Alert) -> AlertRow:
        """The row of an alert."""
        return cls(
            alert.time,
            alert.severity.value,
            alert.rule,
            alert.resource_type,
            alert.resource_name,
            alert.principal,
            alert.message,
            alert.log_offset,
        )


class AlertRuleRow(Row, frozen=True):
    """A rule that alerts.

    Attributes:
        rule: its id.
        severity: high, medium or low.
        title: what it finds.
        looks_at: the history whose changes it looks at.
        remedy: what to do.
    """

    rule: str
    severity: str
    title: str
    looks_at: str
    remedy: str

    ROLES: ClassVar = {
        "rule": ColumnRole.KEY,
        "severity": ColumnRole.KEY,
        "looks_at": ColumnRole.DETAIL,
        "remedy": ColumnRole.DETAIL,
    }

    @property
    def row_name(self) -> str:
        """The id."""
        return self.rule

    @classmethod
    def of(cls, rule: AlertRule) -> AlertRuleRow:
        """The row of a rule."""
        return cls(rule.id, rule.severity.value, rule.title, rule.looks_at, rule.remedy)
