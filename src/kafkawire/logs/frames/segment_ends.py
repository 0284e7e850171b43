"""The end of a segment, from the headers of the batches after the last entry of its index."""

from __future__ import annotations

from typing import Final, NamedTuple

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStamp, FileStore
from kafkawire.logs.frames.index_points import points_of
from kafkawire.logs.frames.windows import FileChangedError, Window
from kafkawire.wire.batches.batch import whole_batch
from kafkawire.wire.batches.framing import BATCH_MAGIC, FRAME, HEADER_SIZE, entry_size

_HIGHEST_OFFSET: Final = 1 << 63


class SegmentEnd(NamedTuple):
    """The end of a segment.

    Attributes:
        offset: the one after the last whole batch.
        time: the latest time in that batch, in milliseconds since the epoch; None if the batch has no time.
    """

    offset: int
    time: int | None


def end_of_segment(segment: LogFile, store: FileStore) -> SegmentEnd:
    """Where the last whole batch of a segment ends.

    Raises:
        OSError: the segment cannot be read.
    """
    end = SegmentEnd(segment.base_offset, None)
    with store.open(segment.path) as opened:
        stamp = opened.stamp()
        points = points_of(segment, store)
        position = next(points.sound(opened, points.before_offset(_HIGHEST_OFFSET), stamp.size), 0)
        window = Window(opened, FileStamp(stamp.size, stamp.modified))
        try:
            while window.cover(position, HEADER_SIZE):
                at = position - window.start
                _, length, magic = FRAME.unpack_from(window.data, at)
                size = entry_size(length, magic, stamp.size - position)
                header = whole_batch(window.data, at, HEADER_SIZE, position)
                if magic != BATCH_MAGIC or not size or header.base_offset < end.offset:
                    break
                end = SegmentEnd(header.last_offset + 1, header.max_timestamp if header.max_timestamp > 0 else None)
                position += size
        except FileChangedError:
            pass  # the segment was truncated meanwhile; the end of what was read counts
    return end
