"""The rules of record batches, each by an example."""

from __future__ import annotations

import re
import struct

import crc32c
import msgspec
import pytest

from kafkawire.wire.batches.batch import (
    NO_SEQUENCE,
    Header,
    Record,
    RecordBatch,
    TimestampType,
    read_batches,
)
from kafkawire.wire.batches.framing import HEADER_SIZE
from kafkawire.wire.batches.inspector import inspect_records
from kafkawire.wire.batches.reader import decode_records
from kafkawire.wire.batches.record_set import read_records
from kafkawire.wire.batches.writer import encode_batch, seal
from kafkawire.wire.compression import Codec, compress
from kafkawire.wire.errors import CorruptBatchError, DecodeError, EncodeError
from kafkawire.wire.varint import write_varint

TWO_RECORDS = bytes.fromhex(
    "0000000000000000 00000046 ffffffff 02 7a79b076 0000 00000001 0000018bcfe56800 0000018bcfe56805"
    "ffffffffffffffff ffff ffffffff 00000002 18 00 00 00 02 6b 02 76 02 02 68 02 78 0e 00 0a 02 01 02 77 00"
)
COMMIT = bytes.fromhex(
    "0000000000000000 00000042 ffffffff 02 3427fa0f 0030 00000000 0000018bcfe56800 0000018bcfe56800"
    "0000000000000009 0001 ffffffff 00000001 20 00 00 00 08 0000 0001 0c 0000 00000003 00"
)
NOW = 0x018BCFE56800


def only_batch(data: bytes, *, check_crc: bool = True) -> RecordBatch:
    (batch,) = read_batches(data, check_crc=check_crc)
    return batch


def with_records(*records: bytes, count: int | None = None) -> RecordBatch:
    """A batch with a right header around records that may be anything."""
    batch = only_batch(encode_batch([]))
    payload = b"".join(records)
    return seal(msgspec.structs.replace(batch, payload=payload, records_count=len(records) if count is None else count))


def raw_record(
    *, delta: bytes = b"\0\0", key: bytes = b"\x01", value: bytes = b"\x01", headers: bytes = b"\0", more: bytes = b""
) -> bytes:
    body = b"\0" + delta + key + value + headers + more
    return write_varint(len(body)) + body


class TestExamples:
    """The examples of 9.2 and 9.3, byte for byte."""

    def test_two_records_are_read(self) -> None:
        batch = only_batch(TWO_RECORDS)
        assert batch.crc_is_valid
        assert batch.size == len(TWO_RECORDS) == 82
        assert (batch.base_offset, batch.last_offset, batch.records_count) == (0, 1, 2)
        assert (batch.partition_leader_epoch, batch.producer_id, batch.producer_epoch) == (-1, -1, -1)
        assert (batch.codec, batch.timestamp_type) == (Codec.NONE, TimestampType.CREATE_TIME)
        assert decode_records(batch) == (
            Record(0, NOW, b"k", b"v", (Header("h", b"x"),)),
            Record(1, NOW + 5, None, b"w"),
        )

    def test_batch_producer(self) -> None:
        records = [
            Record(timestamp=NOW, key=b"k", value=b"v", headers=[Header("h", b"x")]),
            Record(timestamp=NOW + 5, value=b"w"),
        ]
        assert encode_batch(records) == TWO_RECORDS

    def test_commit_marker_is_read(self) -> None:
        batch = only_batch(COMMIT)
        assert batch.is_transactional
        assert batch.is_control
        assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (9, 1, NO_SEQUENCE)
        assert decode_records(batch) == (Record(0, NOW, bytes.fromhex("00000001"), bytes.fromhex("000000000003")),)

    def test_commit_marker_is_written(self) -> None:
        marker = Record(timestamp=NOW, key=bytes.fromhex("00000001"), value=bytes.fromhex("000000000003"))
        assert encode_batch([marker], producer_id=9, producer_epoch=1, transactional=True, control=True) == COMMIT

    def test_crc_is_castagnoli(self) -> None:
        assert crc32c.crc32c(b"123456789") == 0xE3069283


class TestReading:
    def test_records_field(self) -> None:
        reader = read_batches(TWO_RECORDS + COMMIT)
        assert [batch.position for batch in reader] == [0, len(TWO_RECORDS)]
        assert reader.bytes_left == 0

    def test_records_partial_tail(self) -> None:
        for size in range(len(COMMIT)):
            reader = read_batches(TWO_RECORDS + COMMIT[:size])
            assert len(list(reader)) == 1
            assert reader.position == len(TWO_RECORDS)
            assert reader.bytes_left == size

    def test_reading_begins_at_the_given_position(self) -> None:
        (batch,) = read_batches(memoryview(TWO_RECORDS + COMMIT), position=len(TWO_RECORDS))
        assert batch.is_control

    def test_a_wrong_crc_is_an_error_and_reading_continues_after_it(self) -> None:
        broken = TWO_RECORDS[:-2] + b"W" + TWO_RECORDS[-1:]
        reader = read_batches(COMMIT + broken + COMMIT)
        assert next(reader).is_control
        with pytest.raises(CorruptBatchError, match="states CRC 0x7a79b076, its bytes have") as caught:
            next(reader)
        assert (caught.value.kind, caught.value.offset) == ("crc", len(COMMIT) + 17)
        assert next(reader).is_control
        assert list(reader) == []

    def test_a_wrong_crc_may_be_looked_at(self) -> None:
        batch = only_batch(TWO_RECORDS[:-2] + b"W\0", check_crc=False)
        assert not batch.crc_is_valid
        assert decode_records(batch)[1].value == b"W"

    def test_partition_leader_epoch_is_not_covered_by_the_crc(self) -> None:
        batch = msgspec.structs.replace(only_batch(TWO_RECORDS), partition_leader_epoch=7, base_offset=100)
        again = only_batch(batch.to_bytes())
        assert (again.partition_leader_epoch, again.last_offset) == (7, 101)
        assert [record.offset for record in decode_records(again)] == [100, 101]

    @pytest.mark.parametrize("length", [-1, 0, 48])
    def test_a_length_below_the_header_is_an_error(self, length: int) -> None:
        data = TWO_RECORDS[:8] + struct.pack(">i", length) + TWO_RECORDS[12:]
        reader = read_batches(data)
        for _ in range(2):
            with pytest.raises(CorruptBatchError) as caught:
                next(reader)
            assert (caught.value.kind, caught.value.offset, reader.position) == ("length", 8, 0)

    @pytest.mark.parametrize("magic", [0, 1, 3, 255])
    def test_records_magic(self, magic: int) -> None:
        data = TWO_RECORDS[:16] + bytes((magic,)) + TWO_RECORDS[17:]
        reader = read_batches(data)
        with pytest.raises(CorruptBatchError, match=f"magic {magic}") as caught:
            next(reader)
        assert (caught.value.kind, caught.value.offset, reader.position) == ("version", 16, 0)

    @pytest.mark.parametrize("code", [5, 6, 7])
    def test_codecs_that_do_not_exist_are_an_error(self, code: int) -> None:
        batch = msgspec.structs.replace(only_batch(TWO_RECORDS), attributes=code)
        with pytest.raises(CorruptBatchError, match=f"compression codec {code}") as caught:
            decode_records(batch)
        assert (caught.value.kind, caught.value.offset) == ("compression", 21)


class TestRules:
    def test_record_timestamp(self) -> None:
        records = [Record(timestamp=NOW + delta) for delta in (3, 0, 1 << 40)]
        created = only_batch(encode_batch(records))
        assert (created.base_timestamp, created.max_timestamp) == (NOW + 3, NOW + (1 << 40))
        assert [record.timestamp for record in decode_records(created)] == [NOW + 3, NOW, NOW + (1 << 40)]

        appended = only_batch(encode_batch(records, log_append_time=NOW + 9))
        assert appended.timestamp_type is TimestampType.LOG_APPEND_TIME
        assert {record.timestamp for record in decode_records(appended)} == {NOW + 9}

        # What a broker makes of a producer's batch: type and maximum changed, deltas left alone.
        overwritten = seal(msgspec.structs.replace(created, attributes=8, max_timestamp=NOW + 77))
        assert {record.timestamp for record in decode_records(overwritten)} == {NOW + 77}

    def test_records_without_timestamp(self) -> None:
        batch = only_batch(encode_batch([Record(value=b"v")]))
        assert (batch.base_timestamp, batch.max_timestamp) == (-1, -1)
        assert decode_records(batch)[0].timestamp == -1

    def test_record_sequence(self) -> None:
        batch = only_batch(encode_batch([Record()] * 4, base_offset=50, base_sequence=2147483646, producer_id=1))
        assert [batch.sequence_of(offset) for offset in range(50, 54)] == [2147483646, 2147483647, 0, 1]
        assert batch.last_sequence == 1

    def test_record_sequence_is_none_without_base(self) -> None:
        batch = only_batch(encode_batch([Record()] * 4))
        assert batch.last_sequence == batch.sequence_of(2) == NO_SEQUENCE

    def test_record_offset(self) -> None:
        batch = only_batch(encode_batch([Record(offset=12), Record(offset=15), Record()], base_offset=10))
        assert [record.offset for record in decode_records(batch)] == [12, 15, 16]
        assert batch.last_offset == 16

    def test_last_offset_is_kept_by_compaction(self) -> None:
        batch = only_batch(encode_batch([Record(offset=12)], base_offset=10, last_offset=19))
        assert batch.last_offset == 19
        assert batch.records_count == 1

    def test_batch_may_be_empty_after_compaction(self) -> None:
        batch = only_batch(encode_batch([], base_offset=10, last_offset=19, producer_id=3))
        assert (batch.size, batch.last_offset, batch.base_timestamp) == (HEADER_SIZE, 19, -1)
        assert decode_records(batch) == ()

    def test_delete_horizon(self) -> None:
        records = [Record(timestamp=NOW), Record(timestamp=NOW + 5)]
        batch = only_batch(encode_batch(records, delete_horizon_ms=NOW + 1000))
        assert batch.delete_horizon_ms == NOW + 1000
        assert batch.max_timestamp == NOW + 5
        assert [record.timestamp for record in decode_records(batch)] == [NOW, NOW + 5]
        assert only_batch(TWO_RECORDS).delete_horizon_ms is None

    @pytest.mark.parametrize("codec", list(Codec), ids=lambda codec: codec.name.lower())
    def test_batch_compressed(self, codec: Codec) -> None:
        records = decode_records(only_batch(TWO_RECORDS))
        batch = only_batch(encode_batch(records, codec=codec))
        assert batch.codec is codec
        assert batch.crc_is_valid
        assert batch.payload == compress(codec, TWO_RECORDS[HEADER_SIZE:])
        assert decode_records(batch) == records

    @pytest.mark.parametrize("codec", list(Codec)[1:], ids=lambda codec: codec.name.lower())
    def test_batch_compressed_ends_with_its_stream_and_within_the_limit(self, codec: Codec) -> None:
        batch = only_batch(encode_batch([Record(value=bytes(1000))], codec=codec))
        longer = msgspec.structs.replace(batch, payload=batch.payload + b"more")
        for refused, limit in ((longer, 2000), (batch, 500)):
            with pytest.raises(CorruptBatchError) as caught:
                decode_records(refused, limit=limit)
            assert caught.value.kind == "compression"

    def test_tombstones_and_empty_values_differ(self) -> None:
        records = (Record(0, NOW, b"", None), Record(1, NOW, None, b""))
        assert decode_records(only_batch(encode_batch(records))) == records

    def test_headers_keep_order_duplicates_and_nulls(self) -> None:
        headers = (Header("b", None), Header("a", b""), Header("b", b"x"), Header("", b"y"), Header("\u20ac", b"z"))
        batch = only_batch(encode_batch([Record(timestamp=NOW, headers=headers)]))
        assert decode_records(batch)[0].headers == headers


class TestBrokenRecords:
    """record-exact and its kin: the error says which field of which record, and where."""

    @pytest.mark.parametrize(
        ("record", "kind", "path", "at"),
        [
            (raw_record(more=b"x"), "trailing", "records[1]", 7),
            (write_varint(-1) + bytes(6), "length", "records[1].length", 0),
            (write_varint(90) + bytes(6), "truncated", "records[1].length", 0),
            (write_varint(0) + bytes(6), "truncated", "records[1].attributes", 1),
            (raw_record(key=write_varint(9) + b"short"), "truncated", "records[1].key", 4),
            (raw_record(value=write_varint(1 << 20)), "truncated", "records[1].value", 5),
            (raw_record(headers=write_varint(-1)), "length", "records[1].header_count", 6),
            (raw_record(headers=write_varint(3) + bytes(4)), "length", "records[1].header_count", 6),
            (raw_record(headers=write_varint(1) + b"\x01\0"), "length", "records[1].headers[0].key", 7),
            (raw_record(headers=write_varint(1) + b"\x0aab"), "truncated", "records[1].headers[0].key", 7),
            (raw_record(headers=write_varint(1) + b"\x02\xff\0"), "utf8", "records[1].headers[0].key", 7),
            (raw_record(headers=write_varint(1) + b"\x02a\x08abc"), "truncated", "records[1].headers[0].value", 9),
            (raw_record(delta=b"\x80" * 11 + b"\0"), "varint", "records[1].timestamp_delta", 2),
            (raw_record(delta=b"\0" + b"\x80" * 6), "varint", "records[1].offset_delta", 3),
            (b"\x06\0\0\x80\x00\x00\x00\x00", "truncated", "records[1].offset_delta", 3),
            (b"\x80\x80\x80\x80\x80\x00\x00", "varint", "records[1].length", 0),
        ],
    )
    def test_record_exact(self, record: bytes, kind: str, path: str, at: int) -> None:
        good = raw_record()
        plain = with_records(good, record)
        with pytest.raises(DecodeError) as caught:
            decode_records(plain)
        assert (caught.value.kind, caught.value.path) == (kind, path)
        assert caught.value.offset == HEADER_SIZE + len(good) + at

        packed = seal(
            msgspec.structs.replace(plain, attributes=Codec.ZSTD, payload=compress(Codec.ZSTD, plain.payload))
        )
        with pytest.raises(DecodeError) as caught:
            decode_records(packed)
        assert (caught.value.kind, caught.value.path) == (kind, f"{path} (decompressed)")
        assert caught.value.offset == len(good) + at

    def test_bytes_after_the_last_record_are_an_error(self) -> None:
        with pytest.raises(DecodeError, match="7 bytes after the last record") as caught:
            decode_records(with_records(raw_record(), raw_record(), count=1))
        assert (caught.value.kind, caught.value.path) == ("trailing", "records")

    def test_fewer_records_than_stated_are_an_error(self) -> None:
        with pytest.raises(DecodeError, match=r"records\[1\].length") as caught:
            decode_records(with_records(raw_record(value=write_varint(7) + b"content"), count=2))
        assert caught.value.kind == "truncated"

    @pytest.mark.parametrize(("count", "kind"), [(-1, "length"), (-(2**31), "length"), (2**31 - 1, "truncated")])
    def test_counts_are_checked_first(self, count: int, kind: str) -> None:
        with pytest.raises(DecodeError) as caught:
            decode_records(with_records(raw_record(), count=count))
        assert (caught.value.kind, caught.value.path) == (kind, "records_count")

    def test_wire_negative_length(self) -> None:
        null = write_varint(-2)
        batch = with_records(raw_record(key=null, value=write_varint(-(2**31)), headers=b"\x02\x02h" + null))
        assert decode_records(batch) == (Record(0, -1, None, None, (Header("h", None),)),)
        assert inspect_records(batch, batch.payload, 0, 0, batch.records_count, keep_headers=True)[0] == decode_records(
            batch
        )

    def test_padded_numbers_are_read(self) -> None:
        batch = with_records(raw_record(key=b"\x82\x80\x00k", value=b"\x82\x00v", headers=b"\x80\x00"))
        assert decode_records(batch) == (Record(0, -1, b"k", b"v"),)


def test_contents_are_shown_by_their_size() -> None:
    batch = only_batch(TWO_RECORDS)
    record = Record(3, NOW, b"secret", b"hidden", (Header("h", b"covert"),))
    shown = repr((batch, record, list(read_records(TWO_RECORDS))))
    assert "key=<6 bytes>" in shown
    assert not re.search(r"secret|hidden|covert|b'", shown)


class TestWriting:
    @pytest.mark.parametrize(
        ("records", "arguments", "kind", "path"),
        [
            ([Record(offset=5), Record(offset=5)], {}, "range", "records[1].offset"),
            ([Record(offset=5)], {"base_offset": 6}, "range", "records[0].offset"),
            ([Record(offset=1 << 31)], {}, "range", "last_offset_delta"),
            ([Record()], {"last_offset": -(2**33)}, "range", "last_offset_delta"),
            ([Record()], {"base_offset": 1 << 63}, "range", "base_offset"),
            ([Record()], {"partition_leader_epoch": 1 << 31}, "range", "partition_leader_epoch"),
            ([Record()], {"producer_id": 1 << 63}, "range", "producer_id"),
            ([Record()], {"producer_epoch": 1 << 15}, "range", "producer_epoch"),
            ([Record()], {"base_sequence": 1 << 31}, "range", "base_sequence"),
            ([Record()], {"delete_horizon_ms": 1 << 63}, "range", "base_timestamp"),
            ([Record(timestamp=1 << 63)], {"delete_horizon_ms": 0}, "range", "max_timestamp"),
            ([Record(timestamp=-2), Record(timestamp=2**63 - 1)], {}, "range", "records[1]"),
            ([Record(), Record(value="text")], {}, "type", "records[1]"),  # type: ignore[arg-type]
            ([Record(key=7)], {}, "type", "records[0]"),  # type: ignore[arg-type]
            ([Record(headers=[Header(None)])], {}, "type", "records[0]"),  # type: ignore[arg-type]
            ([Record(headers=[Header("\ud800")])], {}, "utf8", "records[0].headers"),
        ],
    )
    def test_values_that_a_batch_cannot_carry_are_refused(
        self, records: list[Record], arguments: dict[str, int], kind: str, path: str
    ) -> None:
        with pytest.raises(EncodeError) as caught:
            encode_batch(records, **arguments)  # type: ignore[arg-type]
        assert (caught.value.kind, caught.value.path) == (kind, path)

    def test_errors_do_not_quote_contents(self) -> None:
        with pytest.raises(EncodeError) as caught:
            encode_batch([Record(headers=[Header("secret-\ud800")])])
        assert "secret" not in str(caught.value)
