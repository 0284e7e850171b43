"""One pass over a range of a file. Each byte is booked once: as decoded, or as skipped with a code."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.store import FileStamp, FileStore, OpenFile
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.scanning.filters import BatchFilter
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import FileRange, ScannedBatch
from kafkawire.logs.scanning.index_points import IndexPoints, points_of
from kafkawire.logs.scanning.windows import FileChangedError, Window
from kafkawire.wire.batches.batch import whole_batch
from kafkawire.wire.batches.framing import BATCH_MAGIC, FRAME, FRAME_SIZE, HEADER_SIZE, batch_crc, entry_size

__all__ = ["Scan"]

_SHOWN_OF_LOST_BYTES: Final = 1024


class Scan:
    """A range of a file that is being scanned."""

    def __init__(self, file_range: FileRange, options: ReadOptions, accounts: Accounts, store: FileStore) -> None:
        self._file = file_range.file
        self._end = file_range.end
        self._begins_file = file_range.start == 0
        self._ends_file = file_range.end >= file_range.file.size
        self._position = file_range.start
        self._accounts = accounts
        self._store = store
        self._filter = BatchFilter(options, self._file)
        self._verify = options.verify_checksums
        self._largest = options.max_frame_bytes
        self._points: IndexPoints | None = None

    def run(self) -> Iterator[ScannedBatch | Flaw]:
        """What the range holds, in order.

        Raises:
            OSError: the file cannot be read.
        """
        if self._filter.excludes_file:
            self._accounts.skipped("filtered", max(self._end - self._position, 0))
            return
        begun = self._position
        found_at = FileStamp(self._file.size, self._file.modified)
        for attempt in range(2):
            with self._store.open(self._file.path) as opened:
                stamp = opened.stamp()
                try:
                    yield from self._entries(Window(opened, _unless_changed(found_at, stamp)), opened)
                except FileChangedError:
                    # A file that was asked for as a whole and not read yet may as well be read as it is now.
                    if attempt or self._position != begun or not (self._begins_file and self._ends_file):
                        yield self._lose("file_changed", self._end, b"", "the file was replaced or cut off")
                        return
                else:
                    return
            found_at = FileStamp(0, 0)
            self._end = stamp.size

    def _entries(self, window: Window, opened: OpenFile) -> Iterator[ScannedBatch | Flaw]:
        while self._position < self._end:
            found = self._next(window, opened)
            if found is not None:
                yield found

    def _next(self, window: Window, opened: OpenFile) -> ScannedBatch | Flaw | None:
        """What stands at the position, which moves behind it; None for what is only counted."""
        position = self._position
        data, at = window.data, position - window.start
        if at < 0 or at + HEADER_SIZE > len(data):
            if not window.cover(position, HEADER_SIZE):
                return self._unusual(window, opened)
            data, at = window.data, position - window.start
        _, length, magic = FRAME.unpack_from(data, at)
        size = entry_size(length, magic, self._largest)
        if magic != BATCH_MAGIC or not size:
            return self._unusual(window, opened)
        if at + size > len(data):
            if not window.cover(position, size):
                return self._unusual(window, opened)
            data, at = window.data, 0
        batch = whole_batch(data, at, size, position)
        if self._filter.is_active and self._filter.excludes(batch):
            self._position += size
            self._accounts.skipped("filtered", size)
            return None
        if self._verify and batch.crc != batch_crc(window.view, at, size):
            return self._bad_crc(window, opened, size, batch.base_offset)
        self._position += size
        self._accounts.decoded(size)
        return ScannedBatch(self._file, position, batch)

    def _unusual(self, window: Window, opened: OpenFile) -> Flaw | None:
        """What stands at the position and is no whole batch of magic 2."""
        position = self._position
        if not window.cover(position, FRAME_SIZE):
            return self._tail(window)
        base_offset, length, magic = FRAME.unpack_from(window.data, position - window.start)
        size = entry_size(length, magic, self._largest)
        if not size:
            return self._absurd(window, opened, length)
        if not window.cover(position, size):
            return self._truncated(window, opened, size)
        return self._other_format(window, magic, size, base_offset)

    def _bad_crc(self, window: Window, opened: OpenFile, size: int, base_offset: int) -> Flaw:
        behind = self._position + size
        resumption = self._resumption(opened, behind)
        if resumption < behind:
            # A sound batch begins inside of this one: its length is wrong too.
            return self._lose("bad_length", resumption, self._shown(window), f"a length of {size}, and a wrong CRC")
        raw = window.bytes_at(self._position, size)
        return self._lose("bad_crc", behind, raw, "the CRC is not that of the bytes", base_offset)

    def _other_format(self, window: Window, magic: int, size: int, base_offset: int) -> Flaw:
        raw = window.bytes_at(self._position, size)
        behind = self._position + size
        if 0 <= magic < BATCH_MAGIC:
            reason = f"a message of magic {magic}, from before Kafka 0.11"
            return self._lose("old_magic", behind, raw, reason, base_offset)
        return self._lose("unsupported_version", behind, raw, f"magic {magic}; 0 to 2 are known", base_offset)

    def _absurd(self, window: Window, opened: OpenFile, length: int) -> Flaw | None:
        position = self._position
        if length == 0 and self._is_zero_from_here(window):
            self._accounts.skipped("zero_fill", self._range_end(window) - position)
            self._position = self._end
            return None
        window.cover(position, FRAME_SIZE)
        resumption = self._resumption(opened, window.file_size)
        return self._lose("bad_length", resumption, self._shown(window), f"a length of {length}")

    def _truncated(self, window: Window, opened: OpenFile, size: int) -> Flaw:
        resumption = self._resumption(opened, window.file_size)
        left = window.file_size - self._position
        if resumption < window.file_size:
            reason = f"{size} bytes; {left} are left, and a sound batch begins in them"
            return self._lose("bad_length", resumption, self._shown(window), reason)
        reason = f"{size} bytes; {left} are left"
        return self._lose("truncated_batch", resumption, self._shown(window), reason)

    def _tail(self, window: Window) -> Flaw | None:
        """Fewer bytes than any header has."""
        left = window.file_size - self._position
        if left <= 0:
            self._position = self._end
            return None
        window.cover(self._position, left)
        if self._is_zero_from_here(window):
            self._accounts.skipped("zero_fill", left)
            self._position = self._end
            return None
        return self._lose("truncated_batch", window.file_size, self._shown(window), f"{left} bytes, no whole header")

    def _lose(self, code: str, until: int, raw: bytes, reason: str, base_offset: int | None = None) -> Flaw:
        position = self._position
        size = max(until - position, 0)
        self._accounts.skipped(code, size)
        self._position = max(until, position)
        if code == "file_changed":
            self._position = self._end
        return Flaw(code, self._file, position, size, raw or None, reason, base_offset)

    def _resumption(self, opened: OpenFile, until: int) -> int:
        """Where reading goes on after bytes that say nothing: at a sound batch that the index knows, or at the end."""
        if self._points is None:
            self._points = points_of(self._file, self._store)
        limit = until if self._ends_file else min(until, self._end)
        entries = takewhile(lambda entry: entry[0] < limit, self._points.after(self._position))
        return next(self._points.sound(opened, entries, self._largest), limit)

    def _range_end(self, window: Window) -> int:
        return window.file_size if self._ends_file else self._end

    def _is_zero_from_here(self, window: Window) -> bool:
        """Whether all bytes from the position to the end of the file are zero."""
        position = self._position
        while position < window.file_size:
            if position >= window.end or position < window.start:
                window.move_to(position, 1)
            rest = window.view[position - window.start :]
            if rest.tobytes().count(0) != len(rest):
                return False
            position = window.end
        return True

    def _shown(self, window: Window) -> bytes:
        return window.bytes_at(self._position, _SHOWN_OF_LOST_BYTES)


def _unless_changed(found_at: FileStamp, stamp: FileStamp) -> FileStamp:
    """What is open now, if it is what was found.

    Raises:
        FileChangedError: it is not.
    """
    if not found_at.grew_to(stamp):
        raise FileChangedError
    return stamp
