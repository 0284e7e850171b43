"""The indexes of a segment in Kafka's files: ``.index`` finds offsets, ``.timeindex`` timestamps."""

from __future__ import annotations

import os
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeAlias

from kafkawire.broker.storage.files import replace_file
from kafkawire.wire.batches import RecordBatch

INDEX_SUFFIXES: Final = (".index", ".timeindex")
_INTERVAL: Final = 4096  # index.interval.bytes
_POSITION_ENTRY: Final = struct.Struct(">ii")
_TIME_ENTRY: Final = struct.Struct(">qi")

Entry: TypeAlias = tuple[int, int]


class _Entries(Protocol):
    """Entries in order."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Entry: ...


class SegmentIndex:
    """The sparse indexes of a segment: in memory while it grows, in files once it is stored.

    Args:
        log: the ``.log`` file of the segment.
        base_offset: of the segment.
    """

    def __init__(self, log: Path, base_offset: int) -> None:
        self._paths = tuple(log.with_suffix(suffix) for suffix in INDEX_SUFFIXES)
        self._base_offset = base_offset
        self._positions: list[Entry] | None = []
        self._times: list[Entry] | None = []
        self._bytes_since_entry = 0
        self._largest = (-1, -1)

    def add(self, batch: RecordBatch, position: int) -> None:
        """Note a batch at its position in the file; offsets rise."""
        if batch.max_timestamp > self._largest[0]:
            self._largest = (batch.max_timestamp, batch.last_offset - self._base_offset)
        if self._positions is not None and self._bytes_since_entry > _INTERVAL:
            self._positions.append((batch.last_offset - self._base_offset, position))
            self._add_time()
            self._bytes_since_entry = 0
        self._bytes_since_entry += batch.size

    def store(self, *, keep: bool = False) -> None:
        """Write the files, unless they are written already.

        Args:
            keep: whether the segment may still grow.

        Raises:
            OSError: one cannot be written.
        """
        if self._positions is None or self._times is None:
            return
        self._add_time()
        contents = (
            b"".join(_POSITION_ENTRY.pack(*entry) for entry in self._positions),
            b"".join(_TIME_ENTRY.pack(*entry) for entry in self._times),
        )
        for path, content in zip(self._paths, contents, strict=True):
            if not path.exists() or path.read_bytes() != content:
                replace_file(path, [content])
        if not keep:
            self._positions = self._times = None

    def read_newest(self) -> Entry | None:
        """The newest timestamp in the files, with the last offset of the first batch that has it.

        Returns:
            None if a file is missing or of no valid size, or has no timestamp.
        """
        layouts = zip(self._paths, (_POSITION_ENTRY, _TIME_ENTRY), strict=True)
        if any(not path.exists() or path.stat().st_size % layout.size for path, layout in layouts):
            return None
        content = self._paths[1].read_bytes()[-_TIME_ENTRY.size :]
        if not content:
            return None
        self._positions = self._times = None
        timestamp, offset = _TIME_ENTRY.unpack(content)
        return timestamp, self._base_offset + offset

    def before(self, offset: int) -> Entry:
        """An offset up to the asked one, and the position of a batch that ends at it or before it."""
        with _opened(self._positions, self._paths[0], _POSITION_ENTRY) as entries:
            found = _last_up_to(offset - self._base_offset, entries)
        return (self._base_offset, 0) if found is None else (self._base_offset + found[0], found[1])

    def offset_from(self, position: int, *, default: int) -> int:
        """The last offset of the first indexed batch that begins at a position in the file or after it.

        Args:
            position: bytes.
            default: what to return if there is none.
        """
        with _opened(self._positions, self._paths[0], _POSITION_ENTRY) as entries:
            at = bisect_left(entries, position, key=itemgetter(1))
            return self._base_offset + entries[at][0] if at < len(entries) else default

    def offset_before(self, timestamp: int) -> int:
        """An offset at or before the first record with at least this timestamp, in milliseconds."""
        with _opened(self._times, self._paths[1], _TIME_ENTRY) as entries:
            found = _last_up_to(timestamp, entries)
        return self._base_offset + (0 if found is None else found[1])

    def _add_time(self) -> None:
        if self._times is not None and self._largest[0] > (self._times[-1][0] if self._times else -1):
            self._times.append(self._largest)


class _StoredEntries:
    """The entries in a file, each read when it is needed."""

    def __init__(self, file: BinaryIO, layout: struct.Struct) -> None:
        self._file = file
        self._layout = layout
        self._count = file.seek(0, os.SEEK_END) // layout.size

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Entry:
        self._file.seek(index * self._layout.size)
        first, second = self._layout.unpack(self._file.read(self._layout.size))
        return first, second


@contextmanager
def _opened(entries: Sequence[Entry] | None, path: Path, layout: struct.Struct) -> Iterator[_Entries]:
    """The entries in memory, or those in the file; none without a file, so that the segment is read from its begin."""
    if entries is not None or not path.exists():
        yield entries or ()
        return
    with path.open("rb") as file:
        yield _StoredEntries(file, layout)


def _last_up_to(value: int, entries: _Entries) -> Entry | None:
    """The last entry whose first field is not above a value."""
    at = bisect_right(entries, value, key=itemgetter(0))
    return entries[at - 1] if at else None
