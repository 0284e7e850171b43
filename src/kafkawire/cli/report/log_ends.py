"""Where the logs of partitions end: the headers of the last segment's batches, from its last index entry on.

Where they ended at earlier times is in the time indexes beside the segments, an entry for every few kilobytes.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kafkawire.cli.report.bounded import ThinnedLine
from kafkawire.cli.report.contents import LogEnd
from kafkawire.logs import FileKind, LogFile

__all__ = ["Partition", "log_ends", "offset_after"]

_HEADER: Final = struct.Struct(">qi11xi8xq")
"""Base offset, length, how far the last offset is from the base (behind epoch, magic, CRC, attributes), latest time."""

_INDEX_ENTRY: Final = struct.Struct(">ii")
_TIME_INDEX_ENTRY: Final = struct.Struct(">qi")
_LENGTH_COUNTS_FROM: Final = 12
_SMALLEST_LENGTH: Final = 49
_POINTS: Final = 24
_ENTRIES_AT_ONCE: Final = 1024


class _Header(NamedTuple):
    base_offset: int
    length: int
    last_distance: int
    time: int


class Partition(NamedTuple):
    """A partition of a cluster, which has a name only if there is a ``meta.properties``."""

    cluster: str | None
    topic: str
    number: int


def log_ends(files: Iterable[LogFile]) -> dict[Partition, LogEnd]:
    """The offset after the last record of each partition whose segments are among local files.

    A batch that is not whole ends the log. Files that cannot be read have no end. Of the copies of several brokers the
    one that goes furthest counts.
    """
    folders: dict[str, list[LogFile]] = defaultdict(list)
    for file in files:
        if file.kind is FileKind.SEGMENT and file.topic is not None:
            folders[file.folder].append(file)
    ends: dict[Partition, LogEnd] = {}
    for segments in folders.values():
        topic, _, number = segments[0].log.rpartition("-")
        try:
            partition = Partition(segments[0].cluster, topic, int(number))
            end = _end_of(sorted(segments, key=lambda file: file.base_offset))
        except (OSError, ValueError):
            continue
        ends[partition] = max(ends.get(partition, end), end, key=lambda each: each.offset or 0)
    return ends


def offset_after(segment: Path, base_offset: int) -> int:
    """The offset after the last whole batch of a segment.

    Raises:
        OSError: it cannot be read.
    """
    return _last_batch(segment, base_offset)[0]


def _end_of(segments: Sequence[LogFile]) -> LogEnd:
    line = ThinnedLine(_POINTS)
    for segment in segments:
        for time, offset in _indexed_times(Path(segment.path), segment.base_offset):
            line.add(time, offset + 1)
    end, last_time = _last_batch(Path(segments[-1].path), segments[-1].base_offset)
    if last_time is not None:
        line.add(last_time, end)
    return LogEnd(end, line.points)


def _indexed_times(segment: Path, base_offset: int) -> Iterator[tuple[int, int]]:
    """The times of a segment, and the offsets at which they were reached."""
    for time, distance in _entries(segment.with_suffix(".timeindex"), _TIME_INDEX_ENTRY):
        yield time, base_offset + distance


def _last_batch(segment: Path, base_offset: int) -> tuple[int, int | None]:
    """The offset after the last whole batch, and the latest time of that batch."""
    end, time = base_offset, None
    size = segment.stat().st_size
    with segment.open("rb") as stream:
        position = _last_entry(segment.with_suffix(".index"), size)
        while position + _HEADER.size <= size:
            stream.seek(position)
            header = _Header(*_HEADER.unpack(stream.read(_HEADER.size)))
            position += _LENGTH_COUNTS_FROM + header.length
            if header.length < _SMALLEST_LENGTH or position > size or header.base_offset < end:
                break
            end, time = header.base_offset + header.last_distance + 1, header.time if header.time > 0 else None
    return end, time


def _last_entry(index: Path, size: int) -> int:
    """The position that the last entry tells."""
    position = 0
    for _, found in _entries(index, _INDEX_ENTRY):
        if position < found < size:
            position = found
    return position


def _entries(index: Path, entry: struct.Struct) -> Iterator[tuple[int, int]]:
    """The entries of an index; none if it is not there. An active one ends with zeros, megabytes allocated ahead."""
    try:
        with index.open("rb") as stream:
            while content := stream.read(_ENTRIES_AT_ONCE * entry.size):
                for first, second in entry.iter_unpack(content[: len(content) // entry.size * entry.size]):
                    if first <= 0 and second <= 0:
                        return
                    yield first, second
    except FileNotFoundError:
        return
