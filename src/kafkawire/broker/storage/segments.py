"""Segments: the files of a log, named after their first offsets."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from kafkawire.broker.storage.errors import CorruptLogError
from kafkawire.broker.storage.files import naming, open_file, sync_folder, write_all

_SEGMENT_NAME: Final = re.compile(r"(\d{20})\.log")


class SegmentFile(msgspec.Struct, frozen=True):
    """A segment on disk.

    Attributes:
        base_offset: of its first record.
        path: the file.
    """

    base_offset: int
    path: Path


def segment_path(folder: Path, base_offset: int) -> Path:
    """The path of the segment with a base offset."""
    return folder / f"{base_offset:020d}.log"


def list_segments(folder: Path) -> Sequence[SegmentFile]:
    """The segments of a log, in order.

    Raises:
        OSError: the folder cannot be read.
    """
    found = ((path, _SEGMENT_NAME.fullmatch(path.name)) for path in folder.iterdir())
    return sorted((SegmentFile(int(name[1]), path) for path, name in found if name), key=lambda each: each.base_offset)


def needed_segments(folder: Path, start_offset: int) -> list[SegmentFile]:
    """The segments of a log from an offset on, in order.

    Raises:
        CorruptLogError: the log begins after the offset.
        OSError: the folder cannot be read.
    """
    segments = list(list_segments(folder))
    while len(segments) > 1 and segments[1].base_offset <= start_offset:
        del segments[0]
    if segments and segments[0].base_offset > start_offset:
        raise CorruptLogError(
            f"{folder}: the log begins at offset {segments[0].base_offset}, and nothing has the records from "
            f"{start_offset} on; put the missing segment or snapshot back, or restore the directory from a backup"
        )
    return segments


class ActiveSegment:
    """The segment to which batches are appended.

    Args:
        folder: of the log.
        base_offset: its first offset; the file is made if it does not exist. Else it becomes durable: a broker that was
            killed may have written the end of it.

    Attributes:
        base_offset: as given.
        path: the file.
        size: bytes in it.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, folder: Path, base_offset: int) -> None:
        self.base_offset = base_offset
        self.path = segment_path(folder, base_offset)
        self._descriptor = open_file(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.size = os.fstat(self._descriptor).st_size
        if self.size:
            with naming(self.path):
                os.fsync(self._descriptor)
        sync_folder(folder)

    def append(self, batch: bytes) -> None:
        """Write a batch; it is durable on return.

        Raises:
            OSError: the write failed.
        """
        with naming(self.path):
            write_all(self._descriptor, batch)
            os.fsync(self._descriptor)
        self.size += len(batch)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
