"""Cutting a file into ranges that begin where a batch does."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.scanning.found import FileRange

__all__ = ["ranges_of"]


def ranges_of(file: LogFile, target: int, options: ReadOptions, store: FileStore) -> Iterator[FileRange]:
    """Ranges of about ``target`` bytes."""
    yield FileRange(file, 0, file.size)
