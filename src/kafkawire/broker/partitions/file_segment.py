"""A segment in Kafka's files."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from kafkawire.broker.partitions.segment import Segment
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import naming, open_file, sync_folder, write_all
from kafkawire.broker.storage.producer_snapshot_files import producer_snapshot_path
from kafkawire.broker.storage.segment_index import INDEX_SUFFIXES, SegmentIndex
from kafkawire.broker.storage.segment_reading import BatchHead, batch_heads, batch_of
from kafkawire.broker.storage.segments import segment_path
from kafkawire.broker.storage.transaction_index import (
    TRANSACTION_INDEX_SUFFIX,
    AbortedTransaction,
    read_aborted,
    write_aborted,
)
from kafkawire.wire.batches import RecordBatch

_log = logging.getLogger(__name__)

CLEANED_SUFFIX: Final = ".cleaned"
"""Of a replacement that may be incomplete."""

SWAP_SUFFIX: Final = ".swap"
"""Of a complete replacement: it takes the place of the segments whose offsets it has."""

_FILES: Final = (".log", *INDEX_SUFFIXES, TRANSACTION_INDEX_SUFFIX)


class FileSegment(Segment):
    """A segment in a file. Its files are open only while they are read or written, since there may be thousands.

    ``add`` notes a batch, which another thread writes; it can be read once ``readable`` says so.

    Args:
        folder: of the partition.
        base_offset, created_ms: as of `Segment`.

    Attributes:
        path: the ``.log`` file.
        aborted_path: the file with aborted transactions; there is none without any.
        readable: bytes of the file that are durable.
    """

    def __init__(self, folder: Path, base_offset: int, created_ms: int) -> None:
        super().__init__(base_offset, created_ms)
        self.path = segment_path(folder, base_offset)
        self.readable = 0
        self._written = 0  # used by the thread only
        self._index = SegmentIndex(self.path, base_offset)
        self.aborted_path = self.path.with_suffix(TRANSACTION_INDEX_SUFFIX)
        self._stores_aborted = False

    def take(self, batch: RecordBatch) -> None:
        """Note a batch that the file has already."""
        self.add(batch)
        self._index.add(batch, self._written)
        self._written = self.readable = self._written + batch.size

    def take_all(self, end_offset: int, oldest_ms: int) -> bool:
        """Take the content of an indexed file without reading it, if all of its records are older than a time.

        Args:
            end_offset: the offset after its last record.
            oldest_ms: milliseconds since the epoch.

        Returns:
            Whether it was taken.
        """
        newest = self._index.read_newest()
        if newest is None or not 0 < newest[0] < oldest_ms or not self.take_aborted():
            return False
        self.largest_timestamp, self.largest_offset = newest
        self.end_offset = end_offset
        self.size = self.readable = self._written = self.path.stat().st_size
        return True

    def take_aborted(self) -> bool:
        """Take the list of aborted transactions from its file.

        Returns:
            Whether it was taken; not if the file is damaged.
        """
        try:
            found = read_aborted(self.aborted_path)
        except StorageError as error:
            _log.warning("%s", error)
            return False
        self._aborted, self._stores_aborted = [], bool(found)
        return True

    @property
    def has_aborted(self) -> bool:
        """Whether there are such transactions."""
        return self._stores_aborted or super().has_aborted

    def aborted(self) -> Sequence[AbortedTransaction]:
        """The transactions that were aborted by markers in this segment; from the file, once it has ended."""
        return read_aborted(self.aborted_path) if self._stores_aborted else self._aborted

    def write(self, batches: Sequence[RecordBatch]) -> None:
        """Write batches that were added, in their order; they are durable on return. For the thread that writes.

        Raises:
            OSError: the write failed.
        """
        is_new = not self.path.exists()
        descriptor = open_file(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            with naming(self.path):
                write_all(descriptor, b"".join(batch.to_bytes() for batch in batches))
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if is_new:
            sync_folder(self.path.parent)
        for batch in batches:
            self._index.add(batch, self._written)
            self._written += batch.size

    def store_index(self, *, grows: bool) -> None:
        """Write the index files. For the thread that writes.

        Args:
            grows: whether the segment may still grow.

        Raises:
            OSError: one cannot be written.
        """
        if not self.path.exists():  # it may have been deleted since
            return
        self._index.store(keep=grows)
        if not self._stores_aborted:
            write_aborted(self.aborted_path, self._aborted)
            if self._aborted and not grows:
                self._stores_aborted = True
                self._aborted = []

    def delete(self) -> None:
        """Delete the files; that is durable on return. For the thread that writes.

        Raises:
            OSError: one cannot be deleted.
        """
        self.unlink()
        producer_snapshot_path(self.path.parent, self.base_offset).unlink(missing_ok=True)
        sync_folder(self.path.parent)

    def unlink(self) -> None:
        """Delete the files, the log first; the state of producers before the segment stays.

        Raises:
            OSError: one cannot be deleted.
        """
        for suffix in _FILES:
            self.path.with_suffix(suffix).unlink(missing_ok=True)

    def read(self, offset: int, most: int, *, at_least_one: bool, end: int | None) -> bytes:
        """The batches from the one with an offset on, or with the next one; the last one is truncated at the limit."""
        if not self.readable:
            return b""
        with self.path.open("rb") as file:
            head = next(self._heads(file, offset), None)
            if head is None or (head.size > most and not at_least_one):
                return b""
            limit = self.readable if end is None else self._position(file, end)
            size = max(0, min(max(most, head.size), limit - head.position))
            file.seek(head.position)
            return file.read(size)

    def upper_bound(self, offset: int, size: int) -> int | None:
        """An offset after the batches that a read of this size from an offset has."""
        if not self.readable:
            return None
        with self.path.open("rb") as file:
            head = next(self._heads(file, offset), None)
        return None if head is None else self._index.offset_from(head.position + size, default=self.end_offset)

    def batches(self, offset: int) -> Iterator[RecordBatch]:
        """The batches from the one with an offset on, or with the next one."""
        if not self.readable:
            return
        with self.path.open("rb") as file:
            for head in self._heads(file, offset):
                yield batch_of(file, head)

    def batches_since(self, timestamp: int, offset: int) -> Iterator[RecordBatch]:
        """The batches from an offset on that may have records with at least this timestamp; only these are read."""
        if not self.readable:
            return
        with self.path.open("rb") as file:
            for head in self._heads(file, max(offset, self._index.offset_before(timestamp))):
                if head.max_timestamp >= timestamp:
                    yield batch_of(file, head)

    def _heads(self, file: BinaryIO, offset: int) -> Iterator[BatchHead]:
        """The places of batches from the one with an offset on; a wrong index only costs time."""
        indexed, position = self._index.before(offset)
        first = next(batch_heads(file, position, self.readable), None)
        if first is None or not self.base_offset <= first.base_offset <= first.last_offset <= indexed:
            position = 0
        for head in batch_heads(file, position, self.readable):
            if head.last_offset >= offset:
                yield head

    def _position(self, file: BinaryIO, offset: int) -> int:
        """Where the batch with an offset begins, or the end of what is readable."""
        head = next(self._heads(file, offset), None) if offset < self.end_offset else None
        return self.readable if head is None else head.position


def write_replacement(
    folder: Path, base_offset: int, batches: Iterator[RecordBatch], aborted: Sequence[AbortedTransaction] = ()
) -> tuple[FileSegment, Sequence[Path]]:
    """Write a segment that is to replace others.

    Args:
        folder: of the partition.
        base_offset: of the first segment that it replaces.
        batches: its batches.
        aborted: its aborted transactions; complete once the batches are.

    Returns:
        The segment, and the files that it has until ``SWAP_SUFFIX`` is removed from their names, the log last.

    Raises:
        DecodeError: a batch of the others is damaged.
        OSError: a file cannot be read or written.
    """
    made = FileSegment(folder, base_offset, 0)
    cleaned = made.path.with_name(made.path.name + CLEANED_SUFFIX)
    with cleaned.open("wb") as file, naming(cleaned):
        for batch in batches:
            file.write(batch.to_bytes())
            made.take(batch)
        file.flush()
        os.fsync(file.fileno())
    aborted_swap = _swap_path(made.path.with_suffix(TRANSACTION_INDEX_SUFFIX))
    write_aborted(aborted_swap, aborted)
    made.take_aborted()
    cleaned.rename(_swap_path(made.path))
    return made, [path for path in (aborted_swap, _swap_path(made.path)) if path.exists()]


def _swap_path(path: Path) -> Path:
    return path.with_name(path.name + SWAP_SUFFIX)
