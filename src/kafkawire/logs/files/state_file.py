"""A file that is replaced as a whole: on this machine, or in a store that Arrow writes to."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pyarrow import fs

from kafkawire.logs.files.arrow_store import located


def read_file(path: str) -> bytes | None:
    """The content of a file; None if there is none.

    Args:
        path: a path of this machine, or a URI.

    Raises:
        OSError: it cannot be read.
    """
    system, own_path = located(path)
    if system.get_file_info(own_path).type == fs.FileType.NotFound:
        return None
    with system.open_input_stream(own_path) as stream:
        return stream.read()


def replace_file(path: str, octets: bytes) -> None:
    """Write a file beside, and rename it. A failure leaves the old file.

    Args:
        path: a path of this machine, or a URI; its folder is made.
        octets: the new content.

    Raises:
        OSError: it cannot be written.
    """
    system, own_path = located(path)
    folder, _, name = own_path.rpartition("/")
    part = f"{folder}/.{name}.{os.getpid()}.part"
    system.create_dir(folder or "/")
    try:
        if isinstance(system, fs.LocalFileSystem):
            _write_durably(Path(part), octets)
            Path(part).replace(own_path)
            _sync_folder(Path(folder or "/"))
            return
        with system.open_output_stream(part) as stream:
            stream.write(octets)
        system.move(part, own_path)
    except BaseException:
        with suppress(OSError):  # the error that made it useless is raised
            system.delete_file(part)
        raise


def delete_others(path: str) -> None:
    """Delete the other files in the folder of a file.

    Args:
        path: of the file that is kept.

    Raises:
        OSError: one cannot be deleted.
    """
    system, own_path = located(path)
    folder = own_path.rpartition("/")[0]
    for other in system.get_file_info(fs.FileSelector(folder, allow_not_found=True)):
        if other.path != own_path and other.type == fs.FileType.File:
            system.delete_file(other.path)


def _write_durably(path: Path, octets: bytes) -> None:
    with path.open("wb") as file:
        file.write(octets)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return  # folders cannot be opened there, and their changes are in the journal of the file system
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
