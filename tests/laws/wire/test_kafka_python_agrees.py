"""kafka-python as a second implementation of magic 0, 1 and 2, in both directions.

It has no snappy, LZ4 or zstd of its own, so only uncompressed and gzip batches are exchanged.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import pytest
from hypothesis import given
from tests.made.record_strategies import plain_lists, record_lists

from kafkawire.wire.batches.batch import Header, Record
from kafkawire.wire.batches.legacy_messages import LegacyMessage
from kafkawire.wire.batches.record_set import read_entries, read_records
from kafkawire.wire.batches.writer import encode_batch
from kafkawire.wire.compression import Codec

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its import calls importlib.resources.read_text
    from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder  # type: ignore[import-untyped]
    from kafka.record.legacy_records import LegacyRecordBatch, LegacyRecordBatchBuilder  # type: ignore[import-untyped]


@given(record_lists)
def test_kafka_python_reads_what_we_write(records: Sequence[Record]) -> None:
    data = encode_batch(records, base_offset=1000, producer_id=7, producer_epoch=1, base_sequence=5, transactional=True)
    theirs = DefaultRecordBatch(data)
    assert theirs.validate_crc()
    assert theirs.is_transactional
    assert (theirs.producer_id, theirs.producer_epoch, theirs.base_sequence) == (7, 1, 5)
    read = [(each.offset, each.timestamp, each.key, each.value, each.headers) for each in theirs]
    assert read == [
        (each.offset, each.timestamp, each.key, each.value, [(header.key, header.value) for header in each.headers])
        for each in records
    ]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
@given(plain_lists)
def test_we_read_what_kafka_python_writes(codec: Codec, rows: Sequence[tuple[bytes | None, bytes | None, int]]) -> None:
    builder = DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, 1 << 20)
    for offset, (key, value, timestamp) in enumerate(rows):
        builder.append(offset, timestamp, key, value, [("h", value)] if value is not None else [])
    data = bytes(builder.build())
    expected = [
        Record(offset, timestamp, key, value, () if value is None else (Header("h", value),))
        for offset, (key, value, timestamp) in enumerate(rows)
    ]
    assert list(read_records(data)) == expected
    if codec is Codec.NONE:
        # kafka-python fills the leader epoch, which the CRC leaves out, with 0.
        assert encode_batch(expected, partition_leader_epoch=0) == data


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
@pytest.mark.parametrize("magic", [0, 1])
@given(rows=plain_lists)
def test_we_read_the_legacy_sets_that_kafka_python_writes(
    magic: int, codec: Codec, rows: Sequence[tuple[bytes | None, bytes | None, int]]
) -> None:
    builder = LegacyRecordBatchBuilder(magic, codec, 1 << 20)
    for offset, (key, value, timestamp) in enumerate(rows):
        builder.append(offset, timestamp=timestamp, key=key, value=value)
    data = bytes(builder.build())
    assert list(read_records(data)) == [
        Record(offset, timestamp if magic else -1, key, value) for offset, (key, value, timestamp) in enumerate(rows)
    ]
    entries = list(read_entries(data))
    assert sum(entry.size for entry in entries) == len(data)
    for entry in entries:
        assert isinstance(entry, LegacyMessage)
        theirs = LegacyRecordBatch(data[entry.position : entry.position + entry.size], magic)
        assert theirs.validate_crc()
