"""The records of a partition of an internal topic in files, for clients that read them."""

from __future__ import annotations

from pathlib import Path

from kafkawire.broker.partitions.file_segment import FileSegment
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.wire.batches import RecordBatch


class CoordinatorLog(PartitionLog):
    """The records in the files of a coordinator, which alone writes and deletes them. It has those that are durable.

    Args:
        folder: of the partition.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._last: FileSegment | None = None

    def take(self, segment_offset: int, batch: RecordBatch) -> None:
        """Note a batch that the file of a segment has; batches come in order.

        Args:
            segment_offset: the first offset of the segment.
            batch: the batch.

        Raises:
            DecodeError: it is a marker that cannot be read.
        """
        aborted = self.producers.see(batch)
        segment = self._last
        if segment is None or segment.base_offset != segment_offset:
            segment = self._last = FileSegment(self._folder, segment_offset, batch.max_timestamp)
            self.segments.append(segment)
        segment.take(batch)
        if aborted is not None:
            segment.add_aborted(aborted)
        self._epoch_starts.setdefault(batch.partition_leader_epoch, batch.base_offset)
        self.end_offset = batch.last_offset + 1
        self._wake()

    def begin(self, start_offset: int, end_offset: int) -> None:
        """Note where the files begin and end, which may have no records there."""
        self.start_offset, self.end_offset = start_offset, max(self.end_offset, end_offset)
