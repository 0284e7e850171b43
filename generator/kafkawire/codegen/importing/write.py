"""Writes many files in one step: all that changed, or none."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Changes:
    """The files that were written.

    Attributes:
        written: files that are new or changed, relative to the folder.
        removed: files that are no longer wanted.
        unchanged: the number of files that already had their content.
    """

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def replace_files(root: Path, files: Mapping[str, str], owned: Collection[str]) -> Changes:
    """Write files to a folder, and remove other definitions from the sub-folders `owned`.

    Everything is first written to a temporary folder and then moved into place. If that fails or is interrupted, the
    moves are undone.

    Args:
        root: the folder.
        files: path relative to ``root`` to text.
        owned: sub-folders whose other ``*.json`` files are removed.

    Raises:
        OSError: if something cannot be written; the folder is then unchanged.
    """
    wanted = {name: text.encode() for name, text in files.items()}
    changed = sorted(name for name, content in wanted.items() if not _holds(root / name, content))
    present = {str(path.relative_to(root)) for folder in owned for path in (root / folder).glob("*.json")}
    removed = sorted(present - wanted.keys())
    if changed or removed:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".import-", dir=root) as work:
            new, old = Path(work, "new"), Path(work, "old")
            for name in changed:
                _parent(new / name).write_bytes(wanted[name])
            _swap(root, new, old, changed, removed)
    return Changes(tuple(changed), tuple(removed), len(wanted) - len(changed))


def _swap(root: Path, new: Path, old: Path, changed: Collection[str], removed: Collection[str]) -> None:
    """Move old files away and new ones in; undo it if it is interrupted."""
    moved_in: list[str] = []
    try:
        for name in [*changed, *removed]:
            if (root / name).exists():
                (root / name).replace(_parent(old / name))
        for name in changed:
            (new / name).replace(_parent(root / name))
            moved_in.append(name)
    except BaseException:
        for name in moved_in:
            (root / name).unlink()
        if old.exists():
            shutil.copytree(old, root, dirs_exist_ok=True, copy_function=_move)
        raise


def _move(source: str, target: str) -> str:
    return str(Path(source).replace(target))


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content


def _parent(path: Path) -> Path:
    """The path itself, with its folder made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
