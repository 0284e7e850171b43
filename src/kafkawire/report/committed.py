"""The offsets that each group committed for each partition, now and over time, folded from ``offset_commits``."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kafkawire.report.bounded import Bars, ThinnedLine, evenly
from kafkawire.report.contents import Cluster, Commits, Committed, LogEnd, Numbers
from kafkawire.report.counting import CountOverTime, HoldersOverTime
from kafkawire.report.log_ends import Partition

COMMIT_COLUMNS: Final = (
    *("cluster", "group_id", "topic", "partition", "committed_offset", "commit_time", "append_time", "txn_outcome"),
    *("tombstone", "valid_from", "valid_to"),
)
_BARS: Final = 160
_POINTS: Final = 24
_FEWEST_POINTS: Final = 4
_POINTS_OF_ALL: Final = 100_000
_NEVER_HELD: Final = ("aborted", "open")
_NO_END: Final = LogEnd()


class _Key(NamedTuple):
    cluster: Cluster
    group: str
    topic: str
    partition: int


@dataclass
class _Line:
    """The commits of a key since its first."""

    offset: int
    time: int | None = None
    began: int | None = None
    points: ThinnedLine = field(default_factory=lambda: ThinnedLine(_POINTS))


class _Entry(NamedTuple):
    key: _Key
    line: _Line
    deleted: int | None


class CommitFold:
    """Takes rows in the order of their log. The number of groups' partitions and the limit bound its memory.

    Args:
        limit: the maximum number of deleted offsets of each cluster on a page; existing ones are all on it.
        points: the approximate maximum number of points of all lines together.

    Attributes:
        first, last: times of the first and the last commit; None if unknown.
    """

    def __init__(self, limit: int, points: int = _POINTS_OF_ALL) -> None:
        self.first: int | None = None
        self.last: int | None = None
        self._points = points
        self._clusters: dict[Cluster, _OfCluster] = defaultdict(lambda: _OfCluster(limit))

    def add(self, row: Mapping[str, object]) -> None:
        """Add one row of ``offset_commits``."""
        match row:
            case {"group_id": str(group), "topic": str(topic), "partition": int(partition)}:
                cluster = row["cluster"]
                key = _Key(cluster if isinstance(cluster, str) else None, group, topic, partition)
            case _:
                return
        times = (row["valid_from"], row["commit_time"], row["append_time"])
        time = next((time for time in times if isinstance(time, int)), None)
        offset = row["committed_offset"]
        if row["tombstone"]:
            self._clusters[key.cluster].delete(key, time)
        elif isinstance(offset, int) and row["txn_outcome"] not in _NEVER_HELD:
            self._clusters[key.cluster].commit(key, offset, time)
            if time is not None:
                self.first = time if self.first is None else min(self.first, time)
                self.last = time if self.last is None else max(self.last, time)

    def commits(self, ends: Mapping[Partition, LogEnd]) -> Commits:
        """The offsets of each cluster, the latest deleted ones if there are too many, and numbers of all.

        Call it once, after the last row.

        Args:
            ends: where the logs of partitions end.
        """
        chosen = {cluster: own.chosen() for cluster, own in self._clusters.items()}
        entries = [entry for own in chosen.values() for entry in own]
        most = max(_FEWEST_POINTS, self._points // max(1, len(entries)))
        return Commits(
            latest=[
                _committed(entry, ends.get(Partition(entry.key.cluster, entry.key.topic, entry.key.partition)), most)
                for entry in entries
            ],
            numbers={cluster: own.numbers(chosen[cluster]) for cluster, own in self._clusters.items()},
            times={cluster: own.bars.bars for cluster, own in self._clusters.items()},
        )


class _OfCluster:
    """The offsets of one cluster: the committed ones, and the latest deleted ones."""

    def __init__(self, limit: int) -> None:
        self.bars = Bars(_BARS)
        self._limit = limit
        self._latest: dict[_Key, _Line] = {}
        self._deleted: list[tuple[int, int, _Entry]] = []
        self._deletions = 0
        self._forgotten_until: int | None = None
        self._holding = CountOverTime()
        self._groups = HoldersOverTime()

    def commit(self, key: _Key, offset: int, time: int | None) -> None:
        """An offset was committed."""
        line = self._latest.get(key)
        if line is None:
            line = self._latest[key] = _Line(offset)
        line.offset, line.time = offset, time
        if time is not None:
            line.began = time if line.began is None else min(line.began, time)
            line.points.add(time, offset)
            self.bars.add(time)

    def delete(self, key: _Key, time: int | None) -> None:
        """Delete a commit; the latest deleted ones are kept."""
        line = self._latest.pop(key, None)
        if line is None or time is None:
            return
        self._holding.add(line.began, time)
        self._groups.add(key.group, line.began, time)
        heapq.heappush(self._deleted, (time, self._deletions, _Entry(key, line, time)))
        self._deletions += 1
        if len(self._deleted) > self._limit:
            self._forgotten_until, *_ = heapq.heappop(self._deleted)

    def chosen(self) -> Sequence[_Entry]:
        """The offsets on the page: existing ones first, then the latest deleted ones."""
        entries = [
            *(_Entry(key, line, None) for key, line in self._latest.items()),
            *(entry for *_, entry in self._deleted),
        ]
        entries.sort(key=lambda entry: (entry.deleted is None, entry.deleted or entry.line.time or 0), reverse=True)
        return entries

    def numbers(self, chosen: Sequence[_Entry]) -> Numbers:
        """Numbers of all offsets. Call it once, because it counts the existing ones."""
        for key, line in self._latest.items():
            self._holding.add(line.began, None)
            self._groups.add(key.group, line.began, None)
        return Numbers(
            rows=len(self._latest) + self._deletions,
            shown=len(chosen),
            ended=self._deletions,
            complete_from=self._forgotten_until,
            holding={"": self._holding.count()},
            holders=self._groups.count(),
        )


def _committed(entry: _Entry, end: LogEnd | None, most_points: int) -> Committed:
    key, line, deleted = entry
    all_points = line.points.points
    points = evenly(all_points, most_points)
    return Committed(
        *key,
        offset=line.offset,
        time=line.time,
        began=line.began,
        points=points,
        has_all_points=line.points.is_complete and len(points) == len(all_points),
        deleted=deleted,
        end=end or _NO_END,
    )
