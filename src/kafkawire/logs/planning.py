"""Cutting a reading into parts that can be read apart from each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.scanning.filters import BatchFilter
from kafkawire.logs.scanning.found import FileRange
from kafkawire.logs.scanning.ranges import ranges_of
from kafkawire.logs.tables.table import Part, Table, reads

__all__ = ["DEFAULT_PARTITION_BYTES", "plan"]

DEFAULT_PARTITION_BYTES: Final = 64 * 1024 * 1024


def plan(
    table: Table,
    files: Sequence[LogFile],
    *,
    max_partition_bytes: int = DEFAULT_PARTITION_BYTES,
    store: FileStore = LOCAL,
    options: ReadOptions = DEFAULT_OPTIONS,
) -> tuple[Part, ...]:
    """The parts of a reading, in the order of the files.

    A part of a splittable table has up to about ``max_partition_bytes``: a range of a large file, or several small
    files. Otherwise a part is the whole of a log. Files of other logs, and files without anything that the options ask
    for, are left out.

    Raises:
        LogReadError: code ``unreadable``: a file cannot be read.
    """
    read = [file for file in files if reads(table, file)]
    if not table.splittable:
        return tuple(
            Part(tuple(FileRange(file, 0, file.size) for file in log))
            for _, log in groupby(read, key=lambda file: file.folder)
        )
    ranges = (
        file_range
        for file in read
        if not BatchFilter(options, file).excludes_file
        for file_range in ranges_of(file, max_partition_bytes, options, store)
    )
    return tuple(_gathered(ranges, max_partition_bytes))


def _gathered(ranges: Iterator[FileRange], max_partition_bytes: int) -> Iterator[Part]:
    """Ranges that are small together make one part."""
    gathered: list[FileRange] = []
    size = 0
    for each in ranges:
        if gathered and size + each.end - each.start > max_partition_bytes:
            yield Part(tuple(gathered))
            gathered, size = [], 0
        gathered.append(each)
        size += each.end - each.start
    if gathered:
        yield Part(tuple(gathered))
