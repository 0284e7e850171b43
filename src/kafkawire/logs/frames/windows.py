"""A file as a sequence of windows: memory is bounded by the largest batch, not by the file."""

from __future__ import annotations

from kafkawire.logs.files.store import FileStamp, OpenFile
from kafkawire.logs.limits import OCTETS_AT_A_TIME

__all__ = ["FileChangedError", "Window"]


class FileChangedError(Exception):
    """The bytes that were read before are no longer those of the file."""


class Window:
    """The part of a file that is in memory.

    Attributes:
        data: its bytes.
        view: the same, to look at parts without a copy.
        start: position of the first of them in the file.
        file_size: size of the file when it was opened; nothing is read beyond it.
    """

    def __init__(self, file: OpenFile, stamp: FileStamp) -> None:
        self._file = file
        self._stamp = stamp
        self.data = b""
        self.view = memoryview(self.data)
        self.start = 0
        self.file_size = stamp.size

    @property
    def end(self) -> int:
        """Position behind the last byte."""
        return self.start + len(self.data)

    def cover(self, position: int, size: int) -> bool:
        """Have the bytes from a position on, ``size`` of them; False if the file ends before.

        Raises:
            FileChangedError: the file was replaced or cut off.
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
            FileChangedError: the file was replaced or cut off.
            OSError: the file cannot be read.
        """
        wanted = min(max(size, OCTETS_AT_A_TIME), self.file_size - position)
        self.data = b""
        self.view = memoryview(b"")  # let go of the old window before the new one takes its place
        self.data = self._file.read_at(position, wanted)
        self.view = memoryview(self.data)
        self.start = position
        if len(self.data) < wanted or not self._stamp.grew_to(self._file.stamp()):
            raise FileChangedError

    def bytes_at(self, position: int, size: int) -> bytes:
        """Up to ``size`` bytes from a position on, as far as the file goes.

        Raises:
            FileChangedError, OSError: as ``cover``.
        """
        self.cover(position, min(size, self.file_size - position))
        return self.data[position - self.start : position - self.start + size]
