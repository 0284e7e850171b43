"""A log of record batches: appends are in memory at once and durable soon after, many with one fsync."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

from kafkawire.broker.storage.end_checkpoint import END_CHECKPOINT, read_end, write_end
from kafkawire.broker.storage.errors import CorruptLogError, StorageError
from kafkawire.broker.storage.files import (
    BeforeWrite,
    at_once,
    make_folder,
    remove_parts,
    replace_file,
    sync_folder,
)
from kafkawire.broker.storage.recovery import recover
from kafkawire.broker.storage.segments import (
    ActiveSegment,
    SegmentFile,
    list_segments,
    needed_segments,
    segment_path,
)
from kafkawire.broker.storage.unwritten_batches import (
    KeyValue,
    Kind,
    Producer,
    UnwrittenBatch,
    UnwrittenBatches,
    UnwrittenSegment,
)
from kafkawire.wire.batches import RecordBatch, read_batches

_log = logging.getLogger(__name__)


class BatchLog:
    """The log of one partition in Kafka's segment files.

    Appends during a write wait and become one batch, which is written only after the write before it is durable. After
    the first error nothing is written.

    A checkpoint file has an offset below which all records were durable; a log that ends before it is refused.

    Args:
        folder: of the partition; made if it does not exist.
        segment_bytes: the most bytes of a segment.
        start_offset: records below it are not needed, since a snapshot has them, and segments with only such records
            are not read. A log that ends below it continues there. None to read the whole log.
        compacted: whether offsets may be missing between batches, as Kafka's log cleaner leaves them.
        checkpoint: the checkpoint file; None for one in the folder.
        on_failure: called with the first error of a write.
        before_write: awaited before each write, with the name of what is written.
        on_durable: called with each batch that has become durable, and the first offset of its segment.

    Attributes:
        folder: as given.
        start_offset: of the first segment that was read.
        end_offset: the offset of the next record.
        durable_offset: all records below it would survive a crash.
        leader_epoch: of the last batch, and of new ones; set it when a new leader begins.
        last_timestamp: of the last batch, in milliseconds since the epoch; -1 if there is none.
        failure: the first error of a write; None if there was none.

    Raises:
        CorruptLogError: it is damaged before its end, or its end is missing.
        StorageError: the checkpoint file is damaged.
        OSError: a file cannot be read or made.
    """

    def __init__(
        self,
        folder: Path,
        *,
        segment_bytes: int,
        start_offset: int | None = None,
        compacted: bool = False,
        checkpoint: Path | None = None,
        on_failure: Callable[[StorageError], None] | None = None,
        before_write: BeforeWrite = at_once,
        on_durable: Callable[[int, RecordBatch], None] | None = None,
    ) -> None:
        self.folder = folder
        self.failure: StorageError | None = None
        self._segment_bytes = segment_bytes
        self._on_failure = on_failure
        self._before_write = before_write
        self._on_durable = on_durable
        self._checkpoint = checkpoint or folder / END_CHECKPOINT
        self._checked_end = read_end(self._checkpoint)
        make_folder(folder)
        remove_parts(folder)
        self._segments = list(list_segments(folder)) if start_offset is None else needed_segments(folder, start_offset)
        end = recover(self._segments, durable_offset=self._checked_end, compacted=compacted)
        if max(end.offset, start_offset or 0) < self._checked_end:
            raise CorruptLogError(
                f"{folder}: the log ends at offset {end.offset}, but according to {self._checkpoint.name} it had all "
                f"records below {self._checked_end}, so its newest segment is missing or truncated; put the segment "
                "back, or restore the directory from a backup. To continue without these records, delete "
                f"{self._checkpoint}"
            )
        self._segments = list(end.segments)
        self.leader_epoch = end.leader_epoch
        self.last_timestamp = end.timestamp
        self.end_offset: int = end.offset
        self.durable_offset: int = end.offset
        if end.offset < (start_offset or 0) or not self._segments:
            self._begin_at(start_offset or 0)
        self.start_offset = self._segments[0].base_offset
        self._written_offset = self.end_offset  # used by the thread only
        self._segment_is_noted = False  # used by the thread only: whether the checkpoint covers the segment
        self._active = ActiveSegment(folder, self._segments[-1].base_offset)
        self._unwritten = UnwrittenBatches()
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kafkawire-log")

    def batches(self) -> Iterator[RecordBatch]:
        """The batches on disk from ``start_offset`` on; read them before anything is appended.

        Raises:
            OSError: a file cannot be read.
        """
        return (batch for _, batch in self.batches_in_segments())

    def batches_in_segments(self) -> Iterator[tuple[int, RecordBatch]]:
        """As ``batches``, each after the first offset of its segment."""
        for segment in self._segments:
            for batch in read_batches(segment.path.read_bytes()):
                yield segment.base_offset, batch

    def append(
        self, records: Sequence[KeyValue], timestamp: int, *, control: bool = False, producer: Producer | None = None
    ) -> int:
        """Append records, all in one batch; they are durable later. Needs a running event loop.

        Args:
            records: keys and values, which must fit into a batch.
            timestamp: milliseconds since the epoch. A batch has one append time, so records that join a batch get the
                time of its first ones.
            control: whether they are control records.
            producer: whose transaction they are in; None outside of one.

        Returns:
            The offset of the first one.

        Raises:
            StorageError: the log has failed before.
        """
        self._check()
        base_offset = self.end_offset
        batch = self._unwritten.add(records, base_offset, timestamp, Kind(self.leader_epoch, control, producer))
        self.end_offset = batch.end_offset
        self.last_timestamp = batch.timestamp
        self._write_soon()
        return base_offset

    def append_segment(
        self, batches: Iterable[tuple[Producer | None, Sequence[KeyValue]]], count: int, timestamp: int
    ) -> int:
        """Append a new segment with some batches. It is durable later; until then a crash leaves nothing of it.

        Args:
            batches: the records of each, and whose transaction they are in, as for ``append``. They are read in the
                thread that writes.
            count: how many records they have.
            timestamp: milliseconds since the epoch.

        Returns:
            Its first offset.

        Raises:
            StorageError: the log has failed before.
        """
        self._check()
        segment = self._unwritten.add_segment(batches, count, self.end_offset, timestamp, self.leader_epoch)
        self.end_offset = segment.end_offset
        self.last_timestamp = timestamp
        self._write_soon()
        return segment.base_offset

    def _write_soon(self) -> None:
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write_all())

    def seal(self) -> None:
        """End the current batch: the next append begins another one."""
        self._unwritten.seal()

    def is_durable(self, offset: int) -> bool:
        """Whether all records below an offset would survive a crash."""
        return offset <= self.durable_offset

    async def durable(self, offset: int) -> None:
        """Wait until all records below an offset would survive a crash.

        Raises:
            StorageError: they could not be written.
        """
        if offset <= self.durable_offset:
            return
        self._check()
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((offset, waiter))
        await waiter

    async def close(self) -> None:
        """Write what is not durable yet, and close the files."""
        if self._writing is not None:
            await self._writing
        if self.failure is None and self.durable_offset > self._checked_end:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._note_end_at_last)
        self._thread.shutdown()
        self._active.close()

    async def roll(self) -> int:
        """Begin a new segment after the last written record, unless the last segment is empty.

        Returns:
            The first offset of the last segment.

        Raises:
            OSError: it cannot be made.
        """
        await asyncio.get_running_loop().run_in_executor(self._thread, self._roll_if_used)
        return self._active.base_offset

    async def delete_before(self, offset: int) -> None:
        """Delete the segments that have only records below an offset.

        Raises:
            OSError: one cannot be deleted.
        """
        await asyncio.get_running_loop().run_in_executor(self._thread, self._delete_before, offset)

    def _check(self) -> None:
        if self.failure is not None:
            raise StorageError(str(self.failure))

    async def _write_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._unwritten:
                await self._before_write(self.folder.name)
                unwritten = self._unwritten.take()
                segment_offset, written = await loop.run_in_executor(self._thread, self._write, unwritten)
                self.durable_offset = unwritten.end_offset
                if self._on_durable is not None:
                    for batch in read_batches(b"".join(written), check_crc=False):
                        self._on_durable(segment_offset, batch)
                self._release_waiters()
        except Exception as error:  # noqa: BLE001 after any error, the records must not be reported as durable
            self._fail(error)
        finally:
            self._writing = None

    def _write(self, unwritten: UnwrittenBatch | UnwrittenSegment) -> tuple[int, Sequence[bytes]]:
        """Write it; called in the log's thread, so that the event loop is not blocked.

        Returns:
            The first offset of its segment, and the batches.
        """
        if isinstance(unwritten, UnwrittenSegment):
            written = list(unwritten.encoded())
            self._write_segment(unwritten.base_offset, written)
        else:
            written = [unwritten.encoded()]
            if self._active.size + len(written[0]) > self._segment_bytes:
                self._roll_if_used()
            self._active.append(written[0])
        self._written_offset = unwritten.end_offset
        if not self._segment_is_noted:
            self._note_end()
            self._segment_is_noted = True
        return self._active.base_offset, written

    def _write_segment(self, base_offset: int, batches: Sequence[bytes]) -> None:
        """The file gets its name when all batches are in it; it may take the place of an empty segment."""
        replace_file(segment_path(self.folder, base_offset), batches)
        self._follow(base_offset)

    def _note_end(self) -> None:
        write_end(self._checkpoint, self._written_offset)
        self._checked_end = self._written_offset

    def _note_end_at_last(self) -> None:
        try:
            self._note_end()
        except OSError as error:
            _log.warning("%s: not written: %s; a missing end of the log would not be detected", self._checkpoint, error)

    def _roll_if_used(self) -> None:
        if self._active.size:
            self._follow(self._written_offset)

    def _follow(self, base_offset: int) -> None:
        """Append to another segment from now on."""
        following = ActiveSegment(self.folder, base_offset)
        self._active.close()
        self._active = following
        self._segment_is_noted = False
        if self._segments[-1].base_offset != base_offset:
            self._segments.append(SegmentFile(base_offset, following.path))

    def _delete_before(self, offset: int) -> None:
        """Delete the oldest first, so that a crash leaves no gaps; also segments that were not read at the start."""
        segments = list_segments(self.folder)
        for segment, following in pairwise(segments):
            if following.base_offset <= offset:
                segment.path.unlink()
                sync_folder(self.folder)
        self._segments = [each for each in segments if each.path.exists()]
        self.start_offset = self._segments[0].base_offset

    def _begin_at(self, offset: int) -> None:
        """Begin an empty log at an offset, because the snapshot has all records of the log."""
        for segment in list_segments(self.folder):
            segment.path.unlink()
        self.end_offset = self.durable_offset = offset
        active = ActiveSegment(self.folder, offset)
        self._segments = [SegmentFile(offset, active.path)]
        active.close()

    def _release_waiters(self) -> None:
        waiting = []
        for offset, waiter in self._waiters:
            if offset > self.durable_offset:
                waiting.append((offset, waiter))
            elif not waiter.done():
                waiter.set_result(None)
        self._waiters = waiting

    def _fail(self, error: Exception) -> None:
        where, reason = self._active.path, str(error)
        if isinstance(error, OSError) and error.filename == str(where):
            reason = error.strerror or reason  # the message has the path already
        self.failure = StorageError(
            f"{where}: writing the records from offset {self.durable_offset} on failed: {reason}; the broker has "
            "stopped. Free space or repair the disk, then start the broker again"
        )
        _log.error("%s", self.failure, exc_info=None if isinstance(error, OSError) else error)
        self._unwritten.clear()
        for _, waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(StorageError(str(self.failure)))
        self._waiters.clear()
        if self._on_failure is not None:
            self._on_failure(self.failure)
