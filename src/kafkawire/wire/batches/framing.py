"""What all record formats have in common: int64 offset, int32 length, and the magic as byte 16 (records-magic)."""

from __future__ import annotations

import struct
from typing import Final

import msgspec

from kafkawire.wire.errors import CorruptBatchError
from kafkawire.wire.message import Octets

__all__ = ["LENGTH_COUNTS_FROM", "NEWEST_MAGIC", "SMALLEST_LENGTHS", "EntryFrame", "frame_at"]

NEWEST_MAGIC: Final = 2
LENGTH_COUNTS_FROM: Final = 12
"""Bytes of an entry that its length does not count."""
SMALLEST_LENGTHS: Final = {0: 14, 1: 22, 2: 49}
"""Smallest length that an entry of each magic can state."""
_LENGTH: Final = struct.Struct(">q i")
_LENGTH_OFFSET: Final = 8
_MAGIC_OFFSET: Final = 16


class EntryFrame(msgspec.Struct, frozen=True):
    """Place and format of one entry: a batch (magic 2) or a legacy message (magic 0 and 1).

    Attributes:
        position: of its first byte in the buffer.
        size: all its bytes, offset and length included.
        magic: 0, 1 or 2.
        offset: the int64 that it begins with.
    """

    position: int
    size: int
    magic: int
    offset: int


def frame_at(buffer: Octets, position: int) -> EntryFrame | None:
    """The entry at ``position``, or None if the buffer ends before the entry does (records-partial-tail).

    Raises:
        CorruptBatchError: kind ``length`` (too small for any entry of its format) or ``version`` (unknown magic).
    """
    left = len(buffer) - position
    if left <= _MAGIC_OFFSET:
        return None
    offset, length = _LENGTH.unpack_from(buffer, position)
    magic = buffer[position + _MAGIC_OFFSET]
    if magic > NEWEST_MAGIC:
        raise _corrupt("version", f"magic {magic}; 0, 1 and 2 are known", position + _MAGIC_OFFSET)
    if length < SMALLEST_LENGTHS[magic]:
        reason = f"a length of {length}; magic {magic} needs {SMALLEST_LENGTHS[magic]} at least"
        raise _corrupt("length", reason, position + _LENGTH_OFFSET)
    size = length + LENGTH_COUNTS_FROM
    if size > left:
        return None
    return EntryFrame(position=position, size=size, magic=magic, offset=offset)


def _corrupt(kind: str, reason: str, offset: int) -> CorruptBatchError:
    return CorruptBatchError(kind, reason, message_name="record batch", offset=offset)
