"""A folder whose process may be killed at any operation on a file, or in the middle of a write."""

from __future__ import annotations

import io
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import pytest
from tests.embedded.power_failure import UnsyncedChanges

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NEVER: Final = -1
_PATHS: Final = ("unlink", "rename", "replace", "mkdir", "rmdir")
_RENAMES: Final = ("rename", "replace")
_DESCRIPTORS: Final = ("write", "fsync", "ftruncate")
_Path: TypeAlias = str | int | os.PathLike[str]


class KilledError(BaseException):
    """The process is dead: nothing that it does has an effect."""


class MortalDisk:
    """Counts the operations on the files of a folder; one of them is the last.

    A killed process leaves the files as they are between two operations, or after a part of a write. If the power fails
    too, what was not fsynced may be lost.

    Args:
        folder: the files below it are watched.
        chance: decides how much of the last write is done.

    Attributes:
        is_dead: whether the process was killed.
        chance: as given.
        trace: called with the name of each operation; for looking at a life.
    """

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.is_dead = False
        self.trace: Callable[[str], None] | None = None
        self.chance = chance
        self._left = _NEVER
        self._last: str | None = None
        self._is_losing = False
        self._prefix = f"{folder}/"
        self._descriptors: dict[int, str] = {}
        self._unsynced: UnsyncedChanges | None = None
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

    def begin(self) -> None:
        """Begin a process."""
        self.is_dead = False
        self._left = _NEVER

    def kill_later(self, operations: int, operation: str | None = None) -> None:
        """Kill the process soon.

        Args:
            operations: how many operations are done before.
            operation: the name of the first one that is not; None for any.
        """
        self._left, self._last = operations, operation

    def die(self) -> None:
        """The process is killed now."""
        self.is_dead = True

    def bury(self) -> None:
        """Close what a killed process has open, as its end does."""
        for descriptor in [*self._descriptors]:
            self._close(descriptor)

    def lose_power(self) -> None:
        """The power fails, after the process has ended."""
        unsynced, self._unsynced = self._unsynced, None
        assert unsynced is not None
        self.begin()
        self._is_losing = True
        unsynced.lose(self.chance)
        self._is_losing = False
        self._unsynced = unsynced

    def empty(self, *, may_lose_power: bool) -> None:
        """Remove all files.

        Args:
            may_lose_power: whether the power may fail later, for which more must be noted.
        """
        self.begin()
        self._unsynced = None
        for path in self.folder.iterdir():
            shutil.rmtree(path)
        self._unsynced = UnsyncedChanges(self.folder) if may_lose_power else None

    def _path_of(self, path: _Path, parent: object = None) -> str | None:
        """The path, if it is below the folder."""
        if isinstance(path, int):
            return None
        text = os.fspath(path)
        if isinstance(parent, int):
            folder = self._descriptors.get(parent)
            return None if folder is None else f"{folder}/{text}"
        return text if f"{text}/".startswith(self._prefix) else None

    def _step(self, name: str, path: str) -> bool:
        """Whether an operation that is about to be done is the last."""
        if self.is_dead:
            raise KilledError
        if self.trace is not None:
            self.trace(f"{name} {path.removeprefix(self._prefix)}")
        if self._left > 0:
            self._left -= 1
        elif self._left == 0 and self._last in {None, name}:
            self.is_dead = True
            return True
        return False

    def _of_path(self, name: str) -> Callable[..., object]:
        real = self._real[name]

        def call(path: _Path, *arguments: object, **options: object) -> object:
            found = self._path_of(path, options.get("dir_fd"))
            if found is not None and self._step(name, found):
                raise KilledError
            if found is None or self._unsynced is None:
                return real(path, *arguments, **options)
            target = Path(str(arguments[0])) if name in _RENAMES else None
            undo = self._unsynced.undo_of(name, Path(found), target)
            result = real(path, *arguments, **options)
            self._unsynced.note(Path(found), undo)
            return result

        return call

    def _of_descriptor(self, name: str) -> Callable[..., object]:
        real = self._real[name]

        def call(descriptor: int, *arguments: object) -> object:
            found = self._descriptors.get(descriptor)
            if found is None:
                return real(descriptor, *arguments)
            is_last = self._step(name, found)
            if name == "write" and self._unsynced is not None:
                self._unsynced.note_write(descriptor)
            if is_last:
                for content in arguments if name == "write" else ():
                    assert isinstance(content, bytes | memoryview)
                    real(descriptor, content[: self.chance.randint(0, len(content))])
                raise KilledError
            before = Path(found).read_bytes() if name == "ftruncate" else b""
            result = real(descriptor, *arguments)
            if name == "ftruncate" and self._unsynced is not None:
                self._unsynced.note_cut(descriptor, before)
            elif name == "fsync" and self._unsynced is not None:
                self._unsynced.note_sync(descriptor, Path(found))
            return result

        return call

    def _open(self, path: _Path, flags: int, *arguments: object, **options: object) -> int:
        found = self._path_of(path, options.get("dir_fd"))
        is_made, undo = False, None
        if found is not None:
            is_made = bool(flags & os.O_TRUNC or (flags & os.O_CREAT and not Path(found).exists()))
            if self.is_dead or (is_made and self._step("make", found)):
                raise KilledError
            if is_made and self._unsynced is not None:
                undo = self._unsynced.undo_of("make", Path(found), None)
        descriptor = self._real["open"](path, flags, *arguments, **options)
        assert isinstance(descriptor, int)
        if found is not None:
            self._descriptors[descriptor] = found
            if is_made and self._unsynced is not None:
                self._unsynced.note(Path(found), undo)
                self._unsynced.note_made(Path(found))
        return descriptor

    def _close(self, descriptor: int) -> None:
        self._descriptors.pop(descriptor, None)
        self._real["close"](descriptor)

    def _open_stream(self, file: _Path, mode: str = "r", *arguments: object, **options: object) -> object:
        if "w" not in mode or self._is_losing or self._path_of(file) is None:
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
