"""The batches of magic 2 that follow each other in bytes, as in segments; their CRCs are not checked."""

from __future__ import annotations

from typing import cast

from kafkawire.wire.batches.batch import RecordBatch, whole_batch
from kafkawire.wire.batches.framing import BATCH_MAGIC, FRAME, HEADER_SIZE, entry_size
from kafkawire.wire.batches.native_records import native_record_codec
from kafkawire.wire.engine import by_engine_in_use


def whole_batches(data: bytes, start: int, *, most: int, largest: int, position: int) -> list[RecordBatch]:
    """The whole batches from a place on, up to anything else.

    Args:
        data: some bytes of a file.
        start: where the first batch begins in the data; there are no batches outside of the data.
        most: the number of batches after which to stop.
        largest: most bytes of a batch.
        position: that of the data in the file; the positions of the batches count from it.
    """
    if not 0 <= start <= len(data):
        return []
    return by_engine_in_use(
        lambda: _whole_batches(data, start, most, largest, position),
        native_record_codec(),
        lambda native: cast("list[RecordBatch]", native.read_batches(data, start, most, largest, position)),
    )


def _whole_batches(data: bytes, start: int, most: int, largest: int, position: int) -> list[RecordBatch]:
    batches: list[RecordBatch] = []
    at, end = start, len(data)
    while len(batches) < most and end - at >= HEADER_SIZE:
        _, length, magic = FRAME.unpack_from(data, at)
        size = entry_size(length, magic, min(largest, end - at))
        if magic != BATCH_MAGIC or not size:
            break
        batches.append(whole_batch(data, at, size, position + at))
        at += size
    return batches
