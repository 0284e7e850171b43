"""Record batches and legacy message sets, exchanged with Apache Kafka's own classes in both directions."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import pytest
from tests.apache_kafka.broker import run_tool
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.releases import newest_release
from tests.kafka_dumps import parse_dump

from kafkawire.wire.compression import Codec
from kafkawire.wire.errors import DecodeError
from kafkawire.wire.record_batch import Header, Record, RecordBatch, TimestampType, read_batches
from kafkawire.wire.record_reader import decode_records
from kafkawire.wire.record_set import read_records
from kafkawire.wire.record_writer import encode_batch, seal

pytestmark = pytest.mark.conformance

_PROGRAM: Final = Path(__file__).parent / "record_batches" / "RecordBatches.java"
_NOW: Final = 1_700_000_000_000
_LENGTHS: Final = (0, 1, 5, 63, 64, 500, 8191, 8192)
_BATCHES_OF_EACH_CODEC: Final = 60


class Trial(msgspec.Struct, frozen=True):
    """A batch that either side is asked to write."""

    records: tuple[Record, ...]
    magic: int = 2
    codec: Codec = Codec.NONE
    base_offset: int = 0
    partition_leader_epoch: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    transactional: bool = False
    control: bool = False
    log_append_time: int | None = None
    delete_horizon_ms: int | None = None

    def encode(self) -> bytes:
        arguments = msgspec.structs.asdict(self)
        del arguments["magic"]
        return encode_batch(arguments.pop("records"), **arguments)

    def question(self) -> dict[str, object]:
        return msgspec.structs.asdict(self) | {
            "codec": int(self.codec),
            "records": [
                msgspec.structs.asdict(record)
                | {
                    "key": _hex(record.key),
                    "value": _hex(record.value),
                    "headers": [(header.key, _hex(header.value)) for header in record.headers],
                }
                for record in self.records
            ],
        }


@pytest.fixture(scope="module")
def trials() -> tuple[Trial, ...]:
    """Batches of magic 2 with all codecs; every flag, gaps between offsets, lengths around those of the varints."""
    dice = random.Random(2)
    return tuple(_trial(dice, codec) for codec in Codec for _ in range(_BATCHES_OF_EACH_CODEC))


def test_kafka_reads_what_we_write(trials: Sequence[Trial], tmp_path: Path) -> None:
    written = [trial.encode() for trial in trials]
    for data, answer in zip(written, _ask(tmp_path, [{"hex": data.hex()} for data in written]), strict=True):
        assert answer == [_as_kafka_says(batch) for batch in read_batches(data)]


def test_we_read_what_kafka_writes(trials: Sequence[Trial], tmp_path: Path) -> None:
    for trial, answer in zip(trials, _ask(tmp_path, [trial.question() for trial in trials]), strict=True):
        data = _written(answer)
        (batch,) = read_batches(data)
        append_time = trial.log_append_time
        assert decode_records(batch) == tuple(
            record if append_time is None else msgspec.structs.replace(record, timestamp=append_time)
            for record in trial.records
        )
        if trial.codec is Codec.NONE:
            assert trial.encode() == data


@pytest.mark.parametrize("magic", [0, 1])
def test_we_read_the_legacy_sets_that_kafka_writes(magic: int, tmp_path: Path) -> None:
    dice = random.Random(magic)
    trials = [
        Trial(
            tuple(
                Record(record.offset, record.timestamp if magic else -1, record.key, record.value)
                for record in _records(dice, base_offset)
            ),
            magic=magic,
            codec=codec,
            base_offset=base_offset,
            log_append_time=_NOW if magic and dice.random() < 0.3 else None,
        )
        for codec in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)
        for base_offset in (0, 0, 7, 7, 1 << 40, 1 << 40)
    ]
    for trial, answer in zip(trials, _ask(tmp_path, [trial.question() for trial in trials]), strict=True):
        append_time = trial.log_append_time
        assert list(read_records(_written(answer))) == [
            record if append_time is None else msgspec.structs.replace(record, timestamp=append_time)
            for record in trial.records
        ]


def test_magic_0_lz4_header_checksum_is_as_wrong_as_the_reference_says(tmp_path: Path) -> None:
    record = Record(0, -1, None, b"value")
    questions = [Trial((record,), magic=magic, codec=Codec.LZ4).question() for magic in (0, 1)]
    wrong, right = (_written(answer) for answer in _ask(tmp_path, questions))
    magic_0_value, magic_1_value = wrong[12 + 4 + 2 + 8 :], right[12 + 4 + 2 + 8 + 8 :]
    assert magic_0_value[:6] == magic_1_value[:6]
    assert magic_0_value[6] != magic_1_value[6]
    assert list(read_records(wrong)) == [record]


def test_kafka_and_we_refuse_the_same_records(tmp_path: Path) -> None:
    """Payloads changed at random under a right CRC: both read the same, or both refuse.

    Where Kafka does not look and we do: malformed UTF-8 in the key of a header, which Kafka replaces.
    """
    dice = random.Random(5)
    datas = []
    for _ in range(1500):
        records = _records(dice, 0, lengths=(0, 1, 5))
        (batch,) = read_batches(encode_batch(records))
        payload = bytearray(batch.payload)
        for _ in range(dice.choice((1, 1, 2))):
            payload[dice.randrange(len(payload))] = dice.choice((0, 1, 2, 3, 127, 128, 255, dice.randrange(256)))
        datas.append(_resealed(batch, bytes(payload)))
    outcomes = {"read": 0, "refused": 0}
    for data, answer in zip(datas, _ask(tmp_path, [{"hex": data.hex()} for data in datas]), strict=True):
        (batch,) = read_batches(data)
        ours = _outcome(batch)
        if ours == "utf8":
            continue
        assert (answer == ours) or (isinstance(answer, dict) and isinstance(ours, str)), (data.hex(), ours)
        outcomes["refused" if isinstance(ours, str) else "read"] += 1
    assert min(outcomes.values()) > 100


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
            Record(base_offset, _NOW, struct.pack(">hh", 0, dice.randrange(2)), struct.pack(">hi", 0, 3)),
        )
    else:
        records = _records(dice, base_offset)
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
        log_append_time=_NOW + 99 if timestamps == "append" else None,
        delete_horizon_ms=_NOW + 5000 if timestamps == "horizon" and not control else None,
    )


def _records(dice: random.Random, base_offset: int, *, lengths: Sequence[int] = _LENGTHS) -> tuple[Record, ...]:
    offset, out = base_offset, []
    for _ in range(dice.choice((1, 2, 5))):
        headers = tuple(
            Header(dice.choice(("", "h", "\u20ac")), _octets(dice, lengths)) for _ in range(dice.choice((0, 0, 1, 3)))
        )
        timestamp = _NOW + dice.choice((0, 1, -1, 64, 8192, 1 << 33))
        out.append(Record(offset, timestamp, _octets(dice, lengths), _octets(dice, lengths), headers))
        offset += dice.choice((1, 1, 3, 64, 8192))
    return tuple(out)


def _octets(dice: random.Random, lengths: Sequence[int]) -> bytes | None:
    if dice.random() < 0.2:
        return None
    length = dice.choice(lengths)
    return dice.choice((dice.randbytes, bytes))(length)


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
                "key": _hex(record.key),
                "value": _hex(record.value),
                "headers": [[header.key, _hex(header.value)] for header in record.headers],
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


def _ask(folder: Path, questions: Sequence[dict[str, object]]) -> list[object]:
    file = folder / "questions.jsonl"
    file.write_bytes(msgspec.json.Encoder().encode_lines(questions))
    answers = run_tool(newest_release(), str(_PROGRAM), str(file)).splitlines()
    return [msgspec.json.decode(answer) for answer in answers]


def _written(answer: object) -> bytes:
    assert isinstance(answer, dict)
    return bytes.fromhex(answer["hex"])


def _hex(octets: bytes | None) -> str | None:
    return None if octets is None else octets.hex()
