"""A folder whose process may be killed at any operation on a file, or in the middle of a write."""

from __future__ import annotations

import io
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import pytest

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

NEVER: Final = -1
"""The number of operations of a process that is not killed."""

_PATHS: Final = ("unlink", "rename", "replace", "mkdir", "rmdir")
_DESCRIPTORS: Final = ("write", "fsync", "ftruncate")
_Path: TypeAlias = str | int | os.PathLike[str]


class KilledError(BaseException):
    """The process is dead: nothing that it does has an effect."""


class MortalDisk:
    """Counts the operations on the files of a folder; one of them is the last.

    A killed process leaves the files as they are between two operations, or after a part of a write.

    Args:
        folder: the files below it are watched.
        chance: decides how much of the last write is done.

    Attributes:
        is_dead: whether the process was killed.
        chance: as given.
        operations: how many there were since the process began.
        trace: called with the name of each operation; for looking at a life.
    """

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.is_dead = False
        self.operations = 0
        self.trace: Callable[[str], None] | None = None
        self.chance = chance
        self._left = NEVER
        self._in_a_write = False
        self._prefix = f"{folder}/"
        self._descriptors: dict[int, str] = {}
        names = (*_PATHS, *_DESCRIPTORS, "open", "close")
        self._real: dict[str, Callable[..., object]] = {name: getattr(os, name) for name in names}
        self._real_stream: Callable[..., object] = io.open

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch the operations of this process."""
        watching: dict[str, Callable[..., object]] = {
            **{name: self._of_path(name) for name in _PATHS},
            **{name: self._of_descriptor(name) for name in _DESCRIPTORS},
            "open": self._open,
            "close": self._close,
        }
        with pytest.MonkeyPatch.context() as monkeypatch:
            for name, function in watching.items():
                monkeypatch.setattr(os, name, function)
            monkeypatch.setattr(io, "open", self._open_stream)
            yield

    def begin(self, operations: int = NEVER, *, in_a_write: bool = False) -> None:
        """Begin a process.

        Args:
            operations: how many of its operations are done; `NEVER` for a process that is not killed.
            in_a_write: whether it is killed at the next write after these, else at the next operation.
        """
        self.is_dead = False
        self.operations, self._left, self._in_a_write = 0, operations, in_a_write

    def die(self) -> None:
        """The process is killed now."""
        self.is_dead = True

    def bury(self) -> None:
        """Close what a killed process has open, as its end does."""
        for descriptor in [*self._descriptors]:
            self._close(descriptor)

    def _path_of(self, path: _Path, parent: object = None) -> str | None:
        """The path, if it is below the folder."""
        if isinstance(path, int):
            return None
        text = os.fspath(path)
        if isinstance(parent, int):
            folder = self._descriptors.get(parent)
            return None if folder is None else f"{folder}/{text}"
        return text if text.startswith(self._prefix) else None

    def _step(self, name: str, path: str) -> bool:
        """Whether an operation that is about to be done is the last."""
        if self.is_dead:
            raise KilledError
        if self.trace is not None:
            self.trace(f"{name} {path.removeprefix(self._prefix)}")
        self.operations += 1
        if self._left < 0 or self.operations <= self._left or (self._in_a_write and name != "write"):
            return False
        self.is_dead = True
        return True

    def _of_path(self, name: str) -> Callable[..., object]:
        real = self._real[name]

        def call(path: _Path, *arguments: object, **options: object) -> object:
            found = self._path_of(path, options.get("dir_fd"))
            if found is not None and self._step(name, found):
                raise KilledError
            return real(path, *arguments, **options)

        return call

    def _of_descriptor(self, name: str) -> Callable[..., object]:
        real = self._real[name]

        def call(descriptor: int, *arguments: object) -> object:
            found = self._descriptors.get(descriptor)
            if found is not None and self._step(name, found):
                for content in arguments if name == "write" else ():
                    assert isinstance(content, bytes | memoryview)
                    real(descriptor, content[: self.chance.randint(0, len(content))])
                raise KilledError
            return real(descriptor, *arguments)

        return call

    def _open(self, path: _Path, flags: int, *arguments: object, **options: object) -> int:
        found = self._path_of(path, options.get("dir_fd"))
        if found is not None:
            is_made = flags & os.O_TRUNC or (flags & os.O_CREAT and not Path(found).exists())
            if self.is_dead or (is_made and self._step("make", found)):
                raise KilledError
        descriptor = self._real["open"](path, flags, *arguments, **options)
        assert isinstance(descriptor, int)
        if found is not None:
            self._descriptors[descriptor] = found
        return descriptor

    def _close(self, descriptor: int) -> None:
        self._descriptors.pop(descriptor, None)
        self._real["close"](descriptor)

    def _open_stream(self, file: _Path, mode: str = "r", *arguments: object, **options: object) -> object:
        if "w" not in mode or self._path_of(file) is None:
            return self._real_stream(file, mode, *arguments, **options)
        assert mode == "wb"
        return io.BufferedWriter(_Stream(self._open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)))


class _Stream(io.RawIOBase):
    """An open file whose bytes go through ``os.write``."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, content: ReadableBuffer) -> int:
        return os.write(self._descriptor, memoryview(content))

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()
