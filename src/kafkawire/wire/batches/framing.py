"""The positions of everything before the records in batches, and in the older messages.

All formats begin with an int64 offset and an int32 length, and have their magic as byte 16 (records-magic). Batches of
magic 2 have a header of 61 bytes (batch-header). No other module counts these bytes.
"""

from __future__ import annotations

import struct
from typing import Final

import crc32c
import msgspec

from kafkawire.wire.errors import CorruptBatchError
from kafkawire.wire.message import Octets

BATCH_MAGIC: Final = 2
"""The magic of batches, the newest format; 0 and 1 are single messages."""

FRAME: Final = struct.Struct(">qi4xb")
"""Offset, length and magic: the beginning of every format."""
FRAME_SIZE: Final = FRAME.size

HEADER: Final = struct.Struct(">qiibIhiqqqhii")
"""The header of a batch, in the order of the attributes of ``RecordBatch``, with length and magic among them."""
HEADER_FIELDS: Final = struct.Struct(">q4xixIhiqqqhii")
"""The same, without length and magic."""
HEADER_SIZE: Final = HEADER.size

LENGTH_COUNTS_FROM: Final = 12
"""The length of an entry counts the bytes from here on."""
MAGIC_OFFSET: Final = 16
CRC_OFFSET: Final = FRAME_SIZE
ATTRIBUTES_OFFSET: Final = CRC_OFFSET + 4
"""The CRC of a batch covers the bytes from here on (batch-crc)."""

LEGACY_CRC_OFFSET: Final = LENGTH_COUNTS_FROM
LEGACY_ATTRIBUTES_OFFSET: Final = MAGIC_OFFSET + 1
LEGACY_BODY_OFFSET: Final = LEGACY_ATTRIBUTES_OFFSET + 1
"""The timestamp of a message of magic 1, the key of one of magic 0."""

LARGEST_LENGTH: Final = (1 << 31) - 1
_SMALLEST_LENGTHS: Final = {0: 14, 1: 22, BATCH_MAGIC: HEADER_SIZE - LENGTH_COUNTS_FROM}
"""The smallest length that an entry of each magic can state."""
_SMALLEST_OF_ANY: Final = min(_SMALLEST_LENGTHS.values())
_LENGTH_OFFSET: Final = 8


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


def entry_size(length: int, magic: int, largest: int) -> int:
    """The size of the entry whose frame states this length and magic.

    Returns:
        The size; 0 if the length is too small for the format, or the entry is larger than ``largest``.
    """
    smallest = _SMALLEST_LENGTHS.get(magic, _SMALLEST_OF_ANY)
    return length + LENGTH_COUNTS_FROM if smallest <= length <= largest - LENGTH_COUNTS_FROM else 0


def batch_crc(buffer: Octets, start: int, size: int) -> int:
    """CRC-32C of the batch that begins at ``start`` (batch-crc)."""
    return crc32c.crc32c(buffer[start + ATTRIBUTES_OFFSET : start + size])


def frame_at(buffer: Octets, position: int) -> EntryFrame | None:
    """The entry at ``position``, or None if the buffer ends before the entry does (records-partial-tail).

    Raises:
        CorruptBatchError: kind ``length`` (too small for any entry of its format) or ``version`` (unknown magic).
    """
    left = len(buffer) - position
    if left < FRAME_SIZE:
        return None
    offset, length, magic = FRAME.unpack_from(buffer, position)
    if magic not in _SMALLEST_LENGTHS:
        raise corrupt_batch("version", f"magic {magic & 0xFF}; 0, 1 and 2 are known", position + MAGIC_OFFSET)
    if length < _SMALLEST_LENGTHS[magic]:
        reason = f"a length of {length}; magic {magic} needs {_SMALLEST_LENGTHS[magic]} at least"
        raise corrupt_batch("length", reason, position + _LENGTH_OFFSET)
    size = length + LENGTH_COUNTS_FROM
    return EntryFrame(position=position, size=size, magic=magic, offset=offset) if size <= left else None


def corrupt_batch(kind: str, reason: str, offset: int) -> CorruptBatchError:
    """The error of a batch; ``offset`` is the position of the value that is wrong."""
    return CorruptBatchError(kind, reason, message_name="record batch", offset=offset)
