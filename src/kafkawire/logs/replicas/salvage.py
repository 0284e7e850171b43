"""Sound batches among damaged bytes. A wrong length hides the batches after it from a reader that goes by lengths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kafkawire.logs.files.store import OpenFile
from kafkawire.logs.limits import OCTETS_AT_A_TIME
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.batches.batch import whole_batch
from kafkawire.wire.batches.framing import BATCH_MAGIC, FRAME, FRAME_SIZE, HEADER_SIZE, MAGIC_OFFSET, entry_size

SHARED_OCTETS: Final = 7
"""How many bytes two batches may share: a batch that lost its last bytes has them again if they are zeros, with which
the offset of the next one begins."""

_MAGIC: Final = bytes((BATCH_MAGIC,))


def salvaged_batches(opened: OpenFile, start: int, end: int, offsets: range, largest: int) -> Iterator[RecordBatch]:
    """The batches with a right CRC in a part of a file, in order; each may begin at any byte.

    Args:
        opened: the file.
        start, end: the part.
        offsets: those that the batches may begin with.
        largest: most bytes of a batch.

    Raises:
        OSError: the file cannot be read.
    """
    position = start
    while position + HEADER_SIZE <= end:
        data = opened.read_at(position, min(OCTETS_AT_A_TIME, end - position))
        starts = _possible_starts(data, end - position, offsets, largest)
        found = next(filter(None, (_sound_at(opened, position + at, size) for at, size in starts)), None)
        if found is not None:
            yield found
            position = found.position + found.size - SHARED_OCTETS
        elif position + len(data) >= end or len(data) < HEADER_SIZE:
            return
        else:
            position += len(data) - FRAME_SIZE + 1


def _possible_starts(data: bytes, until: int, offsets: range, largest: int) -> Iterator[tuple[int, int]]:
    """Where in the data a batch may begin, and the size that it would have; it may end after the data."""
    at = data.find(_MAGIC, MAGIC_OFFSET)
    while at >= 0:
        base_offset, length, magic = FRAME.unpack_from(data, at - MAGIC_OFFSET)
        size = entry_size(length, magic, min(largest, until - (at - MAGIC_OFFSET)))
        if size and base_offset in offsets:
            yield at - MAGIC_OFFSET, size
        at = data.find(_MAGIC, at + 1)


def _sound_at(opened: OpenFile, position: int, size: int) -> RecordBatch | None:
    octets = opened.read_at(position, size)
    if len(octets) < size:
        return None
    batch = whole_batch(octets, 0, size, position)
    return batch if batch.crc_is_valid else None
