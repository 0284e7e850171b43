"""The alerts of a cluster's own metadata log."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.alert_rules.rules import ALERT_RULES, AlertRule
from kafkawire.logs.alerts.finding import Alert
from kafkawire.logs.alerts.table import AlertsTable, is_chosen
from kafkawire.logs.alerts.watching import WatchedLog
from kafkawire.logs.folding.selection import Selection
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.planning import find_logs


def read_alerts(
    path: str | os.PathLike[str],
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    rules: Iterable[AlertRule] = tuple(ALERT_RULES.values()),
) -> list[Alert]:
    """What rules find in a metadata log: segments and snapshots, of a broker or of a controller.

    Args:
        path: the folder of the log, ``__cluster_metadata-0``, a folder with it, or a URI that Arrow knows.
        since: only alerts from this time on; the whole state must be known then. A time without a zone is in UTC.
        until: only alerts before this time.
        rules: which rules; all by default.

    Raises:
        NoLogsError: there is no metadata log, or more than one.
        LogReadError: the log is damaged or cannot be read.
        BeforeKnowledgeError: the log does not reach back so far.
        OptionError: ``until`` is before ``since``.

    Example:
        ```python
        from datetime import UTC, datetime

        from kafkawire.logs import read_alerts

        since = datetime(2026, 11, 21, 12, tzinfo=UTC)
        for alert in read_alerts("/var/lib/kafka/data/__cluster_metadata-0", since=since):
            print(alert.time, alert.severity, alert.rule, alert.message)
        ```
    """
    options = ReadOptions(mode=ReadMode.FAILFAST, from_time=since, until_time=until)
    logs = find_logs([path]).needed_by(AlertsTable(options)).one_metadata_log()
    watched = WatchedLog(logs.files, FoldSource(options, Accounts(), logs.store), rules)
    found = [alert for alert in watched.read() if is_chosen(alert, options)]
    Selection.of(ReadOptions(as_of=since)).refuse_unknown(logs.files[0].shown_folder, watched.known_since)
    return found
