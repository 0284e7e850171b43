"""The metadata log of another cluster, copied to memory up to a date; its files are only read."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.metadata_log.snapshots import (
    Quorum,
    Snapshot,
    SnapshotFile,
    last_timestamp_of,
    list_snapshots,
    read_snapshot,
)
from kafkawire.broker.storage.data_directory import METADATA_FOLDER, cluster_id_of
from kafkawire.broker.storage.errors import CorruptLogError, DataDirectoryError
from kafkawire.broker.storage.recovery import IncompleteWrite, LogEnd, find_end
from kafkawire.broker.storage.segments import list_segments, needed_segments
from kafkawire.records.control_records import ControlRecord, decode_control_record
from kafkawire.records.framed_records import METADATA_RECORD, read_frame
from kafkawire.records.metadata_records import decode_metadata_record
from kafkawire.records.metadata_transactions import MetadataTransactions
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.batches import RecordBatch, decode_records, read_batches
from kafkawire.wire.message import Octets

_log = logging.getLogger(__name__)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class CopiedLog(MetadataLog):
    """A log in memory that begins with the records of another cluster's log.

    Nothing is locked or written there, so the files may be in use, or on a read-only disk. An incomplete batch at the
    end is left out. So are records of types that only newer releases have, with a warning.

    Args:
        source: a data directory of the cluster, or the folder of its metadata log.
        as_of: the time of the last records that count; without a zone it is in UTC. None for all records.

    Attributes:
        cluster_id: id of the cluster; None if the files do not have it.
        leader_epoch: of the last record that was read; set by ``replay``, as are the others.
        last_timestamp: its time, in milliseconds.
        quorum: the voters, as far as the log has them.

    Raises:
        DataDirectoryError: there is no metadata log.
        OSError: the folder cannot be read.
    """

    def __init__(self, source: Path, as_of: datetime | None = None) -> None:
        super().__init__()
        self._folder = _metadata_folder(source)
        self._as_of = as_of
        self._until = None if as_of is None else _milliseconds(as_of)
        self._unknown: Counter[int] = Counter()
        self.cluster_id = cluster_id_of(self._folder.parent)
        self.leader_epoch = 0
        self.last_timestamp = -1
        self.quorum = Quorum()

    def lead(self, node_id: int) -> int:
        """The epoch after that of the last record."""
        return self.leader_epoch + 1

    def replay(self) -> Iterator[Message]:
        """The records that make the state at the date: those of the newest earlier snapshot, then those after it.

        Raises:
            CorruptLogError: a record is missing or damaged.
            DataDirectoryError: the files do not have the state at the date.
        """
        snapshots = list_snapshots(self._folder)
        file, snapshot = self._newest_usable(snapshots)
        self._appended = 0 if file is None else file.end_offset
        self.leader_epoch = 0 if file is None else file.leader_epoch
        self.quorum, self.last_timestamp = snapshot.quorum, snapshot.last_timestamp
        yield from snapshot.records
        transactions = MetadataTransactions[Message]()
        for batch in self._batches(from_offset=self._appended):
            for record in self._records(batch):
                yield from transactions.take(record.API_KEY, record)
        if transactions.begun is not None:
            _log.warning("%s: the last transaction has no end, so its records are left out", self._folder)
        if not self._appended:
            raise self._unknown_state()
        for record_id, count in sorted(self._unknown.items()):
            _log.warning(
                "%s: %d records of type %d are left out: a newer release wrote them, and this one knows no such type",
                self._folder, count, record_id,
            )  # fmt: skip

    def _newest_usable(self, snapshots: Sequence[SnapshotFile]) -> tuple[SnapshotFile | None, Snapshot]:
        """The newest whole snapshot that is not later than the date."""
        for each in snapshots:
            try:
                if self._until is None or last_timestamp_of(each.path) <= self._until:
                    return each, read_snapshot(each.path, self._decoded)
            except CorruptLogError as error:
                _log.warning("%s; it is skipped, and an older one and the log are read instead", error)
        return None, Snapshot()

    def _batches(self, *, from_offset: int) -> Iterator[RecordBatch]:
        """The batches of the log from an offset up to the date."""
        if from_offset == 0 and self._until is not None and self._begins_later():
            raise self._unknown_state()
        segments = needed_segments(self._folder, from_offset)
        end, incomplete = find_end(segments)
        if incomplete is not None:
            _log.warning(
                "%s: the last %d bytes are left out, after offset %d: %s, as while it is written",
                end.segments[-1].path, incomplete.size, end.offset - 1, incomplete.reason,
            )  # fmt: skip
        for batch in _whole_batches(end, incomplete):
            if self._until is not None and batch.max_timestamp > self._until:
                return
            if batch.last_offset >= from_offset:
                yield batch

    def _begins_later(self) -> bool:
        segments = list_segments(self._folder)
        return not segments or segments[0].base_offset > 0

    def _records(self, batch: RecordBatch) -> Iterator[Message]:
        try:
            for record in decode_records(batch):
                if record.offset < self._appended:
                    continue
                if not batch.is_control:
                    message = self._decoded(record.value)
                    if message is not None:
                        yield message
                    continue
                control = decode_control_record(record.key, record.value)
                if isinstance(control, ControlRecord):
                    self.quorum = self.quorum.with_control(control.message)
        except DecodeError as error:
            raise CorruptLogError(
                f"{self._folder}: the batch of offset {batch.base_offset} holds a record that cannot be read: {error}; "
                "a newer Kafka may have written it"
            ) from error
        self._appended = batch.last_offset + 1
        self.leader_epoch = batch.partition_leader_epoch
        self.last_timestamp = batch.max_timestamp

    def _decoded(self, value: Octets | None) -> Message | None:
        """A record; None if its type is unknown, which only newer releases write."""
        try:
            return decode_metadata_record(value).message
        except DecodeError as error:
            if error.kind != "record_type":
                raise
            record_id, _, _ = read_frame(bytes(value or b""), METADATA_RECORD)
            self._unknown[record_id] += 1
            return None

    def _unknown_state(self) -> DataDirectoryError:
        if self._as_of is None:
            return DataDirectoryError(f"{self._folder}: the log has no records; copy the folder of a node that has run")
        known = self._known_since()
        since = "" if known is None else f"; it is known from {known.isoformat(timespec='milliseconds')} on"
        return DataDirectoryError(
            f"{self._folder}: the state at {self._as_of.isoformat()} is unknown, since neither a snapshot nor the log "
            f"reaches back that far{since}: choose a later date, or a copy with older files"
        )

    def _known_since(self) -> datetime | None:
        """The time of the oldest state in the files."""
        if not self._begins_later():
            batches = _whole_batches(*find_end(list_segments(self._folder)))
            return next((_datetime(batch.max_timestamp) for batch in batches if not batch.is_control), None)
        oldest = next(iter(reversed(list_snapshots(self._folder))), None)
        return None if oldest is None else _datetime(last_timestamp_of(oldest.path))


def _whole_batches(end: LogEnd, incomplete: IncompleteWrite | None) -> Iterator[RecordBatch]:
    """The batches of a log before an incomplete write; what that left may be anything."""
    for index, segment in enumerate(end.segments):
        content = segment.path.read_bytes()
        if incomplete is not None and index == incomplete.segment:
            content = content[: incomplete.position]
        yield from read_batches(content, check_crc=False)


def _metadata_folder(source: Path) -> Path:
    for folder in (source / METADATA_FOLDER, source):
        if folder.is_dir() and (list_segments(folder) or list_snapshots(folder)):
            return folder
    raise DataDirectoryError(
        f"{source}: it has no metadata log; give the data directory of a controller, or its folder {METADATA_FOLDER}"
    )


def _milliseconds(time: datetime) -> int:
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MILLISECOND


def _datetime(milliseconds: int) -> datetime:
    return _EPOCH + milliseconds * _MILLISECOND
