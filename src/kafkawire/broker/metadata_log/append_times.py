"""One append time for all records of a batch, as KRaft requires (KIP-595).

Earlier versions of the broker let each record of a shared batch keep the time of its own request. Apache Kafka does
not start on such a log ("Got timestamp delta of 1, but this is invalid because it is not 0 as expected").
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.storage.files import replace_file
from kafkawire.broker.storage.segments import SegmentFile, list_segments
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import RecordBatch, decode_records, encode_batch, read_batches
from kafkawire.wire.varint import read_varint

_log = logging.getLogger(__name__)
_INDEXES: Final = (".index", ".timeindex")
_NO_PRODUCER: Final = -1
_NO_DELTA: Final = b"\0"


def unify_append_times(folder: Path) -> None:
    """Rewrite the batches of a metadata log whose records have different times; all get the batch's highest time.

    A new segment is written and fsynced beside the old one and then renamed, so a crash leaves one or the other.
    Offsets, records and the headers' ``max_timestamp`` stay the same, and so do incomplete batches.

    Raises:
        OSError: a segment cannot be read, or there is no room to write it.
    """
    for segment in list_segments(folder):
        content = segment.path.read_bytes()
        pieces = list(_unified(content))
        mended = sum(changed for _, changed in pieces)
        if mended:
            _replace(segment, [piece for piece, _ in pieces])
            _log.warning(
                "%s: rewrote %d batches whose records had different append times, as an older version of kafkawire "
                "wrote them and Apache Kafka refuses them; offsets and records are the same",
                segment.path, mended,
            )  # fmt: skip


def _replace(segment: SegmentFile, pieces: list[bytes]) -> None:
    for suffix in _INDEXES:  # they have positions in the old file; Kafka rebuilds them
        segment.path.with_suffix(suffix).unlink(missing_ok=True)
    replace_file(segment.path, pieces)


def _unified(content: bytes) -> Iterator[tuple[bytes, bool]]:
    """The segment in pieces, and whether each is a changed batch."""
    kept = position = 0
    try:
        for batch in read_batches(content):
            if _has_many_times(batch):
                yield content[kept:position], False
                yield _with_one_time(batch), True
                kept = position + batch.size
            position += batch.size
    except DecodeError:
        pass  # the recovery of the log checks the rest
    yield content[kept:], False


def _has_many_times(batch: RecordBatch) -> bool:
    if batch.is_compressed or batch.producer_id != _NO_PRODUCER:
        return False  # the broker never wrote such a batch
    if batch.base_timestamp != batch.max_timestamp:
        return True
    payload, at = batch.payload, 0
    for _ in range(batch.records_count):
        size, at = read_varint(payload, at)
        if payload[at + 1 : at + 2] != _NO_DELTA:
            return True
        at += size
    return False


def _with_one_time(batch: RecordBatch) -> bytes:
    return encode_batch(
        [replace(record, timestamp=batch.max_timestamp) for record in decode_records(batch)],
        base_offset=batch.base_offset,
        partition_leader_epoch=batch.partition_leader_epoch,
        control=batch.is_control,
    )
