"""The native engine and Python read and write the same records."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress

import pytest
from msgspec.structs import replace

from kafkawire import wire
from kafkawire.layout import Uuid
from kafkawire.wire import DecodeError, EncodeError, EngineError, EngineName, use_engine
from kafkawire.wire.batches import Header, Record, decode_records, encode_batch, read_batches
from kafkawire.wire.batches.batch import RecordBatch
from kafkawire.wire.batches.native_records import native_record_codec

native = pytest.importorskip("kafkawire._native", reason="the native engine is not built here")

LARGEST = 2**63 - 1


@pytest.fixture(autouse=True)
def _both_engines() -> Iterator[None]:
    before = wire.ENGINE
    use_engine("both")
    yield
    use_engine(before)


def outcome(engine: EngineName, record: Record, base_offset: int, delete_horizon_ms: int | None) -> bytes | str:
    """The batch of a record, or what is wrong with it."""
    use_engine(engine)
    try:
        return encode_batch([record], base_offset=base_offset, delete_horizon_ms=delete_horizon_ms)
    except EncodeError as error:
        return str(error)


def random_record(chance: random.Random) -> Record:
    sizes = (0, 1, 63, 64, 127, 8191, 8192, 70_000)
    octets = [None, *(chance.randbytes(chance.choice(sizes[: chance.randint(1, 8)])) for _ in range(3))]
    headers = [
        Header(chance.choice(("", "a", "é" * 40, "trace-id")), chance.choice(octets))
        for _ in range(chance.choice((0, 0, 1, 3)))
    ]
    timestamp = chance.choice((-1, 0, 1_700_000_000_000 + chance.randrange(10**6), LARGEST // 2, -(2**62)))
    return Record(-1, timestamp, chance.choice(octets), chance.choice(octets), chance.choice((tuple, list))(headers))


@pytest.mark.parametrize("seed", range(40))
def test_random_records_have_the_same_bytes_and_come_back(seed: int) -> None:
    chance = random.Random(seed)
    records = [random_record(chance) for _ in range(chance.randint(1, 12))]
    for log_append_time in (None, 1_700_000_000_000):
        (batch,) = read_batches(
            encode_batch(records, base_offset=chance.randrange(2**40), log_append_time=log_append_time)
        )
        read = decode_records(batch)
        assert [(each.key, each.value, tuple(each.headers)) for each in read] == [
            (each.key, each.value, tuple(each.headers)) for each in records
        ]


@pytest.mark.parametrize("seed", range(40))
def test_damaged_records_are_read_or_refused_alike(seed: int) -> None:
    """A difference is an EngineError, which nothing here catches."""
    chance = random.Random(seed)
    (batch,) = read_batches(encode_batch([random_record(chance) for _ in range(4)]))
    for _ in range(60):
        payload = bytearray(batch.payload[:3000])
        for _ in range(chance.randint(1, 3)):
            payload[chance.randrange(len(payload))] = chance.choice((0, 1, 2, 127, 128, 255, chance.randrange(256)))
        with suppress(DecodeError):
            decode_records(replace(batch, payload=bytes(payload[: chance.randint(1, len(payload))])))


ODD_HEADERS: tuple[object, ...] = (
    *([Header("a")], (Header("a", b"b"),), (Header("\ud800"),), (None,), ["a"], {"a": 1}),
    *((replace(Header("a"), key=1),), (replace(Header("a"), value="b"),)),
)
ODD: tuple[object, ...] = (
    *(None, b"", b"a", bytearray(b"ab"), memoryview(b"abc"), Uuid(), "text", 1, (), []),
    *(-1, 0, 2**31, 2**63 - 1, 2**63, -(2**63), True, 1.5),
)


@pytest.mark.parametrize("field", ["key", "value", "headers", "offset", "timestamp"])
def test_odd_values_are_written_or_refused_alike(field: str) -> None:
    for value in (*ODD, *ODD_HEADERS):
        record = replace(Record(), **{field: value})
        for base in ((0, None), (5, None), (LARGEST, None), (0, -(2**62))):
            with suppress(TypeError):  # of a number that is none, before the engines see it
                assert outcome("native", record, *base) == outcome("python", record, *base), (value, base)


def test_offsets_and_timestamps_beyond_64_bits_are_read_as_python_does() -> None:
    (batch,) = read_batches(encode_batch([Record(0, 5), Record(7, 9)]))
    far: RecordBatch = replace(batch, base_offset=LARGEST - 3, base_timestamp=LARGEST - 1)
    assert [(record.offset, record.timestamp) for record in decode_records(far)] == [
        (LARGEST - 3, LARGEST - 1),
        (LARGEST + 4, LARGEST + 3),
    ]


def test_engines_that_differ_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    (batch,) = read_batches(encode_batch([Record(0, 5, b"k")]))
    monkeypatch.setattr(
        "kafkawire.wire.batches.reader._decode", lambda *_, **__: ((Record(0, 5, b"x"),), len(batch.payload))
    )
    with pytest.raises(EngineError, match=r"the engines differ at \[0\]\[0\].key; please report it"):
        decode_records(batch)
    monkeypatch.setattr("kafkawire.wire.batches.writer._encode_records", lambda *_: b"")
    with pytest.raises(EngineError, match="the engines differ; please report it"):
        encode_batch([Record()])


def test_python_alone_uses_no_native_part() -> None:
    assert native_record_codec() is not None
    use_engine("python")
    assert native_record_codec() is None


def test_classes_of_another_form_are_refused() -> None:
    with pytest.raises(ValueError, match="class: a field has no slot"):
        native.RecordCodec(Header, Header, RecordBatch)
    with pytest.raises(ValueError, match="class: a field has no slot"):
        native.RecordCodec(Record, Header, Record)
    for wrong in ((), (Record,), (Record, Header), (Record, Header, 1), (int, Header, RecordBatch)):
        with pytest.raises((TypeError, ValueError)):
            native.RecordCodec(*wrong)


def test_arguments_of_other_types_are_refused() -> None:
    codec = native.RecordCodec(Record, Header, RecordBatch)
    for arguments in ((), ("", 0, 0, 0, 0, None, True), (b"", 0, 0, 2**70, 0, None, True)):
        with pytest.raises((TypeError, OverflowError)):
            codec.read(*arguments)
    for at, count in ((-1, 0), (2, 0), (0, -1), (0, 2), (0, 2**40)):
        with pytest.raises(ValueError, match=r"^$"):
            codec.read(b"a", at, count, 0, 0, None, True)
    with pytest.raises(ValueError, match=r"^$"):
        codec.write([Record()], [], [], 0, 0)
    with pytest.raises(TypeError):
        codec.write(1, [], [], 0, 0)


def test_columns_of_other_objects_are_refused() -> None:
    codec = native.RecordCodec(Record, Header, RecordBatch)
    (batch,) = read_batches(encode_batch([Record(0, 5, b"k")]))
    assert codec.columns((batch,), (batch.payload,))[6] == (1, (None, b"\0\0\0\0\1\0\0\0", b"k"), ())
    for batches, payloads in (((batch,), ()), ((1,), (b"",)), ((batch,), (1,)), ((batch,), (b"",))):
        with pytest.raises(ValueError, match=r"^$"):
            codec.columns(batches, payloads)
    for field in ("base_offset", "base_timestamp", "max_timestamp", "attributes", "records_count", "position"):
        for number in (1.5, 2**63, True, None):
            other = replace(batch, **{field: number})
            with pytest.raises(ValueError, match=r"^$"):
                codec.columns((other,), (batch.payload,))
    for field, number in (("attributes", 2**15), ("partition_leader_epoch", -(2**31) - 1), ("records_count", 2**31)):
        with pytest.raises(ValueError, match=r"^$"):
            codec.columns((replace(batch, **{field: number}),), (batch.payload,))
    for at, count in ((-1, 1), (99, 1), (0, 0), (0, 2**40)):
        with pytest.raises(ValueError, match=r"^$"):
            codec.some_columns(batch, batch.payload + b"\0", at, count, 2**40)
    with pytest.raises(TypeError):
        codec.columns([batch], [batch.payload])
