"""Reading of segments of any size in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from msgspec.structs import replace

from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.batches.batch import batch_at, whole_batch
from kafkawire.wire.batches.framing import FRAME, FRAME_SIZE, HEADER_SIZE, EntryFrame, entry_size, frame_at
from kafkawire.wire.message import Struct

_AT_ONCE: Final = 256 * 1024


class BatchHead(Struct, frozen=True, gc=False):
    """The place of a batch in a file.

    Attributes:
        position, size: bytes.
        base_offset, last_offset: of its records.
        max_timestamp: milliseconds.
    """

    position: int
    size: int
    base_offset: int
    last_offset: int
    max_timestamp: int


def batch_heads(file: BinaryIO, position: int, end: int) -> Iterator[BatchHead]:
    """The headers of whole batches between two positions, which must be boundaries of batches.

    Raises:
        OSError: the file cannot be read.
    """
    while position + HEADER_SIZE <= end:
        file.seek(position)
        header = file.read(HEADER_SIZE)
        if len(header) < HEADER_SIZE:
            return
        _, length, magic = FRAME.unpack_from(header)
        size = entry_size(length, magic, end - position)
        if not size:
            return
        batch = whole_batch(header, 0, HEADER_SIZE, position)
        yield BatchHead(position, size, batch.base_offset, batch.last_offset, batch.max_timestamp)
        position += size


def batch_of(file: BinaryIO, head: BatchHead) -> RecordBatch:
    """The batch at its place.

    Raises:
        CorruptBatchError: it is damaged.
        OSError: the file cannot be read.
    """
    file.seek(head.position)
    frame = EntryFrame(position=0, size=head.size, magic=2, offset=head.base_offset)
    return batch_at(file.read(head.size), frame, check_crc=True)


def whole_batches_of(path: Path) -> Iterator[RecordBatch]:
    """The batches of a segment with their positions, up to its end or to an incomplete batch there.

    Raises:
        CorruptBatchError: a batch is damaged.
        OSError: the file cannot be read.
    """
    position, left = 0, path.stat().st_size
    with path.open("rb", buffering=_AT_ONCE) as file:
        while left >= FRAME_SIZE:
            begin = file.read(FRAME_SIZE)
            _, length, magic = FRAME.unpack(begin)
            size = entry_size(length, magic, left)
            if not size and frame_at(begin, 0) is None:
                return
            frame = EntryFrame(position=0, size=size, magic=magic, offset=0)
            yield replace(batch_at(begin + file.read(size - FRAME_SIZE), frame, check_crc=True), position=position)
            position += size
            left -= size
