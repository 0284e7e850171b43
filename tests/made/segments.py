"""Segments for tests: batches, with the index that Kafka would write for them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.kafka_logs.dumps import real_logs

from kafkawire.wire.batches import Record, encode_batch, read_batches
from kafkawire.wire.compression import Codec

METADATA = "__cluster_metadata-0"
OFFSETS = "__consumer_offsets-0"


def write_segment(folder: Path, content: bytes, *, base_offset: int = 0, index_every: int | None = None) -> Path:
    """Write a segment, and its index with an entry each time after the given number of bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    segment = folder / f"{base_offset:020}.log"
    segment.write_bytes(content)
    if index_every is not None:
        entries = index_entries(content, base_offset, index_every)
        segment.with_suffix(".index").write_bytes(b"".join(struct.pack(">ii", *entry) for entry in entries))
    return segment


def index_entries(content: bytes, base_offset: int, every: int) -> list[tuple[int, int]]:
    """What Kafka puts into an index: the last offset of a batch, relative to the segment's, and where it is."""
    entries = []
    last = 0
    for batch in read_batches(content):
        if batch.position - last >= every:
            entries.append((batch.last_offset - base_offset, batch.position))
            last = batch.position
    return entries


def repeated(content: bytes, times: int) -> bytes:
    """The batches of a segment repeated, with increasing offsets; the CRC does not cover them."""
    offset = 0
    out = bytearray()
    for _ in range(times):
        for batch in read_batches(content):
            size = batch.size
            out += struct.pack(">q", offset) + content[batch.position + 8 : batch.position + size]
            offset += batch.last_offset_delta + 1
    return bytes(out)


def batches_of(values: Iterable[Sequence[bytes | None]], *, codec: Codec = Codec.NONE) -> bytes:
    """A batch for each sequence of values, with keys of one byte and timestamps that count the records."""
    content = b""
    offset = 0
    for batch in values:
        records = [Record(offset + at, offset + at + 1, b"k", value) for at, value in enumerate(batch)]
        content += encode_batch(records, codec=codec, base_offset=offset, partition_leader_epoch=0)
        offset += len(records)
    return content


def real_segment(log: str) -> bytes:
    """The first segment of a log of the fixtures."""
    return next(each for each in real_logs() if each.name.startswith(log) and each.path.suffix == ".log").read_bytes()
