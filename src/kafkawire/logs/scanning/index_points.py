"""The sparse index that Kafka keeps beside a segment: ``.index``, offsets and the positions of their batches."""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final

import crc32c

from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.files.store import FileStore, OpenFile

__all__ = ["IndexPoints", "points_of", "sound_batch_at"]

_ENTRY: Final = struct.Struct(">ii")
_LARGEST_INDEX: Final = 64 * 1024 * 1024
_BLOCK: Final = 1024 * 1024
_HEADER: Final = struct.Struct(">qiibIhi")
_HEADER_SIZE: Final = 61
_SMALLEST_LENGTH: Final = 49
_LENGTH_COUNTS_FROM: Final = 12
_CRC_STARTS: Final = 21
_MAGIC: Final = 2


class IndexPoints:
    """The entries of an index, by position. They are hints: the file may be stale, or of another segment."""

    def __init__(self, base_offset: int, offsets: list[int], positions: list[int]) -> None:
        self._base_offset = base_offset
        self._offsets = offsets
        self._positions = positions

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


def sound_batch_at(file: OpenFile, position: int, offset: int, largest: int) -> bool:
    """Whether a batch with a right CRC begins at a position and can be the one that an entry with an offset means."""
    header = file.read_at(position, _HEADER_SIZE)
    if len(header) < _HEADER_SIZE:
        return False
    base_offset, length, _, magic, crc, _, _ = _HEADER.unpack_from(header)
    size = length + _LENGTH_COUNTS_FROM
    if magic != _MAGIC or length < _SMALLEST_LENGTH or size > largest or base_offset > offset:
        return False
    rest = file.read_at(position + _HEADER_SIZE, size - _HEADER_SIZE)
    computed = crc32c.crc32c(rest, crc32c.crc32c(header[_CRC_STARTS:]))
    return len(rest) == size - _HEADER_SIZE and bool(crc == computed)


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
