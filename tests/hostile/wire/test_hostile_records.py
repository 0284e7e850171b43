"""Record data from an enemy: any bytes give records or a DecodeError, and memory stays within bounds."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import time
import tracemalloc
import zlib
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, strategies as st

from kafkawire.wire.batches.batch import Header, Record, RecordBatch, read_batches
from kafkawire.wire.batches.reader import decode_records
from kafkawire.wire.batches.record_set import read_records
from kafkawire.wire.batches.writer import encode_batch, seal
from kafkawire.wire.compression import Codec, compress, decompress
from kafkawire.wire.compression.snappy_stream import compress_snappy
from kafkawire.wire.errors import CorruptBatchError, DecodeError
from kafkawire.wire.varint import write_varint

MIB = 1 << 20
RECORDS = tuple(
    Record(offset, 1_700_000_000_000 + offset, b"key-%d" % offset, b"value " * (offset % 40), (Header("h", b"x"),) * 2)
    for offset in range(20)
)
each_codec = pytest.mark.parametrize("codec", list(Codec), ids=lambda codec: codec.name.lower())
each_real_codec = pytest.mark.parametrize("codec", list(Codec)[1:], ids=lambda codec: codec.name.lower())


def with_payload(payload: bytes, *, codec: Codec = Codec.NONE, count: int) -> RecordBatch:
    """A batch whose header and CRC are right, whatever the payload."""
    (batch,) = read_batches(encode_batch([]))
    return seal(msgspec.structs.replace(batch, attributes=codec, payload=payload, records_count=count))


def read(data: bytes) -> Sequence[Record] | DecodeError:
    """Whatever comes of it; anything but a DecodeError fails the test."""
    try:
        return list(read_records(data, check_crc=False, limit=MIB))
    except DecodeError as error:
        return error


@each_codec
def test_payloads_cut_off_at_every_byte(codec: Codec) -> None:
    (batch,) = read_batches(encode_batch(RECORDS, codec=codec))
    for size in range(len(batch.payload)):
        with pytest.raises(DecodeError) as caught:
            decode_records(with_payload(batch.payload[:size], codec=codec, count=len(RECORDS)))
        assert caught.value.kind in {"truncated", "compression"}


@each_codec
def test_flipped_bits(codec: Codec) -> None:
    data = encode_batch(RECORDS, codec=codec)
    outcomes = []
    for index in range(len(data) * 8):
        flipped = bytearray(data)
        flipped[index // 8] ^= 1 << index % 8
        outcomes.append(read(bytes(flipped)))
    assert any(isinstance(outcome, DecodeError) for outcome in outcomes)


def test_flipped_bits_never_pass_the_crc() -> None:
    data = encode_batch(RECORDS[:5])
    for index in range(21 * 8, len(data) * 8):
        flipped = bytearray(data)
        flipped[index // 8] ^= 1 << index % 8
        with pytest.raises(CorruptBatchError) as caught:
            list(read_batches(bytes(flipped)))
        assert caught.value.kind == "crc"


@given(st.binary(max_size=200), st.integers(0, 40), st.sampled_from(Codec))
def test_any_payload_gives_records_or_a_decode_error(payload: bytes, count: int, codec: Codec) -> None:
    outcome = read(with_payload(payload, codec=codec, count=count).to_bytes())
    assert isinstance(outcome, DecodeError) or len(outcome) == count


@given(st.binary(max_size=120), st.integers(0, 8))
def test_any_records_in_good_compression_give_records_or_a_decode_error(data: bytes, count: int) -> None:
    plain = read(with_payload(data, count=count).to_bytes())
    packed = read(with_payload(compress(Codec.ZSTD, data), codec=Codec.ZSTD, count=count).to_bytes())
    if isinstance(plain, DecodeError):
        assert isinstance(packed, DecodeError)
        assert packed.kind == plain.kind
    else:
        assert packed == plain


@given(st.binary(max_size=80), st.sampled_from([0, 1]), st.integers(0, 15))
def test_any_legacy_message_gives_records_or_a_decode_error(body: bytes, magic: int, attributes: int) -> None:
    covered = bytes((magic, attributes)) + body
    outcome = read(struct.pack(">qiI", 3, len(covered) + 4, zlib.crc32(covered)) + covered)
    assert isinstance(outcome, DecodeError) or len(outcome) == (len(body) >= (8 if magic == 0 else 16))


@given(st.binary(max_size=300))
def test_any_bytes_give_records_or_a_decode_error(data: bytes) -> None:
    outcome = read(data)
    assert isinstance(outcome, DecodeError | list)


@each_real_codec
def test_any_damage_to_compressed_data_is_a_decode_error_or_goes_unnoticed(codec: Codec) -> None:
    dice = random.Random(codec)
    data = compress(codec, b"".join(b"%d, " % number for number in range(2000)))
    for _ in range(3000):
        damaged = bytearray(data)
        for _ in range(dice.choice((1, 1, 2, 8))):
            damaged[dice.randrange(min(len(damaged), dice.choice((16, 64, 1 << 20))))] = dice.randrange(256)
        try:
            size = len(decompress(codec, bytes(damaged), limit=MIB))
        except CorruptBatchError:
            size = 0
        assert size <= MIB


def bomb(codec: Codec) -> bytes:
    """Little input, 64 MiB of zeros as output."""
    if codec is Codec.SNAPPY:
        return compress_snappy(bytes(MIB)) + compress_snappy(bytes(MIB)) * 63
    return compress(codec, bytes(64 * MIB))


def kibibytes_used(codec: Codec, data: bytes, *, limit: int) -> int:
    """What decompressing takes, in a process of its own: the memory is not Python's, so only the system knows."""
    program = f"""
import resource, sys
from kafkawire.wire.compression import Codec, decompress
from kafkawire.wire.errors import CorruptBatchError

data = sys.stdin.buffer.read()
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    decompress(Codec({codec:d}), data, limit={limit})
except CorruptBatchError:
    print("refused", end=" ")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used)
"""
    done = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True)
    assert done.stdout.startswith(b"refused")
    return int(done.stdout.split()[1])


@each_real_codec
def test_bombs_fail_within_the_memory_that_the_limit_allows(codec: Codec) -> None:
    assert kibibytes_used(codec, bomb(codec), limit=4 * MIB) < 4 * 4 * 1024


@each_real_codec
def test_bombs_inside_batches_are_corrupt_batches(codec: Codec) -> None:
    with pytest.raises(CorruptBatchError) as caught:
        decode_records(with_payload(bomb(codec), codec=codec, count=1), limit=MIB)
    assert caught.value.kind == "compression"


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        (Codec.SNAPPY, b"\xff\xff\xff\xff\x0f\x00"),  # a raw block that declares 4 GiB
        (Codec.SNAPPY, b"\xff\xff\xff\x3f\x00"),  # one byte below 128 MiB: the default limit would allow it
        (Codec.LZ4, bytes.fromhex("04224d18607073") + b"\x00\x00\x40\x00"),  # a block of 4 MiB
        (Codec.ZSTD, bytes.fromhex("28b52ffde0ffffffff0000000000000000")),  # a frame that declares 4 GiB
        (Codec.ZSTD, bytes.fromhex("28b52ffd0088020000")),  # a window of 128 MiB, and no end
    ],
)
def test_declared_sizes_are_not_believed(codec: Codec, data: bytes) -> None:
    assert kibibytes_used(codec, data, limit=128 * MIB) < 4 * 1024


@pytest.mark.parametrize(
    "record",
    [
        write_varint(2**31 - 1) + bytes(20),
        b"\x30\0\0\0" + write_varint(2**31 - 1) + bytes(20),
        b"\x30\0\0\0\x01" + write_varint(2**31 - 1) + bytes(20),
        b"\x30\0\0\0\x01\x01" + write_varint(2**31 - 1) + bytes(20),
        b"\x30\0\0\0\x01\x01\x02" + write_varint(2**31 - 1) + bytes(20),
    ],
)
@pytest.mark.parametrize("count", [1, 2**31 - 1])
def test_claimed_counts_and_lengths_cost_nothing(record: bytes, count: int) -> None:
    batch = with_payload(record, count=count)
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError):
            decode_records(batch)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_the_time_for_broken_batches_grows_with_their_size_only() -> None:
    """The slow decoder that explains an error must not cost more for each record the more there are."""

    def seconds(records: int) -> float:
        batch = with_payload(bytes.fromhex("0c000000010100") * records + b"\x01", count=records + 1)
        started = time.perf_counter()
        with pytest.raises(DecodeError):
            decode_records(msgspec.structs.replace(batch, payload=batch.payload + bytes(10)))
        return time.perf_counter() - started

    assert min(seconds(40_000) for _ in range(3)) < 40 * min(seconds(4_000) for _ in range(3))


def test_many_small_pieces_cost_no_more_than_their_size() -> None:
    one = compress(Codec.GZIP, b"x")
    started = time.perf_counter()
    assert decompress(Codec.GZIP, one * 20_000) == b"x" * 20_000
    assert decompress(Codec.SNAPPY, compress_snappy(b"x") * 20_000) == b"x" * 20_000
    assert decompress(Codec.ZSTD, compress(Codec.ZSTD, b"x") * 20_000) == b"x" * 20_000
    assert time.perf_counter() - started < 5
