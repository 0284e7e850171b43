"""Message sets of magic 0 and 1 (legacy-message-set). The bytes are put together here."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import pytest

from kafkawire.wire.batches.batch import Record, read_batches
from kafkawire.wire.batches.legacy_messages import LegacyMessage
from kafkawire.wire.batches.record_set import read_entries, read_records
from kafkawire.wire.batches.writer import encode_batch
from kafkawire.wire.compression import Codec, compress
from kafkawire.wire.errors import CorruptBatchError

NOW = 1_700_000_000_000
LOG_APPEND = 8


def message(
    offset: int,
    key: bytes | None,
    value: bytes | None,
    *,
    magic: int = 1,
    attributes: int = 0,
    timestamp: int = NOW,
    tail: bytes = b"",
) -> bytes:
    body = struct.pack(">bb", magic, attributes)
    if magic == 1:
        body += struct.pack(">q", timestamp)
    for field in (key, value):
        body += struct.pack(">i", -1) if field is None else struct.pack(">i", len(field)) + field
    body += tail
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def wrapper(
    offset: int,
    inner: Sequence[bytes],
    *,
    magic: int = 1,
    codec: Codec = Codec.GZIP,
    attributes: int = 0,
    timestamp: int = NOW,
) -> bytes:
    value = compress(codec, b"".join(inner))
    return message(offset, None, value, magic=magic, attributes=attributes | codec, timestamp=timestamp)


def records(data: bytes) -> list[Record]:
    return list(read_records(data))


def refused(data: bytes) -> CorruptBatchError:
    with pytest.raises(CorruptBatchError) as caught:
        records(data)
    return caught.value


@pytest.mark.parametrize(("magic", "overhead", "timestamp"), [(0, 14, -1), (1, 22, NOW)])
def test_messages(magic: int, overhead: int, timestamp: int) -> None:
    data = message(7, b"k", b"vv", magic=magic) + message(9, None, None, magic=magic)
    assert len(data) == 2 * (12 + overhead) + 3
    assert records(data) == [Record(7, timestamp, b"k", b"vv"), Record(9, timestamp, None, None)]


def test_log_append_time_of_a_plain_message() -> None:
    (entry,) = read_entries(message(7, None, b"v", attributes=LOG_APPEND))
    assert isinstance(entry, LegacyMessage)
    assert entry.log_append_time
    assert entry.timestamp == NOW


legacy_codecs = pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])


@legacy_codecs
def test_wrapper_of_magic_0_has_absolute_offsets(codec: Codec) -> None:
    inner = [message(offset, None, b"%d" % offset, magic=0) for offset in (4, 5, 9)]
    assert records(wrapper(9, inner, magic=0, codec=codec)) == [
        Record(offset, -1, None, b"%d" % offset) for offset in (4, 5, 9)
    ]


@legacy_codecs
def test_wrapper_of_magic_1_has_relative_offsets(codec: Codec) -> None:
    inner = [message(offset, None, b"v", timestamp=NOW + offset) for offset in (0, 1, 4)]
    assert records(wrapper(104, inner, codec=codec)) == [
        Record(100 + offset, NOW + offset, None, b"v") for offset in (0, 1, 4)
    ]


def test_wrapper_with_offset_0_takes_relative_offsets_as_they_are() -> None:
    inner = [message(offset, None, b"v") for offset in range(3)]
    assert [record.offset for record in records(wrapper(0, inner))] == [0, 1, 2]


def test_wrapper_with_log_append_time_rules_the_timestamps() -> None:
    inner = [message(offset, None, b"v", timestamp=offset) for offset in range(3)]
    data = wrapper(2, inner, attributes=LOG_APPEND, timestamp=NOW)
    assert [record.timestamp for record in records(data)] == [NOW] * 3


def test_lz4_header_checksum_is_ignored_in_magic_0_only() -> None:
    def broken(magic: int) -> bytes:
        value = bytearray(compress(Codec.LZ4, message(0, None, b"v", magic=magic)))
        value[6] ^= 0xFF
        return message(0, None, bytes(value), magic=magic, attributes=Codec.LZ4)

    assert records(broken(0)) == [Record(0, -1, None, b"v")]
    assert refused(broken(1)).kind == "compression"


def test_formats_may_be_mixed() -> None:
    data = (
        message(0, b"a", None, magic=0)
        + wrapper(2, [message(0, b"b", None), message(1, b"c", None)])
        + encode_batch([Record(timestamp=NOW, key=b"d")], base_offset=3)
        + encode_batch([Record(key=b"\0\0\0\1", value=b"\0" * 6)], base_offset=4, control=True)
        + message(5, b"e", None)
    )
    assert [(record.offset, record.key) for record in read_records(data)] == [
        (0, b"a"), (1, b"b"), (2, b"c"), (3, b"d"), (5, b"e"),
    ]  # fmt: skip
    assert [record.offset for record in read_records(data, control=True)] == [0, 1, 2, 3, 4, 5]


def test_records_partial_tail() -> None:
    first, second = message(0, None, b"one"), message(1, None, b"two")
    for size in range(len(second)):
        assert [record.value for record in read_records(first + second[:size])] == [b"one"]


def test_batches_only_are_read_by_read_batches() -> None:
    with pytest.raises(CorruptBatchError, match="magic 1 is a legacy message"):
        next(read_batches(message(0, None, b"v")))


def test_a_wrong_crc_is_an_error_by_default() -> None:
    data = bytearray(message(3, None, b"value"))
    data[-1] ^= 1
    error = refused(bytes(data))
    assert (error.kind, error.offset) == ("crc", 12)
    assert [record.value for record in read_records(bytes(data), check_crc=False)] == [b"valud"]


def test_a_wrong_crc_inside_a_wrapper_is_an_error() -> None:
    inner = bytearray(message(0, None, b"value"))
    inner[-1] ^= 1
    assert refused(wrapper(0, [bytes(inner)])).kind == "crc"


@pytest.mark.parametrize(
    ("data", "kind", "reason"),
    [
        (message(0, None, b"v", attributes=Codec.ZSTD), "compression", "codec 4"),
        (message(0, None, b"v", attributes=7), "compression", "codec 7"),
        (message(0, None, None, attributes=Codec.GZIP), "null", "without value"),
        (message(0, None, b"junk", attributes=Codec.GZIP), "compression", "gzip data"),
        (wrapper(0, []), "truncated", "without messages"),
        (wrapper(0, [message(0, None, b"v")[:-1]]), "truncated", "cut off"),
        (wrapper(0, [message(0, None, b"v", magic=0)]), "version", "magic 0 in a wrapper of magic 1"),
        (wrapper(0, [message(0, None, b"v", magic=3)]), "version", "magic 3; 0, 1 and 2 are known"),
        (wrapper(0, [encode_batch([Record()])]), "version", "magic 2 in a wrapper of magic 1"),
        (wrapper(1, [wrapper(0, [message(0, None, b"v")])]), "compression", "inside a wrapper"),
        (wrapper(1, [message(0, None, b"v"), message(5, None, b"v")]), "length", "below its last message's"),
        (message(0, None, b"v", tail=b"xy"), "trailing", "2 bytes of the message are left"),
    ],
)
def test_broken_messages_are_refused(data: bytes, kind: str, reason: str) -> None:
    error = refused(data)
    assert error.kind == kind
    assert reason in str(error)


def test_wire_negative_length() -> None:
    body = b"\0\0" + struct.pack(">ii", -2, -(2**31))
    assert records(struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body)) + body) == [Record(0, -1, None, None)]


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        (struct.pack(">i", 5) + struct.pack(">i", -1), "truncated"),
        (struct.pack(">i", 2) + b"ab" + b"\0\0", "truncated"),
        (struct.pack(">i", -1) + struct.pack(">i", 1 << 30), "truncated"),
    ],
)
def test_lengths_of_key_and_value_are_checked(fields: bytes, kind: str) -> None:
    body = b"\0\0" + fields
    assert refused(struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body)) + body).kind == kind


@pytest.mark.parametrize(("magic", "length"), [(0, 13), (1, 21)])
def test_a_length_below_the_overhead_is_refused(magic: int, length: int) -> None:
    data = struct.pack(">qiIb", 0, length, 0, magic) + bytes(40)
    assert refused(data).kind == "length"
