"""Files in memory, for tests that read the same log in thousands of damaged states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Self

from kafkawire.logs.files.store import FileStamp, FoundFile


class MemoryStore:
    """A ``FileStore`` over bytes by path."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)

    def list(self, path: str, *, recursive: bool) -> Iterator[FoundFile]:
        found = [each for each in self.files if each == path or each.startswith(f"{path}/")]
        if not found:
            raise FileNotFoundError(path)
        yield from (FoundFile(each, FileStamp(len(self.files[each]), 1)) for each in found)

    def matching(self, pattern: str) -> Iterator[str]:
        return (each for each in self.files if fnmatchcase(each, pattern))

    def open(self, path: str) -> MemoryFile:
        if path not in self.files:
            raise FileNotFoundError(path)
        return MemoryFile(self.files[path])


class MemoryFile:
    """One of them, open."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stamp(self) -> FileStamp:
        return FileStamp(len(self._content), 1)

    def read_at(self, offset: int, size: int) -> bytes:
        return self._content[offset : offset + size]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        """Nothing to close."""
