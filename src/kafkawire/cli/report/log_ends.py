"""Where the logs of partitions end: the headers of the last segment's batches, from its last index entry on."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Final

from kafkawire.logs import FileKind, LogFile

__all__ = ["log_ends"]

_HEADER: Final = struct.Struct(">qi11xi")
"""Base offset, length and, behind epoch, magic, CRC and attributes, how far the last offset is from the base."""

_INDEX_ENTRY: Final = struct.Struct(">ii")
_LENGTH_COUNTS_FROM: Final = 12
_SMALLEST_LENGTH: Final = 49


def log_ends(files: Iterable[LogFile]) -> dict[tuple[str, int], int]:
    """The offset after the last record of each partition whose segments are among local files.

    A batch that is not whole ends the log. Files that cannot be read have no end.
    """
    last = {file.log: file for file in files if file.kind is FileKind.SEGMENT and file.topic is not None}
    ends: dict[tuple[str, int], int] = {}
    for log, file in last.items():
        topic, _, partition = log.rpartition("-")
        try:
            ends[topic, int(partition)] = _end_of(Path(file.path), file.base_offset)
        except (OSError, ValueError):
            continue
    return ends


def _end_of(segment: Path, base_offset: int) -> int:
    end = base_offset
    size = segment.stat().st_size
    with segment.open("rb") as stream:
        position = _last_entry(segment.with_suffix(".index"), size)
        while position + _HEADER.size <= size:
            first, length, last_distance = _header(stream, position)
            position += _LENGTH_COUNTS_FROM + length
            if length < _SMALLEST_LENGTH or position > size or first < end:
                break
            end = first + last_distance + 1
    return end


def _header(stream: BinaryIO, position: int) -> tuple[int, int, int]:
    stream.seek(position)
    first, length, last_distance = _HEADER.unpack(stream.read(_HEADER.size))
    return int(first), int(length), int(last_distance)


def _last_entry(index: Path, size: int) -> int:
    """The position that the last entry tells; an active index ends with zeros that were allocated ahead."""
    position = 0
    try:
        entries = index.read_bytes()
    except OSError:
        return position
    for _, found in _INDEX_ENTRY.iter_unpack(entries[: len(entries) // _INDEX_ENTRY.size * _INDEX_ENTRY.size]):
        if position < found < size:
            position = found
    return position
