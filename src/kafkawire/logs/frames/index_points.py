"""The sparse indexes that Kafka keeps beside a segment: ``.index`` by offset, ``.timeindex`` by time."""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.files.store import FileStore, OpenFile
from kafkawire.wire.batches.batch import whole_batch
from kafkawire.wire.batches.framing import BATCH_MAGIC, FRAME, FRAME_SIZE, entry_size

_ENTRY: Final = struct.Struct(">ii")
"""Offset, less the base offset of the segment, and position."""
_TIME_ENTRY: Final = struct.Struct(">qi")
"""Time, and offset less the base offset of the segment."""
_LARGEST_INDEX: Final = 64 * 1024 * 1024
_ENTRIES_AT_ONCE: Final = 128 * 1024
_MOST_READINGS: Final = 2
"""How many times the size of a file is read to check entries. Batches do not overlap, so no more is needed."""


class IndexPoints:
    """The entries of an index, by position. They are hints: an index can be stale, or belong to another segment."""

    def __init__(self, base_offset: int, offsets: list[int], positions: list[int]) -> None:
        self._base_offset = base_offset
        self._offsets = offsets
        self._positions = positions
        self._octets_read = 0

    def after(self, position: int) -> Iterator[tuple[int, int]]:
        """Position and offset of each entry after a position, in order."""
        for index in range(bisect_right(self._positions, position), len(self._positions)):
            yield self._positions[index], self._base_offset + self._offsets[index]

    def before_offset(self, offset: int) -> Iterator[tuple[int, int]]:
        """Position and offset of each entry with a lower offset, the last one first."""
        for index in reversed(range(bisect_left(self._offsets, offset - self._base_offset))):
            yield self._positions[index], self._base_offset + self._offsets[index]

    def from_offset(self, offset: int) -> Iterator[tuple[int, int]]:
        """Position and offset of each entry with this offset or a higher one, in order."""
        for index in range(bisect_left(self._offsets, offset - self._base_offset), len(self._offsets)):
            yield self._positions[index], self._base_offset + self._offsets[index]

    def sound(self, file: OpenFile, entries: Iterable[tuple[int, int]], largest: int) -> Iterator[int]:
        """The positions of the entries where a batch with a right CRC and a fitting offset begins.

        Args:
            file: the segment.
            entries: positions and offsets.
            largest: the largest accepted batch.
        """
        file_size = file.stamp().size
        for position, offset in entries:
            size = _stated_size(file, position, offset, min(largest, file_size - position))
            if not size:
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
    last, last_offset = 0, -1
    for offset, position in _entries(file, ".index", _ENTRY, store):
        if position <= last or offset <= last_offset:
            if position or offsets or not offset:
                break  # zeros, which Kafka allocates ahead, or an entry out of order
            continue  # an entry of the first batch, which needs none
        offsets.append(offset)
        positions.append(position)
        last, last_offset = position, offset
    return IndexPoints(file.base_offset, offsets, positions)


def indexed_times(file: LogFile, store: FileStore) -> Iterator[tuple[int, int]]:
    """Times from the ``.timeindex`` beside a segment, and the offset of the record that each time is from."""
    for time, offset in _entries(file, ".timeindex", _TIME_ENTRY, store):
        if time <= 0 and offset <= 0:
            return
        yield time, file.base_offset + offset


def _entries(file: LogFile, suffix: str, entry: struct.Struct, store: FileStore) -> Iterator[tuple[int, int]]:
    if file.kind is not FileKind.SEGMENT or not file.path.endswith(".log"):
        return
    block_size = _ENTRIES_AT_ONCE * entry.size
    try:
        with store.open(f"{file.path.removesuffix('.log')}{suffix}") as index:
            for start in range(0, _LARGEST_INDEX, block_size):
                block = index.read_at(start, block_size)
                yield from entry.iter_unpack(block[: len(block) // entry.size * entry.size])
                if len(block) < block_size:
                    return
    except OSError:
        return


def _stated_size(file: OpenFile, position: int, offset: int, largest: int) -> int:
    """The size of a batch at a position; 0 if no batch begins there, it is too large, or it begins after the offset."""
    frame = file.read_at(position, FRAME_SIZE)
    if len(frame) < FRAME_SIZE:
        return 0
    base_offset, length, magic = FRAME.unpack(frame)
    return 0 if magic != BATCH_MAGIC or base_offset > offset else entry_size(length, magic, largest)
