"""A metadata log and its snapshots as they are read: batches that follow each other, their records, and flaws."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple, Protocol

from kafkawire.logs.files.log_files import FileKind, LogFile, segments_of
from kafkawire.logs.folding.metadata_decoder import MetadataDecoder, MetadataRecords
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.continuing import Reached
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.records.batch_records import RecordGroup
from kafkawire.logs.tables.rows import RawRows
from kafkawire.protocol import SnapshotHeaderRecord
from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import RecordBatch


class NeededRows(Protocol):
    """Records that a history may need."""

    def decoded(self, decoder: MetadataDecoder, first: int, limit: int | None) -> MetadataRecords:
        """See ``MetadataDecoder.decode``."""


@dataclass(frozen=True)
class AllRows:
    """All records of some batches."""

    rows: RawRows

    def decoded(self, decoder: MetadataDecoder, first: int, limit: int | None) -> MetadataRecords:
        """See ``NeededRows``."""
        return decoder.decode(self.rows, first, limit)


class Run(NamedTuple):
    """Batches of a log without a gap between them.

    Attributes:
        file: of the batches.
        position: of the first.
        base_offset, base_timestamp: of the first.
        last_of_first: the last offset of the first.
        last_offset: of the last.
        reached: the place after them.
        rows: their records.
    """

    file: LogFile
    position: int
    base_offset: int
    base_timestamp: int
    last_of_first: int
    last_offset: int
    reached: Reached | None
    rows: NeededRows


class SnapshotEnd(NamedTuple):
    """The header or the footer of a snapshot.

    Attributes:
        type: which of the two.
        time: of the last record of the log that the snapshot covers, in milliseconds since the epoch; of a header.
    """

    type: ControlRecordType
    time: int | None


class SnapshotRows(NamedTuple):
    """Records of a snapshot.

    Attributes:
        file: the snapshot.
        rows: the records.
        ends: the header and the footer, if they are among them.
    """

    file: LogFile
    rows: NeededRows
    ends: Sequence[SnapshotEnd]


class MetadataLog(Protocol):
    """What a log has, in order."""

    def runs(self, snapshots: Sequence[LogFile]) -> Iterator[Run | Flaw]:
        """The batches of the log, cut at gaps and where a snapshot may fill one in.

        Args:
            snapshots: those that were not read yet, in the order of their offsets; the caller removes them.
        """

    def snapshot(self, file: LogFile) -> Iterator[SnapshotRows | Flaw]:
        """The records of a snapshot."""


def snapshots_of(files: Sequence[LogFile], high_watermark: int | None) -> deque[LogFile]:
    """The snapshots that may have what a log lacks, in the order of their offsets."""
    first = (
        1 if segments_of(files) else 0
    )  # the log repeats the records of a snapshot at 0, such as bootstrap.checkpoint
    last = float("inf") if high_watermark is None else high_watermark
    found = (file for file in files if file.kind is FileKind.SNAPSHOT and first <= file.base_offset <= last)
    return deque(sorted(found, key=lambda snapshot: (snapshot.base_offset, -(snapshot.epoch or 0))))


@dataclass(frozen=True)
class FilesOfLog:
    """See ``MetadataLog``. Records are counted.

    Attributes:
        ranges: of the segments, in order.
        source: reads them.
    """

    ranges: Iterator[FileRange]
    source: FoldSource

    def runs(self, snapshots: Sequence[LogFile]) -> Iterator[Run | Flaw]:
        """See ``MetadataLog``.

        Raises:
            LogReadError: as ``FoldSource.groups``.
        """
        limit, accounts = self.source.options.high_watermark, self.source.accounts
        for each in self.ranges:
            for found in self.source.groups(each):
                if isinstance(found, Flaw):
                    yield found
                    continue
                batches = found.batches
                if limit is not None:
                    batches = [*takewhile(lambda batch: batch.base_offset < limit, batches)]
                yield from _runs(found, batches, snapshots, limit)
                beyond = found.batches[len(batches) : len(batches) + 1]  # read as well, to know that it is beyond
                accounts.records_read += sum(batch.records_count for batch in (*batches, *beyond))
                if beyond:
                    break

    def snapshot(self, file: LogFile) -> Iterator[SnapshotRows | Flaw]:
        """See ``MetadataLog``.

        Raises:
            LogReadError: as ``FoldSource.groups``.
        """
        for found in self.source.groups(FileRange(file, 0, file.size)):
            if isinstance(found, Flaw):
                yield found
                continue
            self.source.accounts.records_read += len(found)
            rows = RawRows.of(found)
            yield SnapshotRows(file, AllRows(rows), [*_ends_of(rows)])


def _runs(
    group: RecordGroup, batches: Sequence[RecordBatch], snapshots: Sequence[LogFile], limit: int | None
) -> Iterator[Run]:
    """The first batches of a group, cut at gaps and where a snapshot may fill one in.

    Args:
        group: the batches with their records.
        batches: some or all of the batches.
        snapshots: see ``MetadataLog.runs``.
        limit: the high watermark, or None.
    """
    rows = RawRows.of(group)
    begin, first, place = 0, 0, 0
    for number, batch in enumerate(batches):
        follows = number > begin and batch.base_offset == batches[number - 1].last_offset + 1
        if number > begin and not (follows and (not snapshots or snapshots[0].base_offset > batch.last_offset)):
            yield _run(batches[begin:number], rows.piece(first, place), limit)
            begin, first = number, place
        place += batch.records_count
    if batches:
        yield _run(batches[begin:], rows.piece(first, place), limit)


def _run(batches: Sequence[RecordBatch], rows: RawRows, limit: int | None) -> Run:
    first, last, file = batches[0], batches[-1], rows.file
    reached = Reached(last.last_offset + 1, file.base_offset, last.position + last.size)
    if limit is not None and limit <= last.last_offset:  # the last batch is read again, for its other records
        reached = Reached(limit, file.base_offset, last.position)
    return Run(
        file,
        first.position,
        first.base_offset,
        first.base_timestamp,
        first.last_offset,
        last.last_offset,
        reached,
        AllRows(rows),
    )


def _ends_of(rows: RawRows) -> Iterator[SnapshotEnd]:
    found = rows.where(rows.control)
    for key, value in zip(found.keys.to_pylist(), found.values.to_pylist(), strict=True):
        try:
            control = decode_control_record(key, value)
        except DecodeError:
            continue
        if isinstance(control, ControlRecord):
            header = control.message
            time = header.last_contained_log_timestamp if isinstance(header, SnapshotHeaderRecord) else None
            yield SnapshotEnd(control.type, time)
