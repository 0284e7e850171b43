"""Cutting a reading into parts that can be read apart from each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from kafkawire.logs.errors import LogReadError
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.scanning.filters import BatchFilter
from kafkawire.logs.scanning.found import FileRange
from kafkawire.logs.scanning.ranges import ranges_of
from kafkawire.logs.tables.table import Part, Table, reads

__all__ = ["DEFAULT_PARTITION_BYTES", "files_of_table", "plan"]

_NAMED_LOGS: Final = 8
DEFAULT_PARTITION_BYTES: Final = 64 * 1024 * 1024


def files_of_table(table: Table, found: Sequence[LogFile], paths: Sequence[str]) -> tuple[LogFile, ...]:
    """The files that a table reads, of those that paths lead to.

    Raises:
        LogReadError: code ``unreadable``: there are none.
    """
    shown = ", ".join(paths)
    if not found:
        reason = "no segment (.log) and no snapshot (.checkpoint) of Kafka is there"
        raise LogReadError("unreadable", shown, reason)
    read = tuple(file for file in found if reads(table, file))
    if not read:
        there = ", ".join(sorted({file.log for file in found})[:_NAMED_LOGS])
        reason = f"{table.name} is in the log of {' or '.join(sorted(table.logs))}; there are only {there}"
        raise LogReadError("unreadable", shown, reason)
    return read


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
