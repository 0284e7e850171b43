"""Durable writes of files."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

PART_SUFFIX = ".part"
"""The suffix of the name of an incomplete file."""


BeforeWrite: TypeAlias = Callable[[str], Awaitable[None]]
"""Awaited before a write, with the name of what is written: tests slow the disk down."""


async def at_once(files: str) -> None:
    """Do not wait before a write."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the path to errors of calls on descriptors, such as those of a full disk.

    Raises:
        OSError: as raised inside, with the path.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def open_file(path: Path, flags: int) -> int:
    """Open a file for bytes, and return its descriptor.

    Args:
        path: the file.
        flags: of ``os.open``. On Windows, where files are for text by default, the one for bytes is added.

    Raises:
        OSError: it cannot be opened or made.
    """
    return os.open(path, flags | getattr(os, "O_BINARY", 0), 0o644)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all bytes, with as many system calls as needed.

    Raises:
        OSError: some could not be written.
    """
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def replace_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a temporary file, fsync it, and rename it.

    Raises:
        OSError: it could not be written; the old file is unchanged.
    """
    part = path.with_name(path.name + PART_SUFFIX)
    descriptor = open_file(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        with naming(part):
            for piece in pieces:
                write_all(descriptor, piece)
            os.fsync(descriptor)
    except BaseException:
        part.unlink()
        raise
    finally:
        os.close(descriptor)
    part.replace(path)
    sync_folder(path.parent)


def remove_parts(folder: Path) -> None:
    """Remove the temporary files that a crash has left.

    Raises:
        OSError: one cannot be removed.
    """
    for path in folder.glob(f"*{PART_SUFFIX}"):
        path.unlink()


def make_folder(folder: Path) -> None:
    """Make a folder with those above it, as far as they do not exist; its name is durable on return.

    A folder that exists may be one that a crash has left before its name was durable.

    Raises:
        OSError: one cannot be made.
    """
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in made or (folder,):
        _sync_names(each.parent, named=each)


def sync_file(path: Path) -> None:
    """Fsync a file that others may have written.

    Raises:
        OSError: it failed.
    """
    descriptor = open_file(path, os.O_WRONLY)
    try:
        with naming(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Fsync a folder, after files in it were made, renamed or deleted.

    Windows has no such call: folders cannot be opened, and their changes are in the journal of the file system.

    Raises:
        OSError: it failed.
    """
    _sync_names(folder, named=folder)


def _sync_names(folder: Path, *, named: Path) -> None:
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            with naming(named):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
