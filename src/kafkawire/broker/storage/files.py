"""Durable writes of files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

PART_SUFFIX = ".part"
"""The suffix of the name of an incomplete file."""


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
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
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


def sync_folder(folder: Path) -> None:
    """Fsync a folder, after files in it were made, renamed or deleted.

    Raises:
        OSError: it failed.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with naming(folder):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
