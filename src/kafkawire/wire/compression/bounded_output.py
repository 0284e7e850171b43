"""Buffers of fixed size for the output of decompressors, so that no input can make them take more memory.

A small buffer is a bytearray. A large one is an anonymous memory map, whose pages cost memory only once they are
written: a limit of 100 MiB is free for the batch that needs 10 KiB.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import Final, TypeAlias

from kafkawire.wire.errors import CorruptBatchError, OutputLimitError

_SMALL: Final = 1 << 18
_BUFFER_IS_FULL: Final = "failed to write whole buffer"


DecompressInto: TypeAlias = Callable[[bytes, bytearray | mmap.mmap], int]
"""A decompressor of cramjam: fills the buffer that it is given, or raises; returns the number of bytes written."""


def decompress_within(decompress_into: DecompressInto, data: bytes, capacity: int) -> bytes:
    """Decompress ``data`` into at most ``capacity`` bytes.

    Raises:
        cramjam.DecompressionError: the data are broken, or their output is larger than the capacity.
    """
    buffer = bytearray(capacity) if capacity <= _SMALL else mmap.mmap(-1, capacity)
    written = decompress_into(data, buffer)
    return bytes(memoryview(buffer)[:written])


def compression_error(codec: str, reason: str, offset: int | None = None) -> CorruptBatchError:
    """The error for compressed data that are broken or too large; ``offset`` counts in the compressed data."""
    return CorruptBatchError("compression", reason, message_name=f"{codec} data", offset=offset)


def unwritten_error(codec: str, error: Exception, limit: int) -> CorruptBatchError:
    """The error for what ``decompress_within`` raised with a capacity of ``limit`` bytes: too large, or broken."""
    if str(error) == _BUFFER_IS_FULL:
        return OutputLimitError("compression", f"more than {limit} bytes of output", message_name=f"{codec} data")
    return compression_error(codec, f"{error}, or more than {limit} bytes of output")
