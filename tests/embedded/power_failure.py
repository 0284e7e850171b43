"""What is lost when the power fails: bytes that were not fsynced, and names in folders that were not."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

Undo: TypeAlias = Callable[[], None]

_HOLES: Final = 0.3


@dataclass
class _Content:
    """What is on the disk of a file.

    Attributes:
        size: bytes that are durable.
        longer: the file before it was cut, as long as the cut is not durable; else None.
    """

    size: int = 0
    longer: bytes | None = None


class UnsyncedChanges:
    """The changes of a folder that are not durable yet.

    Of the changes of names in a folder, the first ones may be durable. Of the bytes at the end of a file, the
    first ones may be, with zeros in place of some.

    Args:
        folder: the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._contents: dict[int, _Content] = {}
        self._names: dict[Path, list[Undo]] = {}

    def undo_of(self, operation: str, path: Path, target: Path | None) -> Undo | None:
        """What takes an operation back that is about to be done; None if nothing does."""
        match operation:
            case "make":
                return None if path.exists() else lambda: path.unlink(missing_ok=True)
            case "mkdir":
                return None if path.exists() else lambda: shutil.rmtree(path, ignore_errors=True)
            case "unlink":
                return self._restored(path)
            case "rename" | "replace" if target is not None:
                before = self._restored(target)
                return lambda: self._renamed(target, path, before)
        return None

    def note(self, path: Path, undo: Undo | None) -> None:
        """An operation on a name is done."""
        if undo is not None:
            self._names.setdefault(path.parent, []).append(undo)

    def note_made(self, path: Path) -> None:
        """A file is made, or is empty again."""
        self._contents[path.stat().st_ino] = _Content()

    def note_cut(self, descriptor: int, content: bytes) -> None:
        """A file is cut; it had this content before."""
        found = os.fstat(descriptor)
        known = self._contents.setdefault(found.st_ino, _Content(len(content)))
        known.longer = known.longer or content
        known.size = min(known.size, found.st_size)

    def note_write(self, descriptor: int) -> None:
        """Something is about to be written at the end of a file."""
        found = os.fstat(descriptor)
        self._contents.setdefault(found.st_ino, _Content(found.st_size))

    def note_sync(self, descriptor: int, path: Path) -> None:
        """A file or folder is durable."""
        if path.is_dir():
            self._names.pop(path, None)
        else:
            self._contents.pop(os.fstat(descriptor).st_ino, None)

    def lose(self, chance: random.Random) -> None:
        """The power fails."""
        names, self._names = self._names, {}
        for folder in sorted(names, key=lambda path: (-len(path.parts), path)):
            undone = names[folder][chance.randint(0, len(names[folder])) :]
            for undo in reversed(undone):
                undo()
        for path in sorted(self._folder.rglob("*")):
            content = self._contents.get(path.stat().st_ino)
            if content is not None and path.is_file():
                _lose_bytes(path, content, chance)
        self._contents.clear()

    def _restored(self, path: Path) -> Undo | None:
        if not path.is_file():
            return None
        before, content = path.read_bytes(), self._contents.get(path.stat().st_ino)

        def restore() -> None:
            if path.parent.exists():
                path.write_bytes(before)
                if content is not None:
                    self._contents[path.stat().st_ino] = content

        return restore

    def _renamed(self, now: Path, before: Path, restore: Undo | None) -> None:
        if now.exists():
            now.rename(before)
        if restore is not None:
            restore()


def _lose_bytes(path: Path, content: _Content, chance: random.Random) -> None:
    if content.longer is not None and chance.random() < 0.5:
        path.write_bytes(content.longer)
        return
    written = path.read_bytes()
    if len(written) <= content.size:
        return
    end = chance.randint(content.size, len(written))
    left = bytearray(written[:end])
    if chance.random() < _HOLES:
        first = chance.randint(content.size, end)
        last = chance.randint(first, end)
        left[first:last] = bytes(last - first)
    path.write_bytes(bytes(left))
