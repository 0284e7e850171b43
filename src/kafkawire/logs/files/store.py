"""Where the bytes of logs are: files of this machine, or whatever else has sizes and positions."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from glob import iglob
from pathlib import Path
from typing import Final, Protocol, Self

__all__ = ["LOCAL", "FileStamp", "FileStore", "FoundFile", "LocalStore", "OpenFile"]

_FOLDER_OF_THE_SYSTEM: Final = "lost+found"


@dataclass(frozen=True)
class FileStamp:
    """What tells one state of a file from another.

    Attributes:
        size: in bytes.
        modified: when it was written last, in nanoseconds; 0 if nobody looked.
    """

    size: int
    modified: int

    def grew_to(self, later: FileStamp) -> bool:
        """Whether the file may be the same with bytes appended: those that were there are still there."""
        return later == self or later.size > self.size or (not self.modified and later.size == self.size)


@dataclass(frozen=True)
class FoundFile:
    """A file in a listing.

    Attributes:
        path: by which it was found.
        stamp: its state.
        real_folder: its folder without links and detours; None if the store has neither.
    """

    path: str
    stamp: FileStamp
    real_folder: str | None = None


class OpenFile(Protocol):
    """A file that is being read."""

    def stamp(self) -> FileStamp:
        """Its state now."""

    def read_at(self, offset: int, size: int) -> bytes:
        """Bytes from an offset on: ``size`` of them, or fewer where the file ends."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *failure: object) -> None: ...


class FileStore(Protocol):
    """Files by path. All methods raise OSError if there is no such file or it cannot be read."""

    def list(self, path: str, *, recursive: bool) -> Iterator[FoundFile]:
        """The files in a folder, and in the folders in it if ``recursive``; the path itself if it is a file."""

    def matching(self, pattern: str) -> Iterator[str]:
        """The paths that match a pattern with ``*``, ``?``, ``[…]`` and ``**``; if it ends with ``/``, only folders."""

    def open(self, path: str) -> OpenFile:
        """Begin to read a file."""


class LocalStore:
    """Files of this machine.

    They are read with ``pread`` and never mapped: a mapped file that shrinks kills the process.
    """

    def list(self, path: str, *, recursive: bool) -> Iterator[FoundFile]:
        """See ``FileStore``."""
        if Path(path).is_dir():
            yield from _files_of_folder(path, str(Path(path).resolve()), recursive=recursive)
        else:
            yield _named_file(path)

    def matching(self, pattern: str) -> Iterator[str]:
        """See ``FileStore``."""
        return iglob(pattern, recursive=True)  # noqa: PTH207 a pattern may begin anywhere

    def open(self, path: str) -> OpenFile:
        """See ``FileStore``."""
        return _LocalFile(path)


LOCAL: Final = LocalStore()
"""The files of this machine."""


class _LocalFile:
    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDONLY)

    def stamp(self) -> FileStamp:
        return _stamp(os.fstat(self._descriptor))

    def read_at(self, offset: int, size: int) -> bytes:
        data = os.pread(self._descriptor, size, offset)
        if 0 < len(data) < size:  # a signal, or more than the system reads at once
            parts = [data]
            while data and (size := size - len(data)):
                offset += len(data)
                data = os.pread(self._descriptor, size, offset)
                parts.append(data)
            data = b"".join(parts)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        os.close(self._descriptor)


def _named_file(path: str) -> FoundFile:
    try:
        status = os.stat(path)  # noqa: PTH116 as in a listing
    except FileNotFoundError:
        raise FileNotFoundError("there is no such folder or file") from None
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is neither a folder nor a file")
    return FoundFile(path, _stamp(status), str(Path(path).parent.resolve()))


def _files_of_folder(folder: str, real_folder: str, *, recursive: bool) -> Iterator[FoundFile]:
    """Its files. What is deleted meanwhile, as a broker may do, is as if it had never been there."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.is_file():
                    yield FoundFile(entry.path, _stamp(entry.stat()), real_folder)
                elif recursive and _is_of_kafka(entry):
                    yield from _files_of_folder(entry.path, f"{real_folder}/{entry.name}", recursive=True)


def _is_of_kafka(entry: os.DirEntry[str]) -> bool:
    """Whether logs may be in an entry: links may lead in circles, and every disk has a folder that is the system's."""
    return entry.is_dir(follow_symlinks=False) and entry.name != _FOLDER_OF_THE_SYSTEM


def _stamp(status: os.stat_result) -> FileStamp:
    return FileStamp(status.st_size, status.st_mtime_ns)
