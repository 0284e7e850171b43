"""From the payload of a batch to its records as columns: for readers of whole logs, who want no object a record.

The rules are those of ``reader``: what it refuses is refused here, with the same errors.
"""

from __future__ import annotations

import msgspec

from kafkawire.wire.batches.batch import LOG_APPEND_TIME, RecordBatch
from kafkawire.wire.batches.inspector import inspect_records
from kafkawire.wire.batches.reader import decode_headers, open_payload
from kafkawire.wire.compression import DEFAULT_OUTPUT_LIMIT
from kafkawire.wire.varint import read_uvarint, read_varlong

__all__ = ["RecordColumns", "decode_columns"]


class RecordColumns(msgspec.Struct, frozen=True, gc=False):
    """The records of a batch, attribute by attribute; their headers are checked and left out.

    Attributes:
        offsets: in the log.
        timestamps: milliseconds since the epoch, -1 for none.
        keys: null for records without key.
        values: null for tombstones.
    """

    offsets: list[int]
    timestamps: list[int]
    keys: list[bytes | None]
    values: list[bytes | None]

    def __len__(self) -> int:
        return len(self.offsets)


def decode_columns(batch: RecordBatch, *, limit: int = DEFAULT_OUTPUT_LIMIT) -> RecordColumns:
    """Decompress and decode the records of a batch, control records included.

    Args:
        batch: a batch as ``read_batches`` gives it. Its CRC is not looked at here.
        limit: largest decompressed size, in bytes.

    Raises:
        CorruptBatchError, DecodeError: as ``decode_records``.
    """
    if batch.records_count == 0:
        return RecordColumns([], [], [], [])
    data = open_payload(batch, limit)
    append_time = batch.max_timestamp if batch.attributes & LOG_APPEND_TIME else None
    try:
        return _decode(data, batch.records_count, batch.base_offset, batch.base_timestamp, append_time)
    except (IndexError, ValueError):
        records = inspect_records(batch, data)
    return RecordColumns(
        [record.offset for record in records],
        [record.timestamp for record in records],
        [record.key for record in records],
        [record.value for record in records],
    )


# One function on purpose, as in ``reader``, whose loop this is without the objects.
def _decode(  # noqa: C901, PLR0912, PLR0915
    data: bytes, count: int, base_offset: int, base_timestamp: int, append_time: int | None
) -> RecordColumns:
    offsets: list[int] = []
    timestamps: list[int] = []
    keys: list[bytes | None] = []
    values: list[bytes | None] = []
    at = 0
    for _ in range(count):
        size = data[at]
        at += 1
        if size > 127:
            high = data[at]
            at += 1
            if high > 127:
                size, at = read_uvarint(data, at - 2)
            else:
                size += (high - 1) << 7
        if size & 1:
            raise ValueError
        end = at + (size >> 1)

        at += 1  # attributes: unused
        delta = data[at]
        at += 1
        if delta > 127:
            high = data[at]
            at += 1
            if high > 127:
                delta, at = read_varlong(data, at - 2)
            else:
                delta += (high - 1) << 7
                delta = (delta >> 1) ^ -(delta & 1)
        else:
            delta = (delta >> 1) ^ -(delta & 1)
        timestamps.append(base_timestamp + delta)

        delta = data[at]
        at += 1
        if delta > 127:
            high = data[at]
            at += 1
            if high > 127:
                delta, at = read_uvarint(data, at - 2)
            else:
                delta += (high - 1) << 7
        offsets.append(base_offset + ((delta >> 1) ^ -(delta & 1)))

        size = data[at]
        at += 1
        if size > 127:
            high = data[at]
            at += 1
            if high > 127:
                size, at = read_uvarint(data, at - 2)
            else:
                size += (high - 1) << 7
        if size & 1:
            keys.append(None)
        else:
            start = at
            at += size >> 1
            keys.append(data[start:at])

        size = data[at]
        at += 1
        if size > 127:
            high = data[at]
            at += 1
            if high > 127:
                size, at = read_uvarint(data, at - 2)
            else:
                size += (high - 1) << 7
        if size & 1:
            values.append(None)
        else:
            start = at
            at += size >> 1
            values.append(data[start:at])

        if data[at]:
            _, at = decode_headers(data, at, end)
        else:
            at += 1
        if at != end:
            raise ValueError
    if at != len(data):
        raise ValueError
    if append_time is not None:
        timestamps = [append_time] * count
    return RecordColumns(offsets, timestamps, keys, values)
