"""From batch to batch by their lengths, without decoding them."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import NamedTuple

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStamp, FileStore
from kafkawire.logs.frames.windows import Window
from kafkawire.wire.batches.batch import whole_batch
from kafkawire.wire.batches.framing import BATCH_MAGIC, FRAME, FRAME_SIZE, MAGIC_OFFSET, batch_crc, entry_size


class Hop(NamedTuple):
    """A stretch of a file: one batch, or the bytes after the last batch that can be read.

    Attributes:
        start, end: where in the file.
        first_offset: its first, or None if it is not certain.
        next_offset: the offset after its last, or None in the same cases.
        cut_off: whether the file ends inside a batch there.
    """

    start: int
    end: int
    first_offset: int | None = None
    next_offset: int | None = None
    cut_off: bool = False


def hops(
    file: LogFile, start: int, store: FileStore, *, max_frame_bytes: int, closed: bool, offsets: bool = True
) -> Iterator[Hop]:
    """The batches of a file from a position on.

    The last batch of an active segment may be incomplete, or still be zeros: it is left for later. Other bytes that are
    not a batch end the file, because the start of the next batch is then unknown.

    Args:
        file: the file; batches are read up to its size.
        start: where a batch begins, or the end.
        store: where it is.
        max_frame_bytes: the largest batch; a larger length is damage.
        closed: whether nothing more will be appended: then an incomplete batch is a hop too.
        offsets: whether to determine them, which needs the checksum of each batch.

    Raises:
        OSError: the file cannot be read.
        FileChangedError: it was truncated meanwhile.
    """
    with store.open(file.path) as opened:
        window = Window(opened, FileStamp(file.size, file.modified))
        position = start
        while isinstance(size := _size(window, position, max_frame_bytes), int):
            yield _batch(window, position, size) if offsets else Hop(position, position + size)
            position += size
    if position < file.size and (closed or size is _Rest.NO_BATCH):
        yield Hop(position, file.size, cut_off=size is _Rest.INCOMPLETE)


class _Rest(enum.Enum):
    """Why there is no complete batch at a position."""

    INCOMPLETE = enum.auto()
    NO_BATCH = enum.auto()


def _size(window: Window, position: int, max_frame_bytes: int) -> int | _Rest:
    """The size of the batch at a position, or why there is none."""
    if not window.cover(position, FRAME_SIZE):
        return _Rest.INCOMPLETE
    offset, length, magic = FRAME.unpack_from(window.data, position - window.start)
    if offset == length == 0:
        return _Rest.INCOMPLETE  # zeros, where Kafka has allocated the segment ahead
    size = entry_size(length, magic, max_frame_bytes)
    if not size:
        return _Rest.NO_BATCH
    return size if window.cover(position, size) else _Rest.INCOMPLETE


def _batch(window: Window, position: int, size: int) -> Hop:
    """A batch, without offsets if its CRC is wrong or its format is old."""
    at = position - window.start
    if window.data[at + MAGIC_OFFSET] == BATCH_MAGIC:
        batch = whole_batch(window.data, at, size, position)
        if batch.crc == batch_crc(window.view, at, size):
            return Hop(position, position + size, batch.base_offset, batch.last_offset + 1)
    return Hop(position, position + size)
