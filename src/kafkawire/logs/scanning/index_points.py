"""The sparse index that Kafka keeps beside a segment: ``.index``, offsets and the positions of their batches."""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.files.store import FileStore, OpenFile
from kafkawire.wire.batches.batch import HEADER_SIZE, whole_batch
from kafkawire.wire.batches.framing import LENGTH_COUNTS_FROM, NEWEST_MAGIC

__all__ = ["IndexPoints", "points_of", "times_of"]

_ENTRY: Final = struct.Struct(">ii")
_TIME_ENTRY: Final = struct.Struct(">qi")
_TIME_ENTRIES_AT_ONCE: Final = 4096
_LARGEST_INDEX: Final = 64 * 1024 * 1024
_BLOCK: Final = 1024 * 1024
_FRAME: Final = struct.Struct(">qiib")
_MOST_READINGS: Final = 2
"""How often all of a file may be read to see which entries are right. Batches do not overlap, so no more is needed."""


class IndexPoints:
    """The entries of an index, by position. They are hints: the file may be stale, or of another segment."""

    def __init__(self, base_offset: int, offsets: list[int], positions: list[int]) -> None:
        self._base_offset = base_offset
        self._offsets = offsets
        self._positions = positions
        self._octets_read = 0

    def after(self, position: int) -> Iterator[tuple[int, int]]:
        """Position and offset of each entry whose position lies behind another, in order."""
        for index in range(bisect_right(self._positions, position), len(self._positions)):
            yield self._positions[index], self._base_offset + self._offsets[index]

    def before_offset(self, offset: int) -> Iterator[tuple[int, int]]:
        """Position and offset of each entry of a lower offset, the last first."""
        for index in reversed(range(bisect_left(self._offsets, offset - self._base_offset))):
            yield self._positions[index], self._base_offset + self._offsets[index]

    def from_offset(self, offset: int) -> Iterator[tuple[int, int]]:
        """Position and offset of each entry of an offset or a higher one, in order."""
        for index in range(bisect_left(self._offsets, offset - self._base_offset), len(self._offsets)):
            yield self._positions[index], self._base_offset + self._offsets[index]

    def sound(self, file: OpenFile, entries: Iterable[tuple[int, int]], largest: int) -> Iterator[int]:
        """The positions of those entries at which a batch with a right CRC begins that the entry can mean.

        Args:
            file: the segment.
            entries: positions and offsets.
            largest: the largest batch that is believed.
        """
        file_size = file.stamp().size
        for position, offset in entries:
            size = _stated_size(file, position, offset)
            if not HEADER_SIZE <= size <= min(largest, file_size - position):
                continue
            self._octets_read += size
            if self._octets_read > _MOST_READINGS * file_size:
                return
            octets = file.read_at(position, size)
            if len(octets) == size and whole_batch(octets, 0, size, position).crc_is_valid:
                yield position


def points_of(file: LogFile, store: FileStore) -> IndexPoints:
    """The index beside a segment; without entries if there is none or it cannot be read."""
    offsets: list[int] = []
    positions: list[int] = []
    if file.kind is FileKind.SEGMENT and file.path.endswith(".log"):
        try:
            with store.open(f"{file.path.removesuffix('.log')}.index") as index:
                _read_entries(index, offsets, positions)
        except OSError:
            pass
    return IndexPoints(file.base_offset, offsets, positions)


def times_of(file: LogFile, store: FileStore) -> Iterator[tuple[int, int]]:
    """The entries of the time index beside a segment: times, and the offsets at which they were reached.

    An active index ends with zeros, megabytes that are allocated ahead.
    """
    size, position = _TIME_ENTRIES_AT_ONCE * _TIME_ENTRY.size, 0
    try:
        with store.open(f"{file.path.removesuffix('.log')}.timeindex") as index:
            while block := index.read_at(position, size):
                for time, offset in _TIME_ENTRY.iter_unpack(block[: len(block) // _TIME_ENTRY.size * _TIME_ENTRY.size]):
                    if time <= 0 and offset <= 0:
                        return
                    yield time, file.base_offset + offset
                position += size
    except OSError:
        return


def _stated_size(file: OpenFile, position: int, offset: int) -> int:
    """The size of a batch at a position, or 0 if there is none that can have the offset."""
    frame = file.read_at(position, _FRAME.size)
    if len(frame) < _FRAME.size:
        return 0
    base_offset, length, _, magic = _FRAME.unpack(frame)
    return 0 if magic != NEWEST_MAGIC or base_offset > offset else length + LENGTH_COUNTS_FROM


def _read_entries(index: OpenFile, offsets: list[int], positions: list[int]) -> None:
    """Up to the zeros of a file that was allocated ahead, or to the first entry out of order."""
    last, last_offset = 0, -1
    for start in range(0, _LARGEST_INDEX, _BLOCK):
        block = index.read_at(start, _BLOCK)
        for offset, position in _ENTRY.iter_unpack(block[: len(block) // _ENTRY.size * _ENTRY.size]):
            if position <= last or offset <= last_offset:
                if position or offsets or not offset:
                    return
                continue  # an entry of the first batch, which needs none
            offsets.append(offset)
            positions.append(position)
            last, last_offset = position, offset
        if len(block) < _BLOCK:
            return
