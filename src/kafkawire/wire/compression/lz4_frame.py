"""The LZ4 frames that Kafka writes and accepts (compression-lz4): independent blocks, no dictionary.

Kafka is stricter than the LZ4 frame format in places (it refuses linked blocks and reserved bits) and more tolerant in
others (it ignores content size and content checksum; the batch has its own CRC). So this module reads the
descriptor, and the library gets the blocks with a minimal descriptor of the fields that Kafka uses.
"""

from __future__ import annotations

import struct
from typing import Final

import cramjam
import msgspec

from kafkawire.wire.compression.bounded_output import compression_error, decompress_within, unwritten_error

_MAGIC: Final = b"\x04\x22\x4d\x18"
_VERSION_1: Final = 0b0100_0000
_INDEPENDENT: Final = 0b0010_0000
_BLOCK_CHECKSUM: Final = 0b0001_0000
_CONTENT_SIZE: Final = 0b0000_1000
_CONTENT_CHECKSUM: Final = 0b0000_0100
_FLAGS_RESERVED: Final = 0b0000_0011
_BLOCK_SIZE_RESERVED: Final = 0b1000_1111
_UNCOMPRESSED: Final = 1 << 31
_LARGEST_EXPANSION: Final = 255
"""One byte of an LZ4 block expands to at most 255 bytes of output."""


class _FrameHeader(msgspec.Struct, frozen=True):
    block_checksums: bool
    content_checksum: bool
    block_size_code: int
    end: int

    @property
    def block_maximum(self) -> int:
        return 1 << (8 + 2 * self.block_size_code)


def compress_lz4(data: bytes, level: int = 0) -> bytes:
    """One frame of independent blocks of 64 KiB, as Kafka writes it, and with a checksum for each block."""
    frame = cramjam.lz4.Compressor(level=level, content_checksum=False, block_linked=False)
    frame.compress(data)
    return bytes(frame.finish())


def decompress_lz4(data: bytes, limit: int, *, verify_header: bool = True) -> bytes:
    """Decompress one frame of at most ``limit`` bytes of output.

    Args:
        data: the frame and nothing else.
        limit: largest output, in bytes.
        verify_header: whether the header checksum must be right. In messages of magic 0 it is wrong (compression-lz4).

    Raises:
        CorruptBatchError: kind ``compression``.
    """
    header = _read_header(data, verify_header)
    end, capacity = _measure_blocks(data, header)
    if end + 4 * header.content_checksum != len(data):
        raise compression_error("lz4", "the frame does not end with the data", end)
    try:
        return decompress_within(
            cramjam.lz4.decompress_into, _minimal_header(header) + data[header.end : end], min(capacity, limit)
        )
    except cramjam.DecompressionError as error:
        if capacity <= limit:
            raise compression_error("lz4", str(error)) from None
        raise unwritten_error("lz4", error, limit) from None


def _read_header(data: bytes, verify: bool) -> _FrameHeader:
    if data[:4] != _MAGIC:
        raise compression_error("lz4", "the data do not begin with the magic of an LZ4 frame", 0)
    if len(data) < 7:
        raise compression_error("lz4", "the frame descriptor is cut off", len(data))
    flags, block_descriptor = data[4], data[5]
    if flags & 0b1100_0000 != _VERSION_1:
        raise compression_error("lz4", f"frame version {flags >> 6}, not 1", 4)
    if not flags & _INDEPENDENT:
        raise compression_error("lz4", "linked blocks; Kafka demands independent ones", 4)
    if flags & _FLAGS_RESERVED or block_descriptor & _BLOCK_SIZE_RESERVED:
        raise compression_error("lz4", "reserved bits are set in the frame descriptor", 4)
    if block_descriptor >> 4 < 4:
        raise compression_error("lz4", f"block size code {block_descriptor >> 4}; 4 to 7 are legal", 5)
    end = 15 if flags & _CONTENT_SIZE else 7
    if len(data) < end:
        raise compression_error("lz4", "the frame descriptor is cut off", len(data))
    if verify and data[end - 1] != _descriptor_checksum(data[4 : end - 1]):
        raise compression_error("lz4", "the header checksum is wrong", end - 1)
    return _FrameHeader(
        block_checksums=bool(flags & _BLOCK_CHECKSUM),
        content_checksum=bool(flags & _CONTENT_CHECKSUM),
        block_size_code=block_descriptor >> 4,
        end=end,
    )


def _measure_blocks(data: bytes, header: _FrameHeader) -> tuple[int, int]:
    """Where the end mark ends, and the most that the blocks can decompress to."""
    position, capacity, maximum = header.end, 0, header.block_maximum
    checksum = 4 * header.block_checksums
    while position + 4 <= len(data):
        word = int.from_bytes(data[position : position + 4], "little")
        position += 4
        if word == 0:
            return position, capacity
        size = word & ~_UNCOMPRESSED
        if size > maximum or size > len(data) - position:
            raise compression_error("lz4", f"a block of {size} bytes; {len(data) - position} are left", position - 4)
        capacity += size if word & _UNCOMPRESSED else min(maximum, size * _LARGEST_EXPANSION)
        position += size + checksum
    raise compression_error("lz4", "the frame has no end mark", position)


def _minimal_header(header: _FrameHeader) -> bytes:
    flags = _VERSION_1 | _INDEPENDENT | (_BLOCK_CHECKSUM if header.block_checksums else 0)
    descriptor = bytes((flags, header.block_size_code << 4))
    return _MAGIC + descriptor + bytes((_descriptor_checksum(descriptor),))


def _descriptor_checksum(descriptor: bytes) -> int:
    """Second byte of XXH32 with seed 0 of a descriptor; the short form of the algorithm, for less than 16 bytes."""
    prime_1, prime_2, prime_3, prime_4, prime_5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    mask = 0xFFFF_FFFF
    words = len(descriptor) // 4
    state = (prime_5 + len(descriptor)) & mask
    for word in struct.unpack_from(f"<{words}I", descriptor):
        state = _rotate_left(state + word * prime_3 & mask, 17) * prime_4 & mask
    for byte in descriptor[4 * words :]:
        state = _rotate_left(state + byte * prime_5 & mask, 11) * prime_1 & mask
    state = (state ^ state >> 15) * prime_2 & mask
    state = (state ^ state >> 13) * prime_3 & mask
    return (state ^ state >> 16) >> 8 & 0xFF


def _rotate_left(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & 0xFFFF_FFFF
