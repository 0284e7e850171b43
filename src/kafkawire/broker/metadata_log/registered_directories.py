"""The data directory that each node has registered in a metadata log, even a damaged one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from kafkawire.broker.metadata_log.snapshots import list_snapshots, read_snapshot
from kafkawire.broker.storage.errors import CorruptLogError
from kafkawire.broker.storage.segments import list_segments
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import RegisterBrokerRecord
from kafkawire.records.metadata_records import decode_metadata_record
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.batches import decode_records, read_batches


def registered_directories(folder: Path) -> Mapping[int, Uuid]:
    """Node id to the id of the directory that it registered last (KIP-858); this only reads.

    Args:
        folder: of the metadata log; it need not exist.

    Raises:
        OSError: a file cannot be read.
    """
    registrations = (record for record in _records(folder) if isinstance(record, RegisterBrokerRecord))
    return {record.broker_id: record.log_dirs[0] for record in registrations if record.log_dirs}


def _records(folder: Path) -> Iterator[Message]:
    if not folder.is_dir():
        return
    for snapshot in reversed(list_snapshots(folder)):
        with suppress(CorruptLogError):
            yield from read_snapshot(snapshot.path).records
    for segment in list_segments(folder):
        with suppress(DecodeError):
            for batch in read_batches(segment.path.read_bytes()):
                if not batch.is_control:
                    yield from (decode_metadata_record(record.value).message for record in decode_records(batch))
