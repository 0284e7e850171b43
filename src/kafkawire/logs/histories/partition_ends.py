"""Where the log of a partition ended at any time, from the times of its batches."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from kafkawire.logs.files.log_files import FileKind, LogFile, segments_of
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.frames.segment_ends import end_of_segment
from kafkawire.wire.batches import RecordBatch, TimestampType

Partition: TypeAlias = tuple[str, int]
"""A topic and the number of one of its partitions."""

End: TypeAlias = tuple[int | None, TimestampType | None]
"""The offset after the last record, and whose clock the time of the last batch is from; None for what is not known."""

_TYPES: Final = tuple(TimestampType)


class PartitionEnds:
    """The ends of one log; 17 bytes of memory for each batch.

    A batch was appended no earlier than the latest time in it and in all batches before it, if the clocks are right.

    Attributes:
        start: the first offset of the log.
        final: the last end.
        final_type: whose clock the time of the last batch is from; None without a batch.
    """

    def __init__(self, start: int) -> None:
        self.start = start
        self.final = start
        self.final_type: TimestampType | None = None
        self._times = array("q")
        self._offsets = array("q")
        self._types = bytearray()

    def add(self, batch: RecordBatch) -> None:
        """Add the next batch; of batches that a segment has again, nothing is added."""
        offset = batch.last_offset + 1
        if not self.final <= offset < 1 << 63:
            return
        before = self._times[-1] if self._times else -1
        self.final, self.final_type = offset, batch.timestamp_type
        self._times.append(max(before, batch.max_timestamp))
        self._offsets.append(offset)
        self._types.append(self.final_type)

    def reach(self, offset: int) -> None:
        """Note that the log has reached an offset, although there is no batch before it."""
        self.final = max(self.final, offset)

    def at(self, time: int, reached: int) -> End:
        """The end at a time.

        Args:
            time: in milliseconds since the epoch.
            reached: an offset that had been reached then, whatever the times of batches are.
        """
        count = bisect_right(self._times, time)
        if count:
            return max(self._offsets[count - 1], reached), _TYPES[self._types[count - 1]]
        if self.start == 0 or reached >= self.start:
            return reached, None
        return None, None


class EndsOfPartitions:
    """The ends of the partitions among some logs. A log is read when it is first asked for.

    Args:
        files: of logs of one cluster.
        source: reads them, and counts their bytes and errors.
    """

    def __init__(self, files: Iterable[LogFile], source: FoldSource) -> None:
        self._source = source
        self._copies = defaultdict[Partition, dict[str, list[LogFile]]](lambda: defaultdict(list))
        for file in files:
            topic, _, number = file.log.rpartition("-")
            if file.kind is FileKind.SEGMENT and file.topic == topic:
                self._copies[topic, int(number)][file.folder].append(file)
        self._read: dict[Partition, PartitionEnds] = {}

    def of(self, partition: Partition) -> PartitionEnds | None:
        """The ends of a partition; None if its log is not among the files.

        Raises:
            LogReadError: as ``FoldSource.batches``; a file cannot be read.
        """
        ends = self._read.get(partition)
        if ends is None and partition in self._copies:
            copies = self._copies.pop(partition)
            ends = self._read[partition] = self._ends(self._furthest(list(copies.values())))
        return ends

    def _furthest(self, copies: Sequence[Sequence[LogFile]]) -> Sequence[LogFile]:
        """The segments of the copy with the highest end; replicas of a partition are copies of its log."""
        listed = [segments_of(files) for files in copies]
        if len(listed) == 1:
            return listed[0]
        return max(listed, key=lambda each: (self._reach(each[-1]), -each[0].base_offset))

    def _reach(self, segment: LogFile) -> int:
        try:
            return end_of_segment(segment, self._source.store).offset
        except OSError:
            return segment.base_offset

    def _ends(self, segments: Sequence[LogFile]) -> PartitionEnds:
        ends = PartitionEnds(segments[0].base_offset)
        for segment in segments:
            ends.reach(segment.base_offset)
            for found in self._source.batches(FileRange(segment, 0, segment.size)):
                if not isinstance(found, Flaw):
                    ends.add(found.batch)
        return ends
