"""The alerts on the page: of each cluster the newest, and the number of all over time."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Final

from kafkawire.report.contents import ALERTS, Cell, Cluster, Numbers, Row, Section
from kafkawire.report.counting import CountOverTime

ALERT_COLUMNS: Final = (
    *("cluster", "time", "log_offset", "rule", "severity"),
    *("resource_type", "resource_name", "principal", "message"),
)
"""Those of the table that the page shows."""


class GatheredAlerts:
    """Takes the rows of table ``alerts`` in the order of their log.

    Args:
        limit: how many alerts of each cluster are kept.
    """

    def __init__(self, limit: int) -> None:
        self._clusters: dict[Cluster, _OfCluster] = defaultdict(lambda: _OfCluster(limit))

    def add(self, record: Mapping[str, object]) -> None:
        """Add a row of the table; times are milliseconds since 1970."""
        row = tuple(_cell(record[name]) for name in ALERT_COLUMNS)
        cluster, time, *_ = row
        self._clusters[cluster if isinstance(cluster, str) else None].add(row, time if isinstance(time, int) else None)

    def section(self) -> Section:
        """The section; the rows of a cluster are in the order of its log."""
        return Section(
            ALERTS,
            [row for gathered in self._clusters.values() for row in gathered.rows],
            {cluster: gathered.numbers() for cluster, gathered in self._clusters.items()},
        )


class _OfCluster:
    def __init__(self, limit: int) -> None:
        self.rows: deque[Row] = deque(maxlen=limit)
        self._added = 0
        self._over_time = CountOverTime()

    def add(self, row: Row, time: int | None) -> None:
        self.rows.append(row)
        self._added += 1
        self._over_time.add(time, None)

    def numbers(self) -> Numbers:
        return Numbers(rows=self._added, shown=len(self.rows), changes=self._over_time.count())


def _cell(value: object) -> Cell:
    return value if isinstance(value, str | int | float) else None
