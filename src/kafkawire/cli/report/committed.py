"""The offsets that each group committed for each partition, now and over time, folded from ``offset_commits``."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final, NamedTuple

from kafkawire.cli.report.bounded import Bars, ThinnedLine, evenly
from kafkawire.cli.report.contents import Committed, LogEnd
from kafkawire.cli.report.log_ends import Partition

__all__ = ["COMMIT_COLUMNS", "CommitFold"]

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
    cluster: str | None
    group: str
    topic: str
    partition: int


@dataclass
class _Line:
    offset: int
    time: int | None = None
    points: ThinnedLine = field(default_factory=lambda: ThinnedLine(_POINTS))


class CommitFold:
    """Takes rows in the order of their log. Memory is bounded by the groups' partitions and the limit.

    Args:
        limit: how many offsets a page may have.
        points: how many points the lines of all of them may have together, about.

    Attributes:
        bars: how many commits there were when.
        first, last: when the first and the last of them were; None if nobody knows.
    """

    def __init__(self, limit: int, points: int = _POINTS_OF_ALL) -> None:
        self.bars = Bars(_BARS)
        self.first: int | None = None
        self.last: int | None = None
        self._limit = limit
        self._points = points
        self._latest: dict[_Key, _Line] = {}
        self._deleted: list[tuple[int, int, _Key, _Line]] = []
        self._deletions = count()
        self._forgotten = 0

    def add(self, row: Mapping[str, object]) -> None:
        """Take one row of ``offset_commits``."""
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
            self._delete(key, time)
        elif isinstance(offset, int) and row["txn_outcome"] not in _NEVER_HELD:
            self._commit(key, offset, time)

    def _commit(self, key: _Key, offset: int, time: int | None) -> None:
        line = self._latest.get(key)
        if line is None:
            line = self._latest[key] = _Line(offset)
        line.offset, line.time = offset, time
        if time is not None:
            line.points.add(time, offset)
            self.bars.add(time)
            self.first = time if self.first is None else min(self.first, time)
            self.last = time if self.last is None else max(self.last, time)

    def _delete(self, key: _Key, time: int | None) -> None:
        """Remember what was committed up to a time: of all that was deleted, the newest."""
        line = self._latest.pop(key, None)
        if line is None or time is None:
            return
        heapq.heappush(self._deleted, (time, next(self._deletions), key, line))
        if len(self._deleted) > self._limit:
            heapq.heappop(self._deleted)
            self._forgotten += 1

    def committed(self, ends: Mapping[Partition, LogEnd]) -> tuple[Sequence[Committed], int]:
        """The offsets, those that were committed last if there are too many; and how many are left out.

        Args:
            ends: where the logs of partitions end.
        """
        entries = [
            *((key, line, None) for key, line in self._latest.items()),
            *((key, line, deleted) for deleted, _, key, line in self._deleted),
        ]
        entries.sort(key=lambda entry: (entry[2] is None, entry[1].time or 0), reverse=True)
        chosen = entries[: self._limit]
        most = max(_FEWEST_POINTS, self._points // max(1, len(chosen)))
        shown = [
            _committed(key, line, deleted, ends.get(Partition(key.cluster, key.topic, key.partition), _NO_END), most)
            for key, line, deleted in chosen
        ]
        return shown, len(entries) - len(shown) + self._forgotten


def _committed(key: _Key, line: _Line, deleted: int | None, end: LogEnd, most_points: int) -> Committed:
    all_points = line.points.points
    points = evenly(all_points, most_points)
    return Committed(
        *key,
        offset=line.offset,
        time=line.time,
        points=points,
        has_all_points=line.points.is_complete and len(points) == len(all_points),
        deleted=deleted,
        end=end,
    )
