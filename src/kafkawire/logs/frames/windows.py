"""Reading a file window by window: memory is bounded by the largest batch, not by the file."""

from __future__ import annotations

from kafkawire.logs.files.store import FileStamp, OpenFile
from kafkawire.logs.limits import OCTETS_AT_A_TIME


class FileChangedError(Exception):
    """The file no longer has the bytes that were read before."""


class Window:
    """The part of a file that is in memory.

    Attributes:
        data: its bytes.
        view: a view of them, for slices without a copy.
        start: position in the file of the first byte.
        file_size: size of the file when it was opened; nothing is read beyond it.
    """

    def __init__(self, file: OpenFile, stamp: FileStamp) -> None:
        self._file = file
        self._stamp = stamp
        self.data: bytes = b""
        self.view: memoryview = memoryview(self.data)
        self.start: int = 0
        self.file_size: int = stamp.size

    @property
    def end(self) -> int:
        """Position after the last byte."""
        return self.start + len(self.data)

    def cover(self, position: int, size: int) -> bool:
        """Have ``size`` bytes from a position on in memory; returns False if the file ends before.

        Raises:
            FileChangedError: the file was replaced or truncated.
            OSError: the file cannot be read.
        """
        if position >= self.start and position + size <= self.end:
            return True
        if position + size > self.file_size:
            return False
        self.move_to(position, size)
        return True

    def move_to(self, position: int, size: int) -> None:
        """Read from a position on: at least ``size`` bytes, unless the file ends.

        Raises:
            FileChangedError: the file was replaced or truncated.
            OSError: the file cannot be read.
        """
        size_to_read = min(max(size, OCTETS_AT_A_TIME), self.file_size - position)
        self.data = b""
        self.view = memoryview(b"")  # free the old window before reading the new one
        self.data = self._file.read_at(position, size_to_read)
        self.view = memoryview(self.data)
        self.start = position
        if len(self.data) < size_to_read or not self._stamp.grew_to(self._file.stamp()):
            raise FileChangedError

    def bytes_at(self, position: int, size: int) -> bytes:
        """``size`` bytes from a position on, or fewer at the end of the file.

        Raises:
            FileChangedError, OSError: as ``cover``.
        """
        self.cover(position, min(size, self.file_size - position))
        return self.data[position - self.start : position - self.start + size]
