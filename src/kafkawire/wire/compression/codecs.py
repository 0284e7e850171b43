"""The four codecs of record batches, with bounded output.

A few kilobytes can decompress to gigabytes. No function here writes more than the limit that the caller gives, and
memory stays within a small multiple of the real output.
"""

from __future__ import annotations

import enum
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import cramjam

from kafkawire.wire.compression.bounded_output import DecompressInto, decompress_within, unwritten_error
from kafkawire.wire.compression.lz4_frame import compress_lz4, decompress_lz4
from kafkawire.wire.compression.snappy_stream import compress_snappy, decompress_snappy

DEFAULT_OUTPUT_LIMIT: Final = 128 * 1024 * 1024
"""Largest decompressed size of one batch unless the caller gives another limit, in bytes; Kafka's default for a
compressed batch is 1 MiB."""


class Codec(enum.IntEnum):
    """Compression of a batch: bits 0 to 2 of its attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


_GZIP_FRAMING: Final = zlib.MAX_WBITS | 16
_GZIP_LEVEL: Final = 6
_LZ4_LEVEL: Final = 0
_ZSTD_LEVEL: Final = 3
_LEVELS: Final = {
    Codec.NONE: range(0),
    Codec.GZIP: range(-1, 10),
    Codec.SNAPPY: range(0),
    Codec.LZ4: range(13),
    Codec.ZSTD: range(-131072, 23),
}
_USUAL_EXPANSION: Final = 16


def compress(codec: Codec, data: bytes, *, level: int | None = None) -> bytes:
    """Compress with the framing that Kafka writes.

    Args:
        codec: which codec.
        data: what to compress.
        level: the codec's own level; None is the codec's default.

    Raises:
        ValueError: the codec has no such level; ``none`` and ``snappy`` have no levels.
    """
    if level is not None and level not in _LEVELS[codec]:
        raise ValueError(f"{codec.name.lower()} has no level {level}; {_LEVELS[codec]} is what there is")
    match codec:
        case Codec.NONE:
            return data
        case Codec.GZIP:
            return zlib.compress(data, _GZIP_LEVEL if level is None else level, wbits=_GZIP_FRAMING)
        case Codec.SNAPPY:
            return compress_snappy(data)
        case Codec.LZ4:
            return compress_lz4(data, _LZ4_LEVEL if level is None else level)
        case Codec.ZSTD:
            return bytes(cramjam.zstd.compress(data, level=_ZSTD_LEVEL if level is None else level))


def decompress(
    codec: Codec, data: bytes, *, limit: int = DEFAULT_OUTPUT_LIMIT, verify_lz4_header: bool = True
) -> bytes:
    """Decompress all of ``data``.

    Args:
        codec: which codec.
        data: one compressed stream.
        limit: largest output, in bytes.
        verify_lz4_header: False for magic 0 messages, whose writers computed the checksum of the LZ4 header wrongly.

    Raises:
        CorruptBatchError: kind ``compression``: broken data, bytes after the stream, or an output beyond the limit
            (``OutputLimitError``).
    """
    if codec is Codec.LZ4:
        return decompress_lz4(data, limit, verify_header=verify_lz4_header)
    return _DECOMPRESSORS[codec](data, limit)


def _decompress_unsized(codec: str, decompress_into: DecompressInto, data: bytes, limit: int) -> bytes:
    """Decompress a stream that rarely states its size: first for the usual ratio, then up to the limit."""
    usual = _USUAL_EXPANSION * len(data)
    if usual < limit:
        try:
            return decompress_within(decompress_into, data, usual)
        except cramjam.DecompressionError:
            pass
    try:
        return decompress_within(decompress_into, data, limit)
    except cramjam.DecompressionError as error:
        raise unwritten_error(codec, error, limit) from None


_DECOMPRESSORS: Final[Sequence[Callable[[bytes, int], bytes]]] = (
    lambda data, _: data,
    partial(_decompress_unsized, "gzip", cramjam.gzip.decompress_into),
    decompress_snappy,
    decompress_lz4,
    partial(_decompress_unsized, "zstd", cramjam.zstd.decompress_into),
)
"""By codec: a dictionary of enumerations is slow, and a log has many small batches."""
