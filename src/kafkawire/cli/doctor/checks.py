"""What a check of the doctor finds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar

from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole


class CheckStatus(StrEnum):
    """The outcome of a check."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


class CheckRow(Row, frozen=True):
    """A check.

    Attributes:
        step: what was checked: settings, name, tcp, tls, certificate, sasl, api versions, metadata, advertised.
        target: of which address or node.
        status: its outcome.
        milliseconds: how long it took; None if it was skipped.
        detail: what was found.
        advice: what to do; None if nothing is to be done.
    """

    step: str
    target: str
    status: CheckStatus
    milliseconds: float | None = None
    detail: str | None = None
    advice: str | None = None

    ROLES: ClassVar[Mapping[str, ColumnRole]] = {
        "status": ColumnRole.KEY,
        "milliseconds": ColumnRole.DETAIL,
        "detail": ColumnRole.ERROR,
        "advice": ColumnRole.ERROR,
    }


class Check:
    """A check that goes on; it takes the time.

    Args:
        step, target: as of `CheckRow`.
    """

    def __init__(self, step: str, target: str) -> None:
        self._step = step
        self._target = target
        self._begun = time.perf_counter()

    def ok(self, detail: str | None = None) -> CheckRow:
        """It found nothing wrong."""
        return self._row(CheckStatus.OK, detail, None)

    def warning(self, detail: str, advice: str) -> CheckRow:
        """It found something that works, and should not stay."""
        return self._row(CheckStatus.WARNING, detail, advice)

    def failed(self, detail: str, advice: str) -> CheckRow:
        """It found why the cluster cannot be used."""
        return self._row(CheckStatus.FAILED, detail, advice)

    def skipped(self, detail: str) -> CheckRow:
        """It was not made."""
        return CheckRow(self._step, self._target, CheckStatus.SKIPPED, None, detail)

    def _row(self, status: CheckStatus, detail: str | None, advice: str | None) -> CheckRow:
        milliseconds = round((time.perf_counter() - self._begun) * 1000, 1)
        return CheckRow(self._step, self._target, status, milliseconds, detail, advice)
