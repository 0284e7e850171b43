"""A section of the page from a history: for each cluster, the rows on the page and the numbers of all rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping

from kafkawire.report.bounded import KeptRows
from kafkawire.report.contents import Cluster, Numbers, Row, Section
from kafkawire.report.counting import ChangesOverTime, CountOverTime, HoldersOverTime
from kafkawire.report.shown_histories import ShownHistory


class GatheredSection:
    """Takes the rows of a history in the order of their log.

    The rows that are still valid, the limit, the names of things and holders, and the counted times of changes bound
    its memory.

    Args:
        history: the history.
        limit: how many ended rows of each cluster are kept.
    """

    def __init__(self, history: ShownHistory, limit: int) -> None:
        self._history = history
        self._clusters: dict[Cluster, _OfCluster] = defaultdict(lambda: _OfCluster(history, limit))

    def add(self, record: Mapping[str, object], begin: int | None, end: int | None) -> None:
        """Add a row of the history with its interval."""
        row = self._history.row(record)
        if row is not None:
            self.add_row((*row, begin, end), begin, end)

    def add_row(self, row: Row, begin: int | None, end: int | None) -> None:
        """Add a row as the page shows it."""
        cluster = row[0]
        self._clusters[cluster if isinstance(cluster, str) else None].add(row, begin, end)

    def section(self) -> Section:
        """The section; the rows of a cluster are in the order in which they were added."""
        return Section(
            self._history.fields,
            [row for gathered in self._clusters.values() for row in gathered.kept.rows],
            {cluster: gathered.numbers() for cluster, gathered in self._clusters.items()},
        )


class _OfCluster:
    def __init__(self, history: ShownHistory, limit: int) -> None:
        self.kept = KeptRows(limit)
        self._history = history
        self._holding: dict[str, CountOverTime] = defaultdict(CountOverTime)
        self._holders = HoldersOverTime()
        self._changes = ChangesOverTime()
        self._things: set[Hashable] = set()

    def add(self, row: Row, begin: int | None, end: int | None) -> None:
        history = self._history
        self.kept.add(row, begin, end)
        self._holding["" if history.kind is None else str(row[history.kind])].add(begin, end)
        holder = history.holder(row)
        if holder is not None:
            self._holders.add(holder, begin, end)
        thing = row[: history.thing]
        if thing:
            self._things.add(thing)
        self._changes.add(thing if history.renews else None, begin, end)

    def numbers(self) -> Numbers:
        kept = self.kept
        return Numbers(
            rows=kept.added,
            shown=len(kept.rows),
            ended=kept.ended,
            complete_from=kept.complete_from,
            holding={kind: count.count() for kind, count in self._holding.items()},
            holders=self._holders.count(),
            changes=self._changes.count(),
            things=len(self._things),
        )
