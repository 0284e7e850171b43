"""A table that replaces the old one when everything is written: a run that fails changes nothing.

The table is written to a folder beside its own. ``_SUCCESS``, which marks a complete table, is written last.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from pyarrow import fs

from kafkawire.logs.files.arrow_store import located
from kafkawire.spark.options import OptionError

_MARK: Final = "_SUCCESS"


@dataclass(frozen=True)
class Place:
    """Where a table is written.

    Attributes:
        uri: path or URI, as Spark takes it.
        system: its file system.
        path: in the file system.
    """

    uri: str
    system: fs.FileSystem
    path: str

    @property
    def exists(self) -> bool:
        """Whether it exists.

        Raises:
            OSError: the file system does not respond.
        """
        return self.system.get_file_info(self.path).type != fs.FileType.NotFound

    def beside(self, end: str) -> Place:
        """A hidden folder beside it with a unique name."""
        own = PurePosixPath(self.path)
        name = f".{own.name}.{secrets.token_hex(4)}.{end}"
        return Place(f"{self.uri.rpartition('/')[0]}/{name}", self.system, str(own.parent / name))


def place_of(out: str) -> Place:
    """The place that a path or URI names; a relative path starts in the working directory.

    Raises:
        OptionError: it is the root of a file system.
        OSError: no file system has it.
    """
    system, path = located(out)
    if not PurePosixPath(path).name or (not isinstance(system, fs.LocalFileSystem) and "/" not in path.strip("/")):
        raise OptionError(f"--out {out} is not a folder that a table can replace: name a folder inside it")
    return Place(out.rstrip("/") if "://" in out else path, system, path)


@contextmanager
def written_beside(place: Place) -> Iterator[Place]:
    """A folder to write to. It replaces the place, or is deleted if an exception is raised.

    Raises:
        OSError: a folder cannot be moved.
    """
    part = place.beside("part")
    try:
        yield part
        _take_place(part, place)
    finally:
        if part.exists:
            part.system.delete_dir(part.path)


def _take_place(part: Place, place: Place) -> None:
    if isinstance(place.system, fs.S3FileSystem | fs.GcsFileSystem):
        _copy_to(part, place)
    else:
        _move_to(part, place)
    with place.system.open_output_stream(f"{place.path}/{_MARK}"):
        pass


def _move_to(part: Place, place: Place) -> None:
    """Swap folders by renaming them: at any time one of them has a name by which it can be found."""
    old = place.beside("old") if place.exists else None
    if old is not None:
        place.system.move(place.path, old.path)
    try:
        place.system.move(part.path, place.path)
    except OSError:
        if old is not None:
            place.system.move(old.path, place.path)
        raise
    if old is not None:
        old.system.delete_dir(old.path)


def _copy_to(part: Place, place: Place) -> None:
    """The same in object stores, which have no folders: the part stays complete until everything is copied."""
    system = place.system
    mark = f"{place.path}/{_MARK}"
    if system.get_file_info(mark).type == fs.FileType.File:
        system.delete_file(mark)
    if place.exists:
        system.delete_dir_contents(place.path)
    for info in system.get_file_info(fs.FileSelector(part.path, recursive=True)):
        if info.type == fs.FileType.File:
            target = place.path + info.path.removeprefix(part.path)
            system.create_dir(str(PurePosixPath(target).parent))
            system.copy_file(info.path, target)
