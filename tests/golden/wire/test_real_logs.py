"""Every batch and record of the real logs, compared with the output of kafka-dump-log for the same files."""

from __future__ import annotations

import hashlib

import msgspec
import pytest
from tests.kafka_logs.dumps import FIXTURES, DumpedBatch, DumpedRecord, RealLog, real_logs

from kafkawire.wire.batches.batch import Record, RecordBatch, TimestampType, read_batches
from kafkawire.wire.batches.reader import decode_records
from kafkawire.wire.batches.writer import encode_batch

each_log = pytest.mark.parametrize("log", real_logs(), ids=lambda log: log.name)


def test_the_files_are_those_that_kafka_wrote() -> None:
    stated = {}
    for line in (FIXTURES / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split(maxsplit=1)
        stated[name] = digest
    found = {f"./{path.relative_to(FIXTURES)}": path for path in FIXTURES.rglob("*") if path.is_file()}
    assert found.keys() - stated.keys() == {"./README.md", "./SHA256SUMS"}
    assert {name: hashlib.sha256(found[name].read_bytes()).hexdigest() for name in stated} == stated


def test_there_is_something_to_compare() -> None:
    dumps = [log.read_dump() for log in real_logs()]
    assert len(dumps) == 10
    assert sum(len(batches) for batches in dumps) == 305
    assert sum(len(batch.records) for batches in dumps for batch in batches) == 1169


@each_log
def test_batches_equal_the_dump(log: RealLog) -> None:
    reader = read_batches(log.read_bytes())
    assert [_as_dumped(batch) for batch in reader] == [_without_contents(batch) for batch in log.read_dump()]
    assert reader.bytes_left == 0


@each_log
def test_batches_are_written_back_as_they_were(log: RealLog) -> None:
    data = log.read_bytes()
    assert b"".join(batch.to_bytes() for batch in read_batches(data)) == data


@each_log
def test_uncompressed_batches_are_encoded_to_the_bytes_that_kafka_wrote(log: RealLog) -> None:
    data = log.read_bytes()
    plain = [batch for batch in read_batches(data) if batch.codec.name == "NONE"]
    assert plain
    for batch in plain:
        again = encode_batch(
            decode_records(batch),
            base_offset=batch.base_offset,
            partition_leader_epoch=batch.partition_leader_epoch,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            transactional=batch.is_transactional,
            control=batch.is_control,
        )
        assert again == data[batch.position : batch.position + batch.size]


def _as_dumped(batch: RecordBatch) -> DumpedBatch:
    return DumpedBatch(
        base_offset=batch.base_offset,
        last_offset=batch.last_offset,
        count=batch.records_count,
        base_sequence=batch.base_sequence,
        last_sequence=batch.last_sequence,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        partition_leader_epoch=batch.partition_leader_epoch,
        transactional=batch.is_transactional,
        control=batch.is_control,
        delete_horizon_ms=batch.delete_horizon_ms,
        position=batch.position,
        timestamp_type="CreateTime" if batch.timestamp_type is TimestampType.CREATE_TIME else "LogAppendTime",
        timestamp=batch.max_timestamp,
        size=batch.size,
        magic=2,
        codec=batch.codec.name.lower(),
        crc=batch.crc,
        valid=batch.crc_is_valid,
        records=tuple(_record_as_dumped(batch, record) for record in decode_records(batch)),
    )


def _record_as_dumped(batch: RecordBatch, record: Record) -> DumpedRecord:
    return DumpedRecord(
        offset=record.offset,
        timestamp=record.timestamp,
        key_size=-1 if record.key is None else len(record.key),
        value_size=-1 if record.value is None else len(record.value),
        sequence=batch.sequence_of(record.offset),
        header_keys=tuple(header.key for header in record.headers),
        rest="",
    )


def _without_contents(batch: DumpedBatch) -> DumpedBatch:
    records = tuple(msgspec.structs.replace(record, rest="") for record in batch.records)
    return msgspec.structs.replace(batch, records=records)
