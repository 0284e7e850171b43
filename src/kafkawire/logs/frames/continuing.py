"""Where the reading of a log continues: after the last batch of an earlier reading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from kafkawire.logs.errors import LogReadError, system_reason
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.hops import hops
from kafkawire.logs.frames.ranges import ranges_of
from kafkawire.logs.frames.windows import FileChangedError
from kafkawire.logs.options import ReadOptions
from kafkawire.wire.batches.framing import FRAME, FRAME_SIZE

_READ_AGAIN: Final = "read it again, without the state that an earlier reading left"


class Reached(msgspec.Struct, frozen=True, array_like=True):
    """How far a log was read.

    Attributes:
        offset: the next to be read.
        base_offset: of the segment with the last batch.
        position: where that batch ends in it.
    """

    offset: int
    base_offset: int
    position: int


def ranges_from(
    segments: Sequence[LogFile], reached: Reached | None, options: ReadOptions, store: FileStore, *, is_compacted: bool
) -> Iterator[FileRange]:
    """The segments of a log from a place on.

    Args:
        segments: in the order of their offsets.
        reached: the place; None for all of the log.
        options: how to read; its limits do not count.
        store: where the segments are.
        is_compacted: whether Kafka moves batches of the log to other places.

    Raises:
        LogReadError: code ``data_loss``: the log ends before the place. Codes ``unreadable`` and ``file_changed``: a
            file cannot be read.
    """
    if reached is None:
        yield from (FileRange(segment, 0, segment.size) for segment in segments)
        return
    try:
        first, start = _place(segments, reached, options, store, is_compacted=is_compacted)
    except FileChangedError:
        raise LogReadError("file_changed", segments[0].folder, "it was truncated while it was read") from None
    except OSError as error:
        raise LogReadError("unreadable", segments[0].folder, system_reason(error)) from None
    for segment in segments[first:]:
        yield FileRange(segment, start, segment.size)
        start = 0


def _place(
    segments: Sequence[LogFile], reached: Reached, options: ReadOptions, store: FileStore, *, is_compacted: bool
) -> tuple[int, int]:
    """The number of a segment, and the position in it."""
    for number, segment in enumerate(segments):
        if segment.base_offset == reached.base_offset and segment.size >= reached.position:
            is_there = segment.is_last or not is_compacted or segment.size == reached.position
            if is_there or _offset_at(segment, reached.position, store) == reached.offset:
                return number, reached.position
    return _search(segments, reached.offset, options, store)


def _offset_at(segment: LogFile, position: int, store: FileStore) -> int | None:
    """The first offset of the batch at a position, as its header states it."""
    with store.open(segment.path) as opened:
        frame = opened.read_at(position, FRAME_SIZE)
    return FRAME.unpack(frame)[0] if len(frame) == FRAME_SIZE else None


def _search(segments: Sequence[LogFile], offset: int, options: ReadOptions, store: FileStore) -> tuple[int, int]:
    """The end of the last batch whose offsets are all lower; bytes after it may be damaged."""
    number = max((at for at, segment in enumerate(segments) if segment.base_offset <= offset), default=0)
    segment, is_last = segments[number], number == len(segments) - 1
    if segment.base_offset >= offset:
        return number, 0
    narrowed = replace(options, from_offset=offset, until_offset=None)
    end, reached = next(ranges_of(segment, max(segment.size, 1), narrowed, store)).start, segment.base_offset
    for hop in hops(segment, end, store, max_frame_bytes=options.max_frame_bytes, closed=False):
        if hop.next_offset is not None:
            if hop.next_offset > offset:
                return number, end
            end, reached = hop.end, hop.next_offset
    if is_last and reached < offset:
        reason = f"it ends at offset {reached}, and was read up to {offset}: it was cut off or replaced; {_READ_AGAIN}"
        raise LogReadError("data_loss", segment.folder, reason)
    return number, end
