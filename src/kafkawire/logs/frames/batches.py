"""The batches of a file. Each byte is counted once: as decoded, or as skipped with a code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

import crc32c
import msgspec

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.errors import LogReadError, system_reason
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import LOCAL, FileStamp, FileStore, OpenFile
from kafkawire.logs.frames.filters import BatchFilter
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.frames.index_points import IndexPoints, points_of
from kafkawire.logs.frames.windows import FileChangedError, Window
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadMode, ReadOptions
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.batches.framing import (
    ATTRIBUTES_OFFSET,
    BATCH_MAGIC,
    FRAME,
    FRAME_SIZE,
    HEADER_SIZE,
    entry_size,
)
from kafkawire.wire.batches.whole_batches import whole_batches

_SHOWN_OF_LOST_BYTES: Final = 1024
_BATCHES_AT_A_TIME: Final = 1024


@dataclass(frozen=True)
class FileRange:
    """The batches of a file that start at ``start`` or after it, and before ``end``."""

    file: LogFile
    start: int
    end: int


class ScannedBatch(msgspec.Struct, frozen=True, gc=False):
    """A batch in a file; its records are not decoded yet.

    Attributes:
        file: the file.
        position: of its first byte in the file.
        batch: header and payload. Its own ``position`` is the same.
    """

    file: LogFile
    position: int
    batch: RecordBatch


def scan_batches(
    file_range: FileRange,
    options: ReadOptions = DEFAULT_OPTIONS,
    accounts: Accounts | None = None,
    store: FileStore = LOCAL,
) -> Iterator[ScannedBatch | Flaw]:
    """The batches of a range that the options ask for, in order, and the flaws between them.

    Raises:
        LogReadError: mode FAILFAST: at the first flaw. Any mode, code ``unreadable``: the file cannot be read.

    Example:
        ```python
        from kafkawire.logs import FileRange, ScannedBatch, find_log_files, scan_batches

        for file in find_log_files(["/var/lib/kafka/data/__cluster_metadata-0"]):
            for found in scan_batches(FileRange(file, 0, file.size)):
                if isinstance(found, ScannedBatch):
                    print(found.position, found.batch.base_offset, found.batch.records_count)
        ```
    """
    for found in scan_runs(file_range, options, Accounts() if accounts is None else accounts, store):
        if isinstance(found, Flaw):
            yield found
        else:
            yield from (ScannedBatch(file_range.file, batch.position, batch) for batch in found)


def scan_runs(
    file_range: FileRange, options: ReadOptions, accounts: Accounts, store: FileStore
) -> Iterator[list[RecordBatch] | Flaw]:
    """As ``scan_batches``, with the batches that follow each other in one list."""
    return _Scan(file_range, options, accounts, store).run()


def count_flaw(flaw: Flaw, options: ReadOptions, accounts: Accounts) -> None:
    """Count a flaw.

    Raises:
        LogReadError: mode FAILFAST.
    """
    if not flaw.is_expected:
        accounts.failed(flaw.code)
    if options.mode is ReadMode.FAILFAST:
        raise flaw.error()


class _Scan:
    """One pass over a range of a file."""

    def __init__(self, file_range: FileRange, options: ReadOptions, accounts: Accounts, store: FileStore) -> None:
        self._file = file_range.file
        self._end = file_range.end
        self._begins_file = file_range.start == 0
        self._ends_file = file_range.end >= file_range.file.size
        self._position = file_range.start
        self._options = options
        self._accounts = accounts
        self._store = store
        self._filter = BatchFilter(options, self._file)
        self._verify = options.verify_checksums
        self._largest = options.max_frame_bytes
        self._points: IndexPoints | None = None

    def run(self) -> Iterator[list[RecordBatch] | Flaw]:
        """See ``scan_runs``."""
        if self._filter.excludes_file:
            self._accounts.skipped("filtered", max(self._end - self._position, 0))
            return
        begun = self._position
        found_at = FileStamp(self._file.size, self._file.modified)
        try:
            for attempt in range(2):
                with self._store.open(self._file.path) as opened:
                    stamp = opened.stamp()
                    try:
                        window = Window(opened, _unless_changed(found_at, stamp))
                        while self._position < self._end:
                            batches, broken = self._sound_batches(window)
                            if batches:
                                yield batches
                            flaw = self._flaw(broken, window, opened)
                            if flaw is not None:
                                yield flaw
                    except FileChangedError:
                        # If no batch of a whole file was returned yet, read the file again in its new state.
                        if attempt or self._position != begun or not (self._begins_file and self._ends_file):
                            yield self._skip("file_changed", self._end, b"", "the file was replaced or truncated")
                            return
                    else:
                        return
                found_at = FileStamp(0, 0)
                self._end = stamp.size
        except OSError as error:
            raise LogReadError("unreadable", self._file.path, system_reason(error)) from None

    def _sound_batches(self, window: Window) -> tuple[list[RecordBatch], RecordBatch | None]:
        """The sound batches in memory from the position on, which moves after them, and one whose CRC is wrong."""
        sound: list[RecordBatch] = []
        start, view = window.start, window.view
        verify, is_filtered = self._verify, self._filter.is_active
        position, octets, broken = self._position, 0, None
        for batch in whole_batches(
            window.data, position - start, most=_BATCHES_AT_A_TIME, largest=self._largest, position=start
        ):
            if position >= self._end:
                break
            size = HEADER_SIZE + len(batch.payload)
            if is_filtered and self._filter.excludes(batch):
                self._accounts.skipped("filtered", size)
            elif verify and batch.crc != crc32c.crc32c(
                view[position - start + ATTRIBUTES_OFFSET : position - start + size]
            ):
                broken = batch
                break
            else:
                sound.append(batch)
                octets += size
            position += size
        self._position = position
        self._accounts.decoded(octets)
        return sound, broken

    def _flaw(self, broken: RecordBatch | None, window: Window, opened: OpenFile) -> Flaw | None:
        """The flaw at the position; None at the end, for bytes that are only counted, and once there is a whole batch.

        Args:
            broken: the batch at the position, if its CRC is wrong.
            window, opened: the file.
        """
        position = self._position
        if broken is not None:
            return self._bad_crc(window, opened, broken.size, broken.base_offset)
        if position >= self._end:
            return None
        if not window.cover(position, HEADER_SIZE):
            return self._flaw_or_end(window, opened)
        _, length, magic = FRAME.unpack_from(window.data, position - window.start)
        size = entry_size(length, magic, self._largest)
        if magic == BATCH_MAGIC and size and window.cover(position, size):
            return None
        return self._flaw_or_end(window, opened)

    def _flaw_or_end(self, window: Window, opened: OpenFile) -> Flaw | None:
        """The flaw at the position, where no whole batch of magic 2 begins."""
        position = self._position
        if not window.cover(position, FRAME_SIZE):
            return self._incomplete_header(window)
        base_offset, length, magic = FRAME.unpack_from(window.data, position - window.start)
        size = entry_size(length, magic, self._largest)
        if not size:
            return self._impossible_length(window, opened, length)
        if not window.cover(position, size):
            return self._truncated(window, opened, size)
        return self._other_format(window, magic, size, base_offset)

    def _bad_crc(self, window: Window, opened: OpenFile, size: int, base_offset: int) -> Flaw:
        end = self._position + size
        resumption = self._resumption(opened, end)
        if resumption < end:
            # A sound batch begins inside this one, so its length is wrong too.
            return self._skip("bad_length", resumption, self._shown(window), f"a length of {size}, and a wrong CRC")
        raw = window.bytes_at(self._position, size)
        return self._skip("bad_crc", end, raw, "the CRC is not that of the bytes", base_offset)

    def _other_format(self, window: Window, magic: int, size: int, base_offset: int) -> Flaw:
        raw = window.bytes_at(self._position, size)
        end = self._position + size
        if 0 <= magic < BATCH_MAGIC:
            reason = f"a message of magic {magic}, from before Kafka 0.11"
            return self._skip("old_magic", end, raw, reason, base_offset)
        return self._skip("unsupported_version", end, raw, f"magic {magic}; 0 to 2 are known", base_offset)

    def _impossible_length(self, window: Window, opened: OpenFile, length: int) -> Flaw | None:
        position = self._position
        if length == 0 and self._is_zero_from_here(window):
            self._accounts.skipped("zero_fill", self._range_end(window) - position)
            self._position = self._end
            return None
        window.cover(position, FRAME_SIZE)
        resumption = self._resumption(opened, window.file_size)
        return self._skip("bad_length", resumption, self._shown(window), f"a length of {length}")

    def _truncated(self, window: Window, opened: OpenFile, size: int) -> Flaw:
        resumption = self._resumption(opened, window.file_size)
        left = window.file_size - self._position
        if resumption < window.file_size:
            reason = f"{size} bytes; {left} are left, and a sound batch begins in them"
            return self._skip("bad_length", resumption, self._shown(window), reason)
        reason = f"{size} bytes; {left} are left"
        return self._skip("truncated_batch", resumption, self._shown(window), reason)

    def _incomplete_header(self, window: Window) -> Flaw | None:
        """The end of the file: fewer bytes than any header has."""
        left = window.file_size - self._position
        if left <= 0:
            self._position = self._end
            return None
        window.cover(self._position, left)
        if self._is_zero_from_here(window):
            self._accounts.skipped("zero_fill", left)
            self._position = self._end
            return None
        return self._skip("truncated_batch", window.file_size, self._shown(window), f"{left} bytes, no whole header")

    def _skip(self, code: str, until: int, raw: bytes, reason: str, base_offset: int | None = None) -> Flaw:
        position = self._position
        size = max(until - position, 0)
        self._accounts.skipped(code, size)
        self._position = max(until, position)
        if code == "file_changed":
            self._position = self._end
        flaw = Flaw(code, self._file, position, size, raw or None, reason, base_offset)
        count_flaw(flaw, self._options, self._accounts)
        return flaw

    def _resumption(self, opened: OpenFile, until: int) -> int:
        """Where reading resumes after unreadable bytes: at the next sound batch in the index, or at the end."""
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
    """The state of an open file.

    Raises:
        FileChangedError: it is not the file that was found.
    """
    if not found_at.grew_to(stamp):
        raise FileChangedError
    return stamp
