"""Logs that tests write: segments and snapshots of the metadata log, segments of a coordinator's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from kafkawire.broker.metadata_log.record_versions import RECORD_VERSIONS
from kafkawire.broker.metadata_log.snapshots import Snapshot, write_snapshot
from kafkawire.protocol import EndTxnMarker
from kafkawire.records.control_records import ControlRecordType, encode_control_record
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.records.metadata_records import encode_metadata_record
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, encode_batch

METADATA_LOG = "__cluster_metadata-0"
OFFSETS_LOG = "__consumer_offsets-0"
TRANSACTIONS_LOG = "__transaction_state-0"
SHARES_LOG = "__share_group_state-0"


class Step(msgspec.Struct, frozen=True):
    """A batch of metadata records.

    Attributes:
        time: of all of them, in milliseconds.
        records: messages.
    """

    time: int
    records: tuple[Message, ...]


class Written(msgspec.Struct, frozen=True):
    """A batch of a coordinator.

    Attributes:
        time: of its records, in milliseconds.
        records: key, value or None, and version of the value.
        producer_id, producer_epoch: of a transaction; -1 for none.
        marker: ``COMMIT`` or ``ABORT`` for a batch with a marker.
    """

    time: int
    records: tuple[tuple[Message, Message | None, int], ...] = ()
    producer_id: int = -1
    producer_epoch: int = -1
    marker: str | None = None


def write_segment(folder: Path, base_offset: int, steps: Sequence[Step]) -> int:
    """Write a segment of a metadata log; returns the offset after it."""
    offset, batches = base_offset, []
    for step in steps:
        values = [encode_metadata_record(message, RECORD_VERSIONS[message.NAME]) for message in step.records]
        records = [Record(timestamp=step.time, value=value) for value in values]
        batches.append(encode_batch(records, base_offset=offset, partition_leader_epoch=1))
        offset += len(records)
    write_batches(folder, base_offset, batches)
    return offset


def write_checkpoint(folder: Path, end_offset: int, records: Sequence[Message], *, time: int) -> Path:
    """Write a snapshot of all below an offset, the last record of which is of a time."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_snapshot(folder, end_offset, 1, Snapshot(records), last_timestamp=time, timestamp=time + 1).path


def write_offsets_segment(folder: Path, base_offset: int, batches: Sequence[Written]) -> int:
    """Write a segment of a group coordinator; returns the offset after it."""
    return write_coordinator_segment(folder, base_offset, batches, "__consumer_offsets")


def write_coordinator_segment(folder: Path, base_offset: int, batches: Sequence[Written], topic: str) -> int:
    """Write a segment of a coordinator; returns the offset after it."""
    offset, encoded = base_offset, []
    for batch in batches:
        records = _records(batch, topic)
        encoded.append(
            encode_batch(
                records,
                base_offset=offset,
                partition_leader_epoch=1,
                producer_id=batch.producer_id,
                producer_epoch=batch.producer_epoch,
                transactional=batch.producer_id >= 0,
                control=batch.marker is not None,
            )
        )
        offset += len(records)
    write_batches(folder, base_offset, encoded)
    return offset


def write_batches(folder: Path, base_offset: int, batches: Sequence[bytes]) -> Path:
    """Write a segment of batches as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{base_offset:020d}.log"
    path.write_bytes(b"".join(batches))
    return path


def _records(batch: Written, topic: str) -> list[Record]:
    if batch.marker is not None:
        key, value = encode_control_record(ControlRecordType[batch.marker], EndTxnMarker(0), 0)
        return [Record(timestamp=batch.time, key=key, value=value)]
    encoded = (
        encode_coordinator_record(topic, key, value, None if value is None else version)
        for key, value, version in batch.records
    )
    return [Record(timestamp=batch.time, key=key, value=value) for key, value in encoded]
