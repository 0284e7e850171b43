"""Message sets of magic 0 and 1, as Apache Kafka's own classes write and read them."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path

import msgspec
import pytest
from tests.conformance.kafka_records import NOW, Trial, ask, hex_of, random_records, written

from kafkawire.wire.batches.batch import Record
from kafkawire.wire.batches.record_set import read_records
from kafkawire.wire.compression import Codec, compress
from kafkawire.wire.errors import DecodeError

pytestmark = pytest.mark.conformance


@pytest.mark.parametrize("magic", [0, 1])
def test_we_read_the_legacy_sets_that_kafka_writes(magic: int, tmp_path: Path) -> None:
    dice = random.Random(magic)
    trials = [
        Trial(
            tuple(
                Record(record.offset, record.timestamp if magic else -1, record.key, record.value)
                for record in random_records(dice, base_offset)
            ),
            magic=magic,
            codec=codec,
            base_offset=base_offset,
            log_append_time=NOW if magic and dice.random() < 0.3 else None,
        )
        for codec in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)
        for base_offset in (0, 0, 7, 7, 1 << 40, 1 << 40)
    ]
    for trial, answer in zip(trials, ask(tmp_path, [trial.question() for trial in trials]), strict=True):
        append_time = trial.log_append_time
        assert list(read_records(written(answer))) == [
            record if append_time is None else msgspec.structs.replace(record, timestamp=append_time)
            for record in trial.records
        ]


def test_magic_0_lz4_header_checksum_is_as_wrong_as_the_reference_says(tmp_path: Path) -> None:
    record = Record(0, -1, None, b"value")
    questions = [Trial((record,), magic=magic, codec=Codec.LZ4).question() for magic in (0, 1)]
    wrong, right = (written(answer) for answer in ask(tmp_path, questions))
    magic_0_value, magic_1_value = wrong[12 + 4 + 2 + 8 :], right[12 + 4 + 2 + 8 + 8 :]
    assert magic_0_value[:6] == magic_1_value[:6]
    assert magic_0_value[6] != magic_1_value[6]
    assert list(read_records(wrong)) == [record]


def test_kafka_and_we_refuse_the_same_messages(tmp_path: Path) -> None:
    """Messages changed at random under right CRCs: both read the same, or both refuse.

    Where Kafka does not look and we do: bytes after the value.
    """
    dice = random.Random(3)
    datas = [_random_set(dice) for _ in range(2000)]
    outcomes = {"read": 0, "refused": 0, "trailing": 0}
    for data, answer in zip(datas, ask(tmp_path, [{"hex": data.hex()} for data in datas]), strict=True):
        ours = _outcome(data)
        if isinstance(ours, list):
            assert ours == _said(answer), data.hex()
            outcomes["read"] += 1
        elif isinstance(answer, dict):
            outcomes["refused"] += 1
        else:
            outcomes[ours] += 1
    assert min(outcomes.values()) > 100


def _outcome(data: bytes) -> list[tuple[object, ...]] | str:
    """The records, or the kind of our error."""
    try:
        return [(each.offset, each.timestamp, hex_of(each.key), hex_of(each.value)) for each in read_records(data)]
    except DecodeError as error:
        return error.kind


def _said(answer: object) -> list[tuple[object, ...]]:
    assert isinstance(answer, list), answer
    return [
        (record["offset"], record["timestamp"], record["key"], record["value"])
        for batch in answer
        for record in batch["records"]
    ]


def _random_set(dice: random.Random) -> bytes:
    magic = dice.randrange(2)
    inner = [_random_message(dice, offset, magic) for offset in range(dice.choice((1, 2, 3)))]
    if dice.random() < 0.5:
        return b"".join(inner)
    attributes = dice.choice((Codec.GZIP, Codec.GZIP, Codec.GZIP | 8))
    value = compress(Codec.GZIP, b"".join(inner))
    return _message(dice.choice((0, 1, 2, 5, -1)), magic, _fields(magic, attributes, None, value))


def _random_message(dice: random.Random, offset: int, magic: int) -> bytes:
    contents = (None, b"", b"abc")
    body = bytearray(_fields(magic, 0, dice.choice(contents), dice.choice(contents)))
    if dice.random() < 0.1:
        body += b"more"
    if dice.random() < 0.4:
        body[dice.randrange(len(body))] = dice.choice((0, 1, 2, 3, 8, 254, 255, dice.randrange(256)))
    return _message(offset, magic, bytes(body), crc_error=dice.random() < 0.1)


def _fields(magic: int, attributes: int, *contents: bytes | None) -> bytes:
    timestamp = struct.pack(">q", NOW) if magic else b""
    lengths = [struct.pack(">i", -1) if each is None else struct.pack(">i", len(each)) + each for each in contents]
    return bytes((attributes,)) + timestamp + b"".join(lengths)


def _message(offset: int, magic: int, fields: bytes, *, crc_error: bool = False) -> bytes:
    body = bytes((magic,)) + fields
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body) ^ crc_error) + body
