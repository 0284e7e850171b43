"""Record batches, exchanged with Apache Kafka's own classes in both directions."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import pytest
from tests.apache_kafka.fixtures import DumpLog
from tests.conformance.kafka_records import NOW, Trial, ask, hex_of, random_records, written
from tests.kafka_logs.dumps import parse_dump

from kafkawire.wire.batches.batch import Record, RecordBatch, TimestampType, read_batches
from kafkawire.wire.batches.reader import decode_records
from kafkawire.wire.batches.record_set import read_records
from kafkawire.wire.batches.writer import encode_batch, seal
from kafkawire.wire.compression import Codec
from kafkawire.wire.errors import DecodeError

pytestmark = pytest.mark.conformance

_BATCHES_OF_EACH_CODEC: Final = 60


@pytest.fixture(scope="module")
def trials() -> tuple[Trial, ...]:
    """Batches of magic 2 with all codecs; every flag, gaps between offsets, lengths around those of the varints."""
    dice = random.Random(2)
    return tuple(_trial(dice, codec) for codec in Codec for _ in range(_BATCHES_OF_EACH_CODEC))


def test_kafka_reads_what_we_write(trials: Sequence[Trial], tmp_path: Path) -> None:
    datas = [trial.encode() for trial in trials]
    for data, answer in zip(datas, ask(tmp_path, [{"hex": data.hex()} for data in datas]), strict=True):
        assert answer == [_as_kafka_says(batch) for batch in read_batches(data)]


def test_we_read_what_kafka_writes(trials: Sequence[Trial], tmp_path: Path) -> None:
    for trial, answer in zip(trials, ask(tmp_path, [trial.question() for trial in trials]), strict=True):
        data = written(answer)
        (batch,) = read_batches(data)
        append_time = trial.log_append_time
        assert decode_records(batch) == tuple(
            record if append_time is None else msgspec.structs.replace(record, timestamp=append_time)
            for record in trial.records
        )
        if trial.codec is Codec.NONE:
            assert trial.encode() == data


def test_kafka_and_we_refuse_the_same_records(tmp_path: Path) -> None:
    """Payloads changed at random under a right CRC: both read the same, or both refuse.

    Where Kafka does not look and we do: malformed UTF-8 in the key of a header, which Kafka replaces.
    """
    dice = random.Random(5)
    datas = []
    for _ in range(1500):
        records = random_records(dice, 0, lengths=(0, 1, 5))
        (batch,) = read_batches(encode_batch(records))
        payload = bytearray(batch.payload)
        for _ in range(dice.choice((1, 1, 2))):
            payload[dice.randrange(len(payload))] = dice.choice((0, 1, 2, 3, 127, 128, 255, dice.randrange(256)))
        datas.append(_resealed(batch, bytes(payload)))
    outcomes = {"read": 0, "refused": 0}
    for data, answer in zip(datas, ask(tmp_path, [{"hex": data.hex()} for data in datas]), strict=True):
        (batch,) = read_batches(data)
        ours = _outcome(batch)
        if ours == "utf8":
            continue
        assert (answer == ours) or (isinstance(answer, dict) and isinstance(ours, str)), (data.hex(), ours)
        outcomes["refused" if isinstance(ours, str) else "read"] += 1
    assert min(outcomes.values()) > 100


def test_batch_compressed_ends_with_its_stream(tmp_path: Path) -> None:
    """Bytes after a gzip or LZ4 stream are the ones that Kafka passes over; we refuse them."""
    batches = [next(read_batches(encode_batch([Record(value=b"v")], codec=codec))) for codec in Codec]
    longer = [_resealed(batch, batch.payload + b"more") for batch in batches]
    answers = ask(tmp_path, [{"hex": data.hex()} for data in longer])
    assert [codec.name for codec, answer in zip(Codec, answers, strict=True) if isinstance(answer, list)] == [
        "GZIP",
        "LZ4",
    ]
    for data in longer:
        with pytest.raises(DecodeError):
            list(read_records(data))


def test_kafka_dump_log_says_of_our_segments_what_we_do(
    trials: Sequence[Trial], kafka_dump_log: DumpLog, tmp_path: Path
) -> None:
    segment = tmp_path / "00000000000000000000.log"
    data = b"".join(trial.encode() for trial in trials if not trial.control)
    segment.write_bytes(data)
    printed = kafka_dump_log(segment, "--deep-iteration")
    heading = [line for line in printed.splitlines() if line.startswith(("Dumping ", "Log starting offset: "))]
    lines = [line for line in printed.splitlines() if line.startswith(("baseOffset: ", "| offset: "))]
    assert heading
    said = parse_dump("\n".join(lines))
    batches = list(read_batches(data))
    assert [batch.position for batch in batches] == [each.position for each in said]
    for batch, each in zip(batches, said, strict=True):
        assert each.valid
        assert (each.base_offset, each.last_offset, each.count) == (
            batch.base_offset,
            batch.last_offset,
            batch.records_count,
        )
        assert (each.size, each.crc, each.codec) == (batch.size, batch.crc, batch.codec.name.lower())
        assert (each.last_sequence, each.delete_horizon_ms) == (batch.last_sequence, batch.delete_horizon_ms)
        assert [(record.offset, record.timestamp) for record in each.records] == [
            (record.offset, record.timestamp) for record in decode_records(batch)
        ]


def _trial(dice: random.Random, codec: Codec) -> Trial:
    base_offset = dice.choice((0, 5, 1 << 40))
    control = dice.random() < 0.1
    with_producer = dice.random() < 0.5
    timestamps = dice.choice(("create", "create", "append", "horizon"))
    if control:
        records: tuple[Record, ...] = (
            Record(base_offset, NOW, struct.pack(">hh", 0, dice.randrange(2)), struct.pack(">hi", 0, 3)),
        )
    else:
        records = random_records(dice, base_offset)
    return Trial(
        records,
        codec=codec,
        base_offset=base_offset,
        partition_leader_epoch=dice.choice((-1, 0, 7)),
        producer_id=9 if with_producer or control else -1,
        producer_epoch=1 if with_producer or control else -1,
        base_sequence=dice.choice((0, 2**31 - 2)) if with_producer and not control else -1,
        transactional=control or (with_producer and dice.random() < 0.5),
        control=control,
        log_append_time=NOW + 99 if timestamps == "append" else None,
        delete_horizon_ms=NOW + 5000 if timestamps == "horizon" and not control else None,
    )


def _as_kafka_says(batch: RecordBatch) -> dict[str, object]:
    return {
        "magic": 2,
        "codec": batch.codec,
        "size": batch.size,
        "crc": batch.crc,
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "max_timestamp": batch.max_timestamp,
        "timestamp_type": int(batch.timestamp_type is TimestampType.LOG_APPEND_TIME),
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "last_sequence": batch.last_sequence,
        "partition_leader_epoch": batch.partition_leader_epoch,
        "transactional": batch.is_transactional,
        "control": batch.is_control,
        "delete_horizon_ms": batch.delete_horizon_ms,
        "records": [
            {
                "offset": record.offset,
                "timestamp": record.timestamp,
                "sequence": batch.sequence_of(record.offset),
                "key": hex_of(record.key),
                "value": hex_of(record.value),
                "headers": [[header.key, hex_of(header.value)] for header in record.headers],
            }
            for record in decode_records(batch)
        ],
    }


def _outcome(batch: RecordBatch) -> list[dict[str, object]] | str:
    """What Kafka should say of a batch, or the kind of our error."""
    try:
        return [_as_kafka_says(batch)]
    except DecodeError as error:
        return error.kind


def _resealed(batch: RecordBatch, payload: bytes) -> bytes:
    return seal(msgspec.structs.replace(batch, payload=payload)).to_bytes()
