"""The records of one partition in Kafka's files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from kafkawire.broker.partitions.file_segment import FileSegment, write_replacement
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.record_writer import RecordWriter
from kafkawire.broker.partitions.segment import Segment
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import make_folder, sync_folder
from kafkawire.broker.storage.partition_files import read_leader_epochs, write_leader_epochs, write_topic_id
from kafkawire.broker.storage.producer_snapshot_files import producer_snapshot_path, write_producer_snapshot
from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ProducerSnapshot
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.message import Struct


class _SegmentEnd(Struct, frozen=True):
    """The end of a segment: where the next one begins, and the state of the producers there."""

    offset: int
    producers: ProducerSnapshot


class FilePartitionLog(PartitionLog):
    """A log in the folder of its partition. Batches can be read once they are durable.

    Args:
        folder: of the partition; made at the first write.
        topic_id: of the topic.
        writer: writes.
        note_offsets: writes the checkpoint files of the directory; called in the writer's thread.

    Attributes:
        folder: as given.
        durable_offset: all records below it would survive a crash.
    """

    def __init__(self, folder: Path, topic_id: Uuid, writer: RecordWriter, note_offsets: Callable[[], None]) -> None:
        super().__init__()
        self.folder = folder
        self.durable_offset = 0
        self._topic_id = topic_id
        self._writer = writer
        self._note_offsets = note_offsets
        self._unwritten: list[tuple[FileSegment, RecordBatch | _SegmentEnd]] = []
        self._taken: Sequence[tuple[FileSegment, RecordBatch | _SegmentEnd]] = ()
        self._durable: list[tuple[int, asyncio.Future[None]]] = []
        self._last_epoch = -1  # used by the thread only

    def take(self, segments: Sequence[FileSegment], start_offset: int, cleaned_offset: int) -> None:
        """Begin with what was read from the folder.

        Args:
            segments: the segments, in order.
            start_offset: of the first record that is not deleted.
            cleaned_offset: compaction has seen all records below it.
        """
        self.segments = [*segments]
        first, last = segments[0], segments[-1]
        self.start_offset = max(first.base_offset, start_offset)
        self.end_offset = self.durable_offset = max(last.end_offset, self.start_offset)
        self.cleaned_offset = min(cleaned_offset, self.end_offset)

    @property
    def high_watermark(self) -> int:
        """The offset after the last durable record."""
        return self.durable_offset

    async def durable(self, offset: int | None = None) -> None:
        """Wait until records would survive a crash."""
        offset = self.end_offset if offset is None else offset
        if self.durable_offset < offset:
            self._writer.check()
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._durable.append((offset, waiter))
            await waiter

    def epoch_starts(self) -> dict[int, int]:
        """Leader epoch to the offset of its first record; an epoch without records is missing."""
        return super().epoch_starts() | read_leader_epochs(self.folder)

    def roll(self, now_ms: int) -> None:
        """Begin a new segment."""
        if self.segments:
            self._unwritten.append((_file(self.segments[-1]), _SegmentEnd(self.end_offset, self.producers.snapshot())))
            self._writer.write(self)
        self.segments.append(FileSegment(self.folder, self.end_offset, now_ms))

    async def delete_segments(self, count: int) -> None:
        """Delete the first segments, the oldest first, so that a crash leaves no gaps. Their records are durable.

        The state of the producers at their end is written before: then nothing else has it.
        """
        if self.is_closed:
            return
        last, deleted = _file(self.segments[-1]), self.segments[:count]
        ends = [entry for entry in self._unwritten if entry[0] in deleted]
        self._unwritten = [entry for entry in self._unwritten if entry[0] not in deleted]
        await self._writer.in_thread(self._write, ends)
        await self._writer.in_thread(last.write, ())
        for segment in self._without(count):
            if not self.is_closed:
                await self._writer.in_thread(_file(segment).delete)

    async def delete_before(self, offset: int) -> None:
        """Make an offset the first one; it is durable on return."""
        if offset > self.start_offset and not self.is_closed:
            self.start_offset = offset
            await self._writer.in_thread(self._note_offsets)

    async def note_cleaned(self, offset: int) -> None:
        """Compaction has seen all records below an offset."""
        if not self.is_closed:
            self.cleaned_offset = offset
            await self._writer.in_thread(self._note_offsets)

    async def rewrite(
        self, segments: Sequence[Segment], batches: Iterator[RecordBatch], aborted: Sequence[AbortedTransaction] = ()
    ) -> None:
        """Replace the content of neighbouring segments by one segment, in the steps of Kafka's log cleaner.

        The new file is complete before it is called ``.swap``; from then on a crash leaves the new segment. Clients
        read the old segments until then, and nothing runs between the deletion of these and the last renaming.
        """
        replaced = [_file(segment) for segment in segments]
        for segment in replaced:  # so that nothing writes an index of theirs later
            await self._writer.in_thread(partial(segment.store_index, grows=False))
        try:
            base_offset = replaced[0].base_offset
            made, swaps = await asyncio.to_thread(write_replacement, self.folder, base_offset, batches, aborted)
        except FileNotFoundError:
            if self.is_closed:
                return
            raise
        if not self.is_closed:
            await self._writer.in_thread(sync_folder, self.folder)
        if self.is_closed:
            return
        with self._writer.failing():
            for segment in replaced:
                segment.unlink()
            for swap in swaps:
                swap.rename(swap.with_suffix(""))
            for segment in replaced[1:]:
                producer_snapshot_path(self.folder, segment.base_offset).unlink(missing_ok=True)
        at = self.segments.index(replaced[0])
        self.segments[at : at + len(replaced)] = [made]
        await self._writer.in_thread(partial(made.store_index, grows=False))

    def close(self) -> None:
        """Write nothing more, because the partition is deleted; what waits for its records waits for ``deleted``."""
        self._unwritten.clear()
        super().close()

    def deleted(self) -> None:
        """The deletion is durable, so that no record has to be: complete all waiting futures.

        Not before: after a crash the topic would exist again, without records that were acknowledged.
        """
        self.durable_offset = self.end_offset
        self._release()

    def taken(self) -> Callable[[], None]:
        """Take the batches that are to be written."""
        self._taken, self._unwritten = self._unwritten, []
        return partial(self._write, self._taken)

    def written(self) -> None:
        """The batches that were taken are durable."""
        for segment, batch in self._taken:
            if isinstance(batch, RecordBatch):
                segment.readable += batch.size
                self.durable_offset = batch.last_offset + 1
        self._taken = ()
        self._release()
        self._wake()

    def _release(self) -> None:
        """Complete the futures that wait for durable records."""
        waiting, self._durable = self._durable, []
        for offset, waiter in waiting:
            if offset > self.durable_offset:
                self._durable.append((offset, waiter))
            elif not waiter.done():
                waiter.set_result(None)

    def failed(self, error: StorageError) -> None:
        """Nothing can be written any more."""
        for _, waiter in self._durable:
            if not waiter.done():
                waiter.set_exception(StorageError(str(error)))
        self._durable.clear()

    def store_index(self) -> None:
        """Write the index of the last segment. For the thread that writes.

        Raises:
            OSError: it cannot be written.
        """
        if self.segments:
            _file(self.segments[-1]).store_index(grows=True)

    def _store(self, batch: RecordBatch) -> None:
        segment = _file(self.segments[-1])
        segment.add(batch)
        self._unwritten.append((segment, batch))
        self._writer.write(self)

    def _write(self, taken: Sequence[tuple[FileSegment, RecordBatch | _SegmentEnd]]) -> None:
        """Write batches by segment; called in the writer's thread. A `_SegmentEnd` ends a segment."""
        has_ended = False
        for segment, entries in groupby(taken, key=itemgetter(0)):
            content = [batch for _, batch in entries]
            batches = [batch for batch in content if isinstance(batch, RecordBatch)]
            if batches:
                self._note_epoch(batches[0])
                segment.write(batches)
            if isinstance(end := content[-1], _SegmentEnd):
                segment.store_index(grows=False)
                write_producer_snapshot(producer_snapshot_path(self.folder, end.offset), end.producers)
                has_ended = True
        if has_ended:
            self._note_offsets()

    def _note_epoch(self, batch: RecordBatch) -> None:
        """Write the files with topic id and leader epochs, before the first record of an epoch."""
        epoch = batch.partition_leader_epoch
        if epoch == self._last_epoch:
            return
        make_folder(self.folder)
        write_topic_id(self.folder, self._topic_id)
        epochs = read_leader_epochs(self.folder)
        if not epochs or epoch > max(epochs):
            write_leader_epochs(self.folder, {**epochs, epoch: batch.base_offset})
        self._last_epoch = epoch


def _file(segment: Segment) -> FileSegment:
    if not isinstance(segment, FileSegment):
        raise TypeError(f"{segment!r} is not in a file")
    return segment
