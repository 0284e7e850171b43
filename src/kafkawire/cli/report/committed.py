"""The latest offset that each group committed for each partition, folded from ``offset_commits``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kafkawire.cli.report.bounded import Bars, ThinnedLine
from kafkawire.cli.report.contents import Committed

__all__ = ["COMMIT_COLUMNS", "CommitFold"]

COMMIT_COLUMNS: Final = (
    *("cluster", "group_id", "topic", "partition", "committed_offset", "commit_time", "append_time", "txn_outcome"),
    *("tombstone", "valid_to"),
)
_BARS: Final = 160
_POINTS: Final = 24
_NEVER_HELD: Final = ("aborted", "open")


class _Key(NamedTuple):
    cluster: str | None
    group: str
    topic: str
    partition: int


@dataclass
class _Latest:
    offset: int
    time: int | None
    line: ThinnedLine


class CommitFold:
    """Takes rows in the order of their log. Memory is bounded by the groups' partitions.

    Attributes:
        bars: how many commits there were when.
        first, last: when the first and the last of them were; None if nobody knows.
    """

    def __init__(self) -> None:
        self.bars = Bars(_BARS)
        self.first: int | None = None
        self.last: int | None = None
        self._latest: dict[_Key, _Latest] = {}

    def add(self, row: Mapping[str, object]) -> None:
        """Take one row of ``offset_commits``."""
        match row:
            case {"group_id": str(group), "topic": str(topic), "partition": int(partition)}:
                cluster = row["cluster"]
                key = _Key(cluster if isinstance(cluster, str) else None, group, topic, partition)
            case _:
                return
        if row["tombstone"]:
            self._latest.pop(key, None)
            return
        offset = row["committed_offset"]
        if not isinstance(offset, int) or row["txn_outcome"] in _NEVER_HELD:
            return
        self._take(
            key,
            offset,
            next((time for time in (row["commit_time"], row["append_time"]) if isinstance(time, int)), None),
        )

    def _take(self, key: _Key, offset: int, time: int | None) -> None:
        latest = self._latest.get(key)
        if latest is None:
            latest = self._latest[key] = _Latest(offset, time, ThinnedLine(_POINTS))
        latest.offset, latest.time = offset, time
        if time is not None:
            latest.line.add(time, offset)
            self.bars.add(time)
            self.first = time if self.first is None else min(self.first, time)
            self.last = time if self.last is None else max(self.last, time)

    def committed(self, limit: int, ends: Mapping[tuple[str, int], int]) -> tuple[Sequence[Committed], int]:
        """The offsets, those that were committed last if there are more than a limit; and how many are left out.

        Args:
            limit: how many there may be.
            ends: where the logs of partitions end.
        """
        entries = sorted(self._latest.items(), key=lambda entry: entry[1].time or 0, reverse=True)
        shown = [
            Committed(*key, latest.offset, latest.time, ends.get((key.topic, key.partition)), latest.line.points)
            for key, latest in entries[:limit]
        ]
        return shown, len(entries) - len(shown)
