"""Where decompressors write: a space of fixed size, so that no input can make them take more.

A small space is a bytearray. A large one is an anonymous memory map, whose pages cost memory only once they are
written: a limit of 100 MiB is free for the batch that needs 10 KiB.
"""

from __future__ import annotations

import mmap
from typing import Final, Protocol

from kafkawire.wire.errors import CorruptBatchError

__all__ = ["DecompressInto", "compression_error", "decompress_within"]

_SMALL: Final = 1 << 18


class DecompressInto(Protocol):
    """A decompressor of cramjam: fills ``output`` or raises; returns how much it wrote."""

    def __call__(self, input: bytes, output: bytearray | mmap.mmap) -> int: ...


def decompress_within(decompress_into: DecompressInto, data: bytes, capacity: int) -> bytes:
    """Decompress ``data`` into at most ``capacity`` bytes.

    Raises:
        cramjam.DecompressionError: the data are broken, or their output is larger than the capacity.
    """
    space = bytearray(capacity) if capacity <= _SMALL else mmap.mmap(-1, capacity)
    written = decompress_into(data, space)
    return bytes(memoryview(space)[:written])


def compression_error(codec: str, reason: str, offset: int | None = None) -> CorruptBatchError:
    """The error for compressed data that are broken or too large; ``offset`` counts in the compressed data."""
    return CorruptBatchError("compression", reason, message_name=f"{codec} data", offset=offset)
