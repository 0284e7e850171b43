"""The files that a table reads, and parts of them that can be read separately."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, groupby
from operator import attrgetter
from os import PathLike, fspath
from typing import Final

from kafkawire.logs.errors import NoLogsError
from kafkawire.logs.files.arrow_store import store_for
from kafkawire.logs.files.log_files import (
    FileKind,
    LogFile,
    find_log_files,
    segments_of,
    snapshots_before,
    without_repeated,
)
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.filters import BatchFilter
from kafkawire.logs.frames.ranges import ranges_of
from kafkawire.logs.option_records import OptionError
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.tables.table import Part, Table, is_own, reads

_NAMED_LOGS: Final = 8
_SHOWN_FOLDERS: Final = 5
_TAPERED: Final = 4
"""The size of a part, as a multiple of the size of the last ones of a log."""
DEFAULT_PARTITION_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True)
class FoundLogs:
    """The files of logs.

    Attributes:
        paths: the searched paths.
        files: segments and snapshots.
        store: reads them.
    """

    paths: tuple[str, ...]
    files: tuple[LogFile, ...]
    store: FileStore

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.size for file in self.files)

    def require_any(self) -> FoundLogs:
        """These logs.

        Raises:
            NoLogsError: there are no files.
        """
        if not self.files:
            reason = (
                "no segment (.log) and no snapshot (.checkpoint) of Kafka is there: give a folder of Kafka's log.dirs, "
                "or the folder of a partition, such as __cluster_metadata-0"
            )
            raise NoLogsError(", ".join(self.paths), reason)
        return self

    def of_table(self, table: Table) -> FoundLogs:
        """The files that a table reads; there may be none."""
        return replace(self, files=tuple(file for file in self.files if reads(table, file)))

    def needed_by(self, table: Table) -> FoundLogs:
        """The files that a table reads.

        Raises:
            NoLogsError: there are none.
        """
        own = self.require_any().of_table(table)
        if not any(is_own(table, file) for file in own.files):
            names = sorted({file.log for file in self.files})
            there = ", ".join(names[:_NAMED_LOGS]) + (", …" if len(names) > _NAMED_LOGS else "")
            topics = " or ".join(sorted(table.logs))
            reason = (
                f"table {table.name} needs a log of {topics}, and only {there} is there: give the folder of the former"
            )
            raise NoLogsError(", ".join(self.paths), reason)
        return own

    def one_metadata_log(self) -> FoundLogs:
        """The files of the only metadata log among them; of a bootstrap file beside it, nothing is needed.

        Raises:
            NoLogsError: there are several.
        """
        folders = {file.folder: file.shown_folder for file in self.files if not _is_bootstrap(file)}
        if len(folders) > 1:
            shown = sorted(folders.values())
            named = ", ".join(shown[:_SHOWN_FOLDERS]) + (", …" if len(shown) > _SHOWN_FOLDERS else "")
            reason = f"there are several metadata logs; give one of them: {named}"
            raise NoLogsError(", ".join(self.paths), reason)
        return replace(self, files=tuple(file for file in self.files if not folders or file.folder in folders))


def _is_bootstrap(file: LogFile) -> bool:
    """Whether it has the records that a cluster begins with, which Kafka keeps in the folder that has the logs."""
    return file.kind is FileKind.SNAPSHOT and file.base_offset == 0


def store_of(paths: Sequence[str]) -> FileStore:
    """The store that has all paths: Arrow's for URIs, else this machine.

    Raises:
        OptionError: there are both.
    """
    stores = [store_for(path) for path in paths] or [LOCAL]
    if len(set(map(type, stores))) > 1:
        raise OptionError("paths of this machine and URIs cannot be read together: use file:// URIs for the former")
    return stores[0]


def find_logs(
    paths: Sequence[str | PathLike[str]],
    *,
    store: FileStore | None = None,
    path_glob_filter: str | None = None,
    recursive: bool = True,
) -> FoundLogs:
    """The files that paths lead to; for the arguments see ``find_log_files`` and ``store_of``.

    Raises:
        OptionError: as ``store_of``.
        LogReadError: as ``find_log_files``.
    """
    listed = tuple(fspath(path) for path in paths)
    place = store_of(listed) if store is None else store
    files = find_log_files(listed, store=place, path_glob_filter=path_glob_filter, recursive=recursive)
    return FoundLogs(listed, files, place)


def plan(
    table: Table,
    files: Sequence[LogFile],
    *,
    max_partition_bytes: int = DEFAULT_PARTITION_BYTES,
    store: FileStore = LOCAL,
    options: ReadOptions = DEFAULT_OPTIONS,
) -> tuple[Part, ...]:
    """The parts of a table, in the order of the files.

    A part of a splittable table has up to about ``max_partition_bytes``: a range of a large file, or several small
    files. Otherwise a part is a whole log, or all logs of a cluster. Files of other logs are omitted, and files that
    the options exclude.

    Raises:
        LogReadError: code ``unreadable``: a file cannot be read.

    Example:
        ```python
        from kafkawire.logs import find_log_files, plan, table_named

        table = table_named("records")
        for part in plan(table, find_log_files(["/var/lib/kafka/data"]), max_partition_bytes=16 * 1024 * 1024):
            print(part.bytes, "bytes in", len(part.files), "files")
        ```
    """
    read = [file for file in files if reads(table, file)]
    if not table.splittable:
        unit = partial(_cluster_of, options) if table.spans_logs else _folder_of
        units = groupby(sorted(without_repeated(read), key=unit), key=unit)
        return tuple(Part(tuple(FileRange(file, 0, file.size) for file in files)) for _, files in units)
    ranges = (
        file_range
        for file in read
        if not BatchFilter(options, file).excludes_file
        for file_range in ranges_of(file, max_partition_bytes, options, store)
    )
    return tuple(_gathered(ranges, max_partition_bytes))


def _folder_of(file: LogFile) -> str:
    return file.folder


def _cluster_of(options: ReadOptions, file: LogFile) -> str:
    """What the logs of a cluster have in common: its id, or the folder that they are in."""
    return options.cluster or file.cluster or file.folder.rpartition("/")[0]


def parts_of_log(
    log: Part,
    options: ReadOptions,
    store: FileStore,
    *,
    max_partition_bytes: int = DEFAULT_PARTITION_BYTES,
    tapers: bool = False,
) -> tuple[Part, ...]:
    """Parts of a whole log that a divisible history can be read from; a log with a high watermark stays whole.

    Each snapshot of the state before the first segment is a part, and comes before the others.

    Args:
        log: the part with all files of the log.
        options: how to read; those that exclude records do not apply.
        store: where the files are.
        max_partition_bytes: about the size of a part.
        tapers: whether the last parts are smaller, down to a quarter of the others, so that processes which take one
            part after the other end together.

    Raises:
        LogReadError: code ``unreadable``: a file cannot be read.
    """
    if options.high_watermark is not None:
        return (log,)
    every = replace(options, from_offset=None, until_offset=None)
    segments = segments_of(each.file for each in log.files)
    range_bytes = max(max_partition_bytes // _TAPERED, 1) if tapers else max_partition_bytes
    ranges = [each for file in segments for each in ranges_of(file, range_bytes, every, store)]
    parts = tuple(_tapering(ranges, max_partition_bytes) if tapers else _gathered(ranges, max_partition_bytes))
    snapshots = snapshots_before([each.file for each in log.files])
    if not parts or sum(each.size for each in (*snapshots, *segments)) <= max_partition_bytes:
        return (log,)
    return (*(Part((FileRange(each, 0, each.size),)) for each in snapshots), *parts)


def _gathered(ranges: Iterable[FileRange], max_partition_bytes: int) -> Iterator[Part]:
    """Consecutive small ranges become one part."""
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


def _tapering(ranges: Sequence[FileRange], max_partition_bytes: int) -> Iterator[Part]:
    """Consecutive ranges become parts. Each has about half of all that is left at most, or is one range."""
    ends = list(accumulate(each.end - each.start for each in ranges))
    first = done = 0
    while first < len(ranges):
        most = min(max_partition_bytes, (ends[-1] - done) // 2)
        most += most // 8  # ranges have similar sizes, but not the same
        last = max(bisect_right(ends, done + most), first + 1)
        yield Part(tuple(_together(ranges[first:last])))
        first, done = last, ends[last - 1]


def _together(ranges: Iterable[FileRange]) -> Iterator[FileRange]:
    """Consecutive ranges of a file as one."""
    for file, of_file in groupby(ranges, key=attrgetter("file")):
        every = list(of_file)
        yield FileRange(file, every[0].start, every[-1].end)
