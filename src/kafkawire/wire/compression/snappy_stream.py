"""The snappy stream of the Java library that Kafka uses ("xerial", compression-snappy): a magic, then raw blocks."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

import cramjam

from kafkawire.wire.compression.bounded_output import compression_error
from kafkawire.wire.errors import OutputLimitError

_MAGIC: Final = b"\x82SNAPPY\0"
_HEADER: Final = _MAGIC + struct.pack(">ii", 1, 1)
_FIRST_BLOCK: Final = struct.Struct(f">{len(_HEADER)}si")
"""The header of a stream, and the length of its first block."""
_COMPATIBLE_VERSION: Final = 1
_WRITTEN_BLOCK: Final = 32 * 1024
_LARGEST_EXPANSION: Final = 64 / 3
"""A copy of up to 64 bytes takes three bytes at least."""


def compress_snappy(data: bytes) -> bytes:
    """The stream header and one raw block for every 32 KiB."""
    out = [_HEADER]
    for start in range(0, len(data), _WRITTEN_BLOCK):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _WRITTEN_BLOCK]))
        out += (struct.pack(">i", len(block)), block)
    return b"".join(out)


def decompress_snappy(data: bytes, limit: int) -> bytes:
    """Decompress a stream, or one bare raw block as some clients write it, to at most ``limit`` bytes.

    Raises:
        CorruptBatchError: kind ``compression``.
    """
    begin = _FIRST_BLOCK.size
    if len(data) > begin and _FIRST_BLOCK.unpack_from(data) == (_HEADER, len(data) - begin):
        return _decompress_block(data[begin:], begin, limit)  # nearly all batches have one block
    out = []
    left = limit
    for position, block in _blocks(data):
        out.append(_decompress_block(block, position, left))
        left -= len(out[-1])
    return b"".join(out)


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Position and bytes of each raw block."""
    if not data.startswith(_MAGIC):
        yield 0, data
        return
    position = 0
    while position < len(data):
        # Writers that append leave a stream header between two blocks, not only before the first.
        if data.startswith(_MAGIC, position):
            position = _skip_header(data, position)
            continue
        if len(data) - position < 4:
            raise compression_error("snappy", "the block length is cut off", position)
        size = int.from_bytes(data[position : position + 4], "big", signed=True)
        position += 4
        if not 0 <= size <= len(data) - position:
            raise compression_error("snappy", f"a block of {size} bytes; {len(data) - position} are left", position - 4)
        yield position, data[position : position + size]
        position += size


def _skip_header(data: bytes, position: int) -> int:
    header = data[position : position + len(_HEADER)]
    if len(header) < len(_HEADER):
        raise compression_error("snappy", "the stream header is cut off", position)
    if struct.unpack_from(">i", header, len(_MAGIC))[0] < _COMPATIBLE_VERSION:
        raise compression_error("snappy", "the stream header has a version below 1", position)
    return position + len(_HEADER)


def _decompress_block(block: bytes, position: int, left: int) -> bytes:
    """The output of a block, whose declared size must be possible: it is allocated before it is written."""
    try:
        size = cramjam.snappy.decompress_raw_len(block)
        if size > len(block) * _LARGEST_EXPANSION:
            raise compression_error("snappy", f"declares {size} bytes of output; {len(block)} bytes cannot", position)
        if size > left:
            reason = f"declares {size} bytes of output; the limit leaves {left}"
            raise OutputLimitError("compression", reason, message_name="snappy data", offset=position)
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise compression_error("snappy", str(error), position) from None
