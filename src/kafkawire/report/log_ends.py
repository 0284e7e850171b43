"""The end offsets of partitions: after the last whole batch of the last segment.

Earlier end offsets are in the time indexes beside the segments, an entry for every few kilobytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from kafkawire.logs import FileStore, LogFile
from kafkawire.logs.files.log_files import segments_of
from kafkawire.logs.frames.index_points import indexed_times
from kafkawire.logs.frames.segment_ends import end_of_segment
from kafkawire.logs.planning import FoundLogs
from kafkawire.report.bounded import ThinnedLine
from kafkawire.report.contents import LogEnd

_POINTS: Final = 24


class Partition(NamedTuple):
    """A partition of a cluster, which has a name only if there is a ``meta.properties``."""

    cluster: str | None
    topic: str
    number: int


def log_ends(logs: FoundLogs) -> dict[Partition, LogEnd]:
    """The offset after the last record of each partition whose segments are among the files.

    An incomplete batch ends the log. Files that cannot be read have no end. Of the copies of several brokers the one
    with the highest end counts.
    """
    folders: dict[str, list[LogFile]] = defaultdict(list)
    for file in logs.files:
        if file.topic is not None:
            folders[file.folder].append(file)
    ends: dict[Partition, LogEnd] = {}
    for segments in filter(None, map(segments_of, folders.values())):
        topic, _, number = segments[0].log.rpartition("-")
        try:
            partition = Partition(segments[0].cluster, topic, int(number))
            end = _end_of(segments, logs.store)
        except (OSError, ValueError):
            continue
        ends[partition] = max(ends.get(partition, end), end, key=lambda each: each.offset or 0)
    return ends


def _end_of(segments: Sequence[LogFile], store: FileStore) -> LogEnd:
    line = ThinnedLine(_POINTS)
    for segment in segments:
        for time, offset in indexed_times(segment, store):
            line.add(time, offset + 1)
    end, last_time = end_of_segment(segments[-1], store)
    if last_time is not None:
        line.add(last_time, end)
    return LogEnd(end, line.points)
