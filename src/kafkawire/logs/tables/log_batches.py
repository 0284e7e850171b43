"""The batches of a log from a position on, in all segments: some columns depend on batches beyond the part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from kafkawire.logs.errors import LogReadError
from kafkawire.logs.files.log_files import FileKind, LogFile, find_log_files
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.frames.batches import FileRange, ScannedBatch, scan_batches
from kafkawire.logs.options import ReadMode, ReadOptions

Place: TypeAlias = tuple[int, int]
"""Index of a segment in its log, and position of a batch in the segment."""


def log_of(file: LogFile, store: FileStore) -> Sequence[LogFile]:
    """The current segments of the log of a file; the file alone if it is not a segment of a log."""
    folder, slash, name = file.path.rpartition("/")
    if file.kind is not FileKind.SEGMENT or name != f"{file.base_offset:020}.log":
        return (file,)
    try:
        found = find_log_files((folder or slash or ".",), store=store, recursive=False)
    except LogReadError:
        return (file,)
    named_alike = found if folder or slash else [replace(each, path=each.path.removeprefix("./")) for each in found]
    segments = [each for each in named_alike if each.kind is FileKind.SEGMENT and each.folder == folder]
    return segments if any(each.path == file.path for each in segments) else (file,)


def batches_from(
    log: Sequence[LogFile], place: Place, options: ReadOptions, store: FileStore
) -> Iterator[tuple[Place, ScannedBatch]]:
    """The batches of a log from a place on, without flaws: the part that contains a flaw reports it."""
    unlimited = replace(
        options, mode=ReadMode.PERMISSIVE, from_offset=None, until_offset=None, from_time=None, until_time=None
    )
    first, position = place
    for number, file in enumerate(log[first:], first):
        start = position if number == first else 0
        try:
            for found in scan_batches(FileRange(file, start, file.size), unlimited, store=store):
                if isinstance(found, ScannedBatch):
                    yield (number, found.position), found
        except LogReadError:
            continue
