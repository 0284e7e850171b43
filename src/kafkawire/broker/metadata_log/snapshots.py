"""Snapshots: ``.checkpoint`` files with the state after all records below an offset (KIP-630)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from kafkawire.broker.metadata_log.record_versions import RECORD_VERSIONS
from kafkawire.broker.storage.errors import CorruptLogError
from kafkawire.broker.storage.files import PART_SUFFIX, replace_file
from kafkawire.protocol import KRaftVersionRecord, SnapshotFooterRecord, SnapshotHeaderRecord, VotersRecord
from kafkawire.records.control_records import (
    ControlRecord,
    ControlRecordType,
    decode_control_record,
    encode_control_record,
)
from kafkawire.records.metadata_records import decode_metadata_record, encode_metadata_record
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.batches import Record, RecordBatch, decode_records, encode_batch, read_batches
from kafkawire.wire.message import Octets

_SNAPSHOT_NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
_RECORDS_IN_BATCH: Final = 10_000


class Quorum(msgspec.Struct, frozen=True):
    """The quorum in the control records (KIP-853); it is copied to new snapshots.

    Attributes:
        kraft_version: 1 if the voters are in the log, else 0.
        voters: the voters, if they are in the log.
    """

    kraft_version: int = 0
    voters: VotersRecord | None = None

    def with_control(self, control: Message) -> Quorum:
        """The quorum after a control record."""
        match control:
            case KRaftVersionRecord():
                return Quorum(control.kraft_version, self.voters)
            case VotersRecord():
                return Quorum(self.kraft_version, control)
            case _:
                return self


class SnapshotFile(msgspec.Struct, frozen=True):
    """A snapshot on disk.

    Attributes:
        end_offset: it has the state after all records below.
        leader_epoch: of the last of these records.
        path: the file.
    """

    end_offset: int
    leader_epoch: int
    path: Path


class Snapshot(msgspec.Struct, frozen=True):
    """The content of a snapshot.

    Attributes:
        records: the state.
        quorum: the quorum.
        last_timestamp: of the last record below the snapshot's end, in milliseconds; -1 if its header has none.
    """

    records: Sequence[Message] = ()
    quorum: Quorum = Quorum()
    last_timestamp: int = -1


def list_snapshots(folder: Path) -> Sequence[SnapshotFile]:
    """The snapshots in a folder, the newest first."""
    found = ((path, _SNAPSHOT_NAME.fullmatch(path.name)) for path in folder.iterdir())
    snapshots = (SnapshotFile(int(name[1]), int(name[2]), path) for path, name in found if name)
    return sorted(snapshots, key=lambda each: (each.end_offset, each.leader_epoch), reverse=True)


def remove_unfinished(folder: Path) -> None:
    """Delete the incomplete files that a crash has left."""
    for path in folder.glob(f"*{PART_SUFFIX}"):
        path.unlink()


def last_timestamp_of(path: Path) -> int:
    """The time of the last record below the end of a snapshot, in milliseconds; only its first batch is decoded.

    Raises:
        CorruptLogError: its header is damaged.
        OSError: it cannot be read.
    """
    try:
        for batch in _whole_batches(path):
            for record in decode_records(batch) if batch.is_control else ():
                control = decode_control_record(record.key, record.value)
                if isinstance(control, ControlRecord) and isinstance(control.message, SnapshotHeaderRecord):
                    return control.message.last_contained_log_timestamp
            break
    except DecodeError as error:
        raise CorruptLogError(f"{path}: {error}") from error
    raise CorruptLogError(f"{path}: the snapshot has no header, so it is damaged")


def decoded(value: Octets | None) -> Message:
    """The metadata record in a value.

    Raises:
        DecodeError: it cannot be decoded.
    """
    return decode_metadata_record(value).message


def read_snapshot(path: Path, decode: Callable[[Octets | None], Message | None] = decoded) -> Snapshot:
    """Read a snapshot.

    Args:
        path: the file.
        decode: decodes the value of a record, or returns None to leave it out.

    Raises:
        CorruptLogError: it is truncated or damaged.
        OSError: it cannot be read.
    """
    records: list[Message] = []
    quorum = Quorum()
    controls: list[ControlRecordType] = []
    last_timestamp = -1
    try:
        for batch in _whole_batches(path):
            for record in decode_records(batch):
                if not batch.is_control:
                    message = decode(record.value)
                    if message is not None:
                        records.append(message)
                    continue
                control = decode_control_record(record.key, record.value)
                if isinstance(control, ControlRecord):
                    controls.append(control.type)
                    quorum = quorum.with_control(control.message)
                    if isinstance(control.message, SnapshotHeaderRecord):
                        last_timestamp = control.message.last_contained_log_timestamp
    except DecodeError as error:
        raise CorruptLogError(f"{path}: {error}") from error
    if controls[:1] != [ControlRecordType.SNAPSHOT_HEADER] or controls[-1] != ControlRecordType.SNAPSHOT_FOOTER:
        raise CorruptLogError(f"{path}: the snapshot has no header or no footer, so it is incomplete")
    return Snapshot(records, quorum, last_timestamp)


def _whole_batches(path: Path) -> Iterator[RecordBatch]:
    reader = read_batches(path.read_bytes())
    yield from reader
    if reader.bytes_left:
        raise CorruptLogError(f"{path}: the batch at byte {reader.position} is truncated")


def write_snapshot(
    folder: Path, end_offset: int, leader_epoch: int, snapshot: Snapshot, *, last_timestamp: int, timestamp: int
) -> SnapshotFile:
    """Write a snapshot to a temporary file, fsync it, and rename it.

    Args:
        folder: of the log.
        end_offset: it has the state after all records below.
        leader_epoch: of the last record below.
        snapshot: its content.
        last_timestamp: of the last record below, in milliseconds.
        timestamp: now, in milliseconds.

    Raises:
        OSError: it could not be written.
    """
    path = folder / f"{end_offset:020d}-{leader_epoch:010d}.checkpoint"
    replace_file(path, _batches(snapshot, leader_epoch, last_timestamp, timestamp))
    return SnapshotFile(end_offset, leader_epoch, path)


def _batches(snapshot: Snapshot, leader_epoch: int, last_timestamp: int, timestamp: int) -> Iterator[bytes]:
    header: list[tuple[ControlRecordType, Message]] = [
        (ControlRecordType.SNAPSHOT_HEADER, SnapshotHeaderRecord(0, last_timestamp))
    ]
    if snapshot.quorum.kraft_version:
        header.append((ControlRecordType.KRAFT_VERSION, KRaftVersionRecord(0, snapshot.quorum.kraft_version)))
    if snapshot.quorum.voters is not None:
        header.append((ControlRecordType.KRAFT_VOTERS, snapshot.quorum.voters))
    offset = 0
    for control, records in (
        (True, _control_records(header, timestamp)),
        *((False, portion) for portion in _data_records(snapshot.records, timestamp)),
        (True, _control_records([(ControlRecordType.SNAPSHOT_FOOTER, SnapshotFooterRecord(0))], timestamp)),
    ):
        yield encode_batch(records, base_offset=offset, partition_leader_epoch=leader_epoch, control=control)
        offset += len(records)


def _control_records(messages: Iterable[tuple[ControlRecordType, Message]], timestamp: int) -> Sequence[Record]:
    pairs = (encode_control_record(kind, message, 0) for kind, message in messages)
    return [Record(timestamp=timestamp, key=key, value=value) for key, value in pairs]


def _data_records(messages: Sequence[Message], timestamp: int) -> Iterator[Sequence[Record]]:
    left = iter(messages)
    while portion := [*islice(left, _RECORDS_IN_BATCH)]:
        values = (encode_metadata_record(message, RECORD_VERSIONS[message.NAME]) for message in portion)
        yield [Record(timestamp=timestamp, value=value) for value in values]
