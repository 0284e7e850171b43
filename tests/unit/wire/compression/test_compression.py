"""The framing of each codec, both ways."""

from __future__ import annotations

import gzip
import random
import struct

import cramjam
import pytest

from kafkawire.wire.compression import Codec, compress, decompress
from kafkawire.wire.errors import CorruptBatchError

TEXT = b"".join(b"line %d of a text that compresses\n" % number for number in range(6000))
XERIAL = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)

each_codec = pytest.mark.parametrize("codec", list(Codec)[1:], ids=lambda codec: codec.name.lower())


@each_codec
@pytest.mark.parametrize("size", [0, 1, 32 * 1024, 64 * 1024, 64 * 1024 + 1, len(TEXT)])
def test_compressed_bytes_are_decompressed(codec: Codec, size: int) -> None:
    assert decompress(codec, compress(codec, TEXT[:size])) == TEXT[:size]


@each_codec
def test_compressed_text_is_smaller(codec: Codec) -> None:
    assert len(compress(codec, TEXT)) < len(TEXT) // 4


def test_codec_none_changes_nothing() -> None:
    assert decompress(Codec.NONE, compress(Codec.NONE, TEXT)) == TEXT


@pytest.mark.parametrize(("codec", "low", "high"), [(Codec.GZIP, 1, 9), (Codec.LZ4, 0, 9), (Codec.ZSTD, 1, 19)])
def test_levels_trade_time_for_size(codec: Codec, low: int, high: int) -> None:
    words = random.Random(7).choices([b"offset", b"partition", b"leader", b"epoch", b"replica", b"controller"], k=9000)
    text = b" ".join(words)
    assert len(compress(codec, text, level=high)) < len(compress(codec, text, level=low))
    assert decompress(codec, compress(codec, text, level=high)) == text


@pytest.mark.parametrize(
    ("codec", "level"), [(Codec.NONE, 1), (Codec.SNAPPY, 1), (Codec.GZIP, 10), (Codec.LZ4, 13), (Codec.ZSTD, 23)]
)
def test_levels_that_a_codec_lacks_are_refused(codec: Codec, level: int) -> None:
    with pytest.raises(ValueError, match=f"{codec.name.lower()} has no level {level}"):
        compress(codec, TEXT, level=level)


@each_codec
def test_output_may_fill_the_limit_but_not_exceed_it(codec: Codec) -> None:
    data = compress(codec, TEXT)
    assert decompress(codec, data, limit=len(TEXT)) == TEXT
    with pytest.raises(CorruptBatchError) as caught:
        decompress(codec, data, limit=len(TEXT) - 1)
    assert caught.value.kind == "compression"


@each_codec
def test_bytes_after_the_stream_are_refused(codec: Codec) -> None:
    with pytest.raises(CorruptBatchError):
        decompress(codec, compress(codec, TEXT) + b"more")


def test_gzip_members_follow_each_other() -> None:
    assert decompress(Codec.GZIP, gzip.compress(b"one") + gzip.compress(b"two")) == b"onetwo"


def test_gzip_is_read_by_others() -> None:
    assert gzip.decompress(compress(Codec.GZIP, TEXT)) == TEXT


def test_zstd_frames_follow_each_other() -> None:
    frames = bytes(cramjam.zstd.compress(b"one")) + bytes(cramjam.zstd.compress(b"two"))
    assert decompress(Codec.ZSTD, frames) == b"onetwo"


def test_snappy_is_written_in_blocks_of_32_kib() -> None:
    data = compress(Codec.SNAPPY, TEXT[: 80 * 1024])
    assert data.startswith(XERIAL)
    sizes, position = [], len(XERIAL)
    while position < len(data):
        (length,) = struct.unpack_from(">i", data, position)
        sizes.append(cramjam.snappy.decompress_raw_len(data[position + 4 : position + 4 + length]))
        position += 4 + length
    assert sizes == [32 * 1024, 32 * 1024, 16 * 1024]


def test_snappy_bare_block_is_read() -> None:
    assert decompress(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(TEXT))) == TEXT


def test_snappy_streams_that_were_joined_are_read() -> None:
    assert decompress(Codec.SNAPPY, compress(Codec.SNAPPY, b"one") + compress(Codec.SNAPPY, b"two")) == b"onetwo"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (XERIAL[:12], "header is cut off"),
        (XERIAL[:8] + bytes(8), "version below 1"),
        (XERIAL + b"\0\7", "the block length is cut off"),
        (XERIAL + struct.pack(">i", -2), "a block of -2 bytes"),
        (XERIAL + struct.pack(">i", 5) + b"abcd", "a block of 5 bytes; 4 are left"),
        (XERIAL + struct.pack(">i", 2) + b"\xff\xff", "invalid header"),
        (XERIAL + struct.pack(">i", 4) + b"\x04abc", "corrupt input"),
        (b"\xff\xff\xff\x07", "declares 16777215 bytes of output; 4 bytes cannot"),
    ],
)
def test_snappy_that_is_broken_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(CorruptBatchError, match=reason) as caught:
        decompress(Codec.SNAPPY, data)
    assert caught.value.kind == "compression"


# LZ4 frames: magic, flags, block descriptor, (content size), header checksum, blocks, end mark, (content checksum).
LZ4_MAGIC = b"\x04\x22\x4d\x18"
LZ4_HELLO_BLOCK = struct.pack("<I", 5 | 1 << 31) + b"hello"
LZ4_END = bytes(4)


def lz4_frame(flags: int, descriptor: int = 0x40, *, size: bytes = b"", checksum: int, tail: bytes = b"") -> bytes:
    return LZ4_MAGIC + bytes((flags, descriptor)) + size + bytes((checksum,)) + LZ4_HELLO_BLOCK + LZ4_END + tail


def library_checksum(flags: int, size: bytes) -> int:
    """The one header checksum that the LZ4 library does not call wrong."""
    taken = []
    for checksum in range(256):
        try:
            cramjam.lz4.decompress(lz4_frame(flags, size=size, checksum=checksum))
        except cramjam.DecompressionError as error:
            if "headerChecksum" in str(error):
                continue
        taken.append(checksum)
    (checksum,) = taken
    return checksum


@pytest.mark.parametrize("size", [0, 5, 99, 2**32 + 7, 2**64 - 1])
def test_lz4_header_checksum_is_that_of_the_library(size: int) -> None:
    content_size = struct.pack("<Q", size)
    right = library_checksum(0x68, content_size)
    assert decompress(Codec.LZ4, lz4_frame(0x68, size=content_size, checksum=right)) == b"hello"
    with pytest.raises(CorruptBatchError, match="header checksum"):
        decompress(Codec.LZ4, lz4_frame(0x68, size=content_size, checksum=right ^ 1))


def test_lz4_is_written_in_independent_blocks_of_64_kib() -> None:
    noise = random.Random(7).randbytes(64 * 1024 + 10)
    frame = compress(Codec.LZ4, noise)
    assert frame[:6] == LZ4_MAGIC + b"\x70\x40"  # version 1, independent, block checksums; 64 KiB
    assert struct.unpack_from("<I", frame, 7)[0] == 64 * 1024 | 1 << 31
    assert struct.unpack_from("<I", frame, 7 + 4 + 64 * 1024 + 4)[0] == 10 | 1 << 31
    assert frame.endswith(LZ4_END)


def test_lz4_is_read_by_others() -> None:
    assert bytes(cramjam.lz4.decompress(compress(Codec.LZ4, TEXT))) == TEXT


def test_lz4_of_others_is_read() -> None:
    for content_checksum in (False, True):
        frame = cramjam.lz4.Compressor(content_checksum=content_checksum, block_linked=False)
        frame.compress(TEXT)
        assert decompress(Codec.LZ4, bytes(frame.finish())) == TEXT


def test_lz4_content_size_and_content_checksum_are_not_looked_at() -> None:
    # Checksums as the reference implementation of LZ4 computes them; the content size and checksum are lies.
    assert decompress(Codec.LZ4, lz4_frame(0x60, checksum=0x82)) == b"hello"
    assert decompress(Codec.LZ4, lz4_frame(0x64, checksum=0xA7, tail=b"oops")) == b"hello"
    size = struct.pack("<Q", 99)
    assert decompress(Codec.LZ4, lz4_frame(0x68, size=size, checksum=library_checksum(0x68, size))) == b"hello"


def test_lz4_header_checksum_is_verified_except_for_magic_0() -> None:
    frame = lz4_frame(0x60, checksum=0x83)
    with pytest.raises(CorruptBatchError, match="header checksum"):
        decompress(Codec.LZ4, frame)
    assert decompress(Codec.LZ4, frame, verify_lz4_header=False) == b"hello"


def test_lz4_block_checksum_is_honoured() -> None:
    frame = cramjam.lz4.Compressor(content_checksum=False, block_linked=False)
    frame.compress(b"hello")
    data = bytes(frame.finish())
    assert data[4] == 0x70
    assert decompress(Codec.LZ4, data) == b"hello"
    checksum = len(data) - 8
    with pytest.raises(CorruptBatchError, match="blockChecksum"):
        decompress(Codec.LZ4, data[:checksum] + bytes((data[checksum] ^ 1,)) + data[checksum + 1 :])


def test_lz4_linked_blocks_are_refused() -> None:
    frame = cramjam.lz4.Compressor(block_linked=True)
    frame.compress(TEXT)
    with pytest.raises(CorruptBatchError, match="linked blocks"):
        decompress(Codec.LZ4, bytes(frame.finish()))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "magic"),
        (b"hello world", "magic"),
        (LZ4_MAGIC + b"\x60", "descriptor is cut off"),
        (LZ4_MAGIC + b"\x68\x40\x00\x00", "descriptor is cut off"),
        (LZ4_MAGIC + b"\xa0\x40\x82", "frame version 2"),
        (LZ4_MAGIC + b"\x61\x40\x82", "reserved bits"),
        (LZ4_MAGIC + b"\x60\x41\x82", "reserved bits"),
        (LZ4_MAGIC + b"\x60\x30\x82", "block size code 3"),
        (LZ4_MAGIC + b"\x60\x40\x82", "no end mark"),
        (LZ4_MAGIC + b"\x60\x40\x82" + LZ4_HELLO_BLOCK, "no end mark"),
        (LZ4_MAGIC + b"\x60\x40\x82" + struct.pack("<I", 65537) + bytes(70000), "a block of 65537 bytes"),
        (LZ4_MAGIC + b"\x60\x40\x82" + LZ4_HELLO_BLOCK[:-1], "a block of 5 bytes; 4 are left"),
        (LZ4_MAGIC + b"\x60\x40\x82" + struct.pack("<I", 3) + b"\xff\xff\xff" + LZ4_END, "lz4"),
        (lz4_frame(0x64, checksum=0xA7), "does not end with the data"),
        (lz4_frame(0x60, checksum=0x82) * 2, "does not end with the data"),
    ],
)
def test_lz4_that_is_broken_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(CorruptBatchError, match=reason) as caught:
        decompress(Codec.LZ4, data)
    assert caught.value.kind == "compression"
