"""From batch to batch by their lengths, without decoding them."""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import crc32c

from kafkawire.logs import FileStore, LogFile
from kafkawire.logs.files.store import FileStamp
from kafkawire.logs.scanning.windows import Window

__all__ = ["Hop", "hops"]

_HEADER: Final = struct.Struct(">qiibIhi")
_LENGTH_COUNTS_FROM: Final = 12
_CRC_STARTS: Final = 21
_SMALLEST_LENGTH: Final = 14
_MAGIC: Final = 2


@dataclass(frozen=True, slots=True)
class Hop:
    """A stretch of a file: one batch, or the bytes behind the last batch that can be told.

    Attributes:
        start, end: where in the file.
        next_offset: the offset after its last, or None where it is not known for sure.
    """

    start: int
    end: int
    next_offset: int | None


def hops(file: LogFile, start: int, store: FileStore, *, max_frame_bytes: int, closed: bool) -> Iterator[Hop]:
    """The batches of a file from a position on.

    Of an active segment the last batch may be incomplete, or be zeros still: it is left for later. What is not a batch
    at all ends the file, for then nothing tells where the next one begins.

    Args:
        file: the file; its size says how far to go.
        start: where a batch begins, or the end.
        store: where it is.
        max_frame_bytes: the largest batch that is believed.
        closed: whether nothing will be appended any more: then an incomplete batch is a hop too.

    Raises:
        OSError: the file cannot be read.
        FileChangedError: it was cut off meanwhile.
    """
    with store.open(file.path) as opened:
        window = Window(opened, FileStamp(file.size, file.modified))
        position = start
        while isinstance(size := _size(window, position, max_frame_bytes), int):
            yield Hop(position, position + size, _next_offset(window, position, size))
            position += size
    if position < file.size and (closed or size is _Rest.NO_BATCH):
        yield Hop(position, file.size, None)


class _Rest(enum.Enum):
    """What is at a position where no whole batch is."""

    INCOMPLETE = enum.auto()
    NO_BATCH = enum.auto()


def _size(window: Window, position: int, max_frame_bytes: int) -> int | _Rest:
    """The size of the batch at a position, or why there is none."""
    if not window.cover(position, _HEADER.size):
        return _Rest.INCOMPLETE
    offset, length, *_ = _HEADER.unpack_from(window.data, position - window.start)
    if offset == length == 0:
        return _Rest.INCOMPLETE  # zeros, where Kafka has allocated the segment ahead
    if not _SMALLEST_LENGTH <= length <= max_frame_bytes:
        return _Rest.NO_BATCH
    size: int = _LENGTH_COUNTS_FROM + length
    return size if window.cover(position, size) else _Rest.INCOMPLETE


def _next_offset(window: Window, position: int, size: int) -> int | None:
    """The offset after a batch; a batch whose CRC is wrong may state any."""
    at = position - window.start
    offset, _, _, magic, crc, _, last_delta = _HEADER.unpack_from(window.data, at)
    if magic != _MAGIC or crc32c.crc32c(memoryview(window.data)[at + _CRC_STARTS : at + size]) != crc:
        return None
    following: int = offset + last_delta + 1
    return following
