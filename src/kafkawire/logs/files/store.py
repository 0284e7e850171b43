"""The store of the files of logs: a protocol, and the files of this machine."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from glob import iglob
from pathlib import Path
from typing import Final, Protocol, Self

_FOLDER_OF_THE_SYSTEM: Final = "lost+found"


@dataclass(frozen=True)
class FileStamp:
    """The state of a file.

    Attributes:
        size: in bytes.
        modified: time of the last change, in nanoseconds; 0 if unknown.
    """

    size: int
    modified: int

    def grew_to(self, later: FileStamp) -> bool:
        """Whether the file may be the same one with bytes appended."""
        return later == self or later.size > self.size or (not self.modified and later.size == self.size)


@dataclass(frozen=True)
class FoundFile:
    """A file in a listing.

    Attributes:
        path: of the listing.
        stamp: its state.
        real_folder: its folder with links resolved; None if the store has no links.
    """

    path: str
    stamp: FileStamp
    real_folder: str | None = None


class OpenFile(Protocol):
    """A file that is open for reading."""

    def stamp(self) -> FileStamp:
        """Its current state."""

    def read_at(self, offset: int, size: int) -> bytes:
        """``size`` bytes from an offset on, or fewer at the end of the file."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *failure: object) -> None: ...


class FileStore(Protocol):
    """Files by path. All methods raise OSError if there is no such file or it cannot be read."""

    def list(self, path: str, *, recursive: bool) -> Iterator[FoundFile]:
        """The files in a folder, and in the folders in it if ``recursive``; the path itself if it is a file."""

    def matching(self, pattern: str) -> Iterator[str]:
        """The paths that match a pattern with ``*``, ``?``, ``[…]`` and ``**``; if it ends with ``/``, only folders."""

    def open(self, path: str) -> OpenFile:
        """Open a file."""


class LocalStore:
    """Files of this machine.

    They are read and not mapped into memory: reading a mapped file that shrank kills the process. Paths have slashes on
    every system, also on Windows, which takes both.
    """

    def list(self, path: str, *, recursive: bool) -> Iterator[FoundFile]:
        """See ``FileStore``."""
        if Path(path).is_dir():
            yield from _files_of_folder(path, Path(path).resolve().as_posix(), recursive=recursive)
        else:
            yield _named_file(path)

    def matching(self, pattern: str) -> Iterator[str]:
        """See ``FileStore``."""
        return map(with_slashes, iglob(pattern, recursive=True))  # noqa: PTH207 a pattern may begin anywhere

    def open(self, path: str) -> OpenFile:
        """See ``FileStore``."""
        return _LocalFile(path)


LOCAL: Final = LocalStore()
"""The files of this machine."""


def with_slashes(path: str) -> str:
    """A path of this machine with slashes."""
    return path if os.sep == "/" else path.replace(os.sep, "/")


class _LocalFile:
    def __init__(self, path: str) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: PTH123, SIM115 closed on exit

    def stamp(self) -> FileStamp:
        return _stamp(os.fstat(self._file.fileno()))

    def read_at(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        data = self._file.read(size)
        if 0 < len(data) < size:  # interrupted by a signal, or more than the system reads at once
            parts = [data]
            while data and (size := size - len(data)):
                data = self._file.read(size)
                parts.append(data)
            data = b"".join(parts)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._file.close()


def _named_file(path: str) -> FoundFile:
    try:
        status = os.stat(path)  # noqa: PTH116 as in a listing
    except FileNotFoundError:
        raise FileNotFoundError("there is no such folder or file") from None
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is neither a folder nor a regular file")
    return FoundFile(path, _stamp(status), Path(path).parent.resolve().as_posix())


def _files_of_folder(folder: str, real_folder: str, *, recursive: bool) -> Iterator[FoundFile]:
    """The files of a folder, without files that a broker deletes meanwhile."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.is_file():
                    yield FoundFile(with_slashes(entry.path), _stamp(entry.stat()), real_folder)
                elif recursive and _is_of_kafka(entry):
                    yield from _files_of_folder(with_slashes(entry.path), f"{real_folder}/{entry.name}", recursive=True)


def _is_of_kafka(entry: os.DirEntry[str]) -> bool:
    """Whether to search a folder: links can lead in circles, and ``lost+found`` belongs to the system."""
    return entry.is_dir(follow_symlinks=False) and entry.name != _FOLDER_OF_THE_SYSTEM


def _stamp(status: os.stat_result) -> FileStamp:
    return FileStamp(status.st_size, status.st_mtime_ns)
