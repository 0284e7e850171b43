"""Splitting a file into ranges that begin at a batch: by its index, or from batch to batch by their lengths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import Final

from kafkawire.logs.errors import LogReadError, system_reason
from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.files.store import FileStamp, FileStore, OpenFile
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.index_points import IndexPoints, points_of
from kafkawire.logs.frames.windows import FileChangedError, Window
from kafkawire.logs.options import ReadOptions
from kafkawire.wire.batches.framing import FRAME, FRAME_SIZE, entry_size

_TRIED_POINTS: Final = 8
"""After this many entries without a sound batch, the index is stale or belongs to another segment."""


def ranges_of(file: LogFile, target: int, options: ReadOptions, store: FileStore) -> Iterator[FileRange]:
    """Ranges of about ``target`` bytes, without the ends of the file that the offset limits exclude.

    Raises:
        LogReadError: code ``unreadable``: the file cannot be read.
    """
    limits_offsets = options.from_offset is not None or options.until_offset is not None
    if file.size <= target and not (limits_offsets and file.kind is FileKind.SEGMENT):
        yield FileRange(file, 0, file.size)
        return
    try:
        with store.open(file.path) as opened:
            points = points_of(file, store)
            whole = _limits(file, opened, points, options)
            boundaries = list(_boundaries(whole, opened, points, target, options.max_frame_bytes))
    except OSError as error:
        raise LogReadError("unreadable", file.path, system_reason(error)) from None
    yield from (FileRange(file, *pair) for pair in pairwise((whole.start, *boundaries, whole.end)))


def batch_starts(opened: OpenFile, stamp: FileStamp, start: int, marks: Iterable[int], largest: int) -> Iterator[int]:
    """The first batch at or after each mark, found by the lengths of batches, up to the first impossible length.

    Args:
        opened: the file.
        stamp: its state when it was found.
        start: where a batch begins.
        marks: positions after it, in order.
        largest: the largest accepted batch.
    """
    window = Window(opened, stamp)
    position = start
    left = iter(marks)
    unpack = FRAME.unpack_from
    mark = next(left, None)
    while mark is not None and position + FRAME_SIZE <= stamp.size:
        try:
            window.move_to(position, FRAME_SIZE)
        except FileChangedError:
            return  # reading the ranges reports the change
        data, last = window.data, window.end - window.start - FRAME_SIZE
        at = 0
        while at <= last:
            if position + at >= mark:
                yield position + at
                mark = next((each for each in left if each > position + at), None)
                if mark is None:
                    return
            _, length, magic = unpack(data, at)
            size = entry_size(length, magic, largest)
            if not size:
                return
            at += size
        position += at


def _limits(file: LogFile, opened: OpenFile, points: IndexPoints, options: ReadOptions) -> FileRange:
    """The range with all batches that the offset limits include, as narrow as the index allows."""
    start, end = 0, file.size
    if file.kind is not FileKind.SEGMENT:
        return FileRange(file, start, end)
    if options.from_offset is not None:
        before = points.before_offset(options.from_offset)
        start = next(points.sound(opened, before, options.max_frame_bytes), 0)
    if options.until_offset is not None:
        following = points.sound(opened, points.from_offset(options.until_offset), options.max_frame_bytes)
        end = next((each for each in following if _first_offset(opened, each) >= options.until_offset), file.size)
    return FileRange(file, start, max(start, end))


def _boundaries(whole: FileRange, opened: OpenFile, points: IndexPoints, target: int, largest: int) -> Iterator[int]:
    """The positions where ranges begin. Ranges have similar sizes, since all cores would wait for a larger one."""
    last = whole.start
    for mark in _marks(whole, target):
        if mark <= last:
            continue
        candidates = islice(points.after(mark - 1), _TRIED_POINTS)
        found = next(points.sound(opened, candidates, largest), None)
        if found is None or found >= whole.end:
            break
        yield found
        last = found
    rest = [mark for mark in _marks(whole, target) if mark > last]
    stamp = FileStamp(whole.file.size, whole.file.modified)
    yield from (each for each in batch_starts(opened, stamp, last, rest, largest) if each < whole.end)


def _marks(whole: FileRange, target: int) -> range:
    size = whole.end - whole.start
    share = -(-size // max(round(size / target), 1))
    return range(whole.start + share, whole.end, max(share, 1))


def _first_offset(opened: OpenFile, position: int) -> int:
    offset: int = FRAME.unpack(opened.read_at(position, FRAME_SIZE))[0]
    return offset
