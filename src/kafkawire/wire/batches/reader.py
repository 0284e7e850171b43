"""From the payload of a batch to its records (record-exact).

``_decode`` is quick and knows only that something is wrong; after that ``inspector`` says what, and where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from kafkawire.wire.batches.batch import Header, Record, RecordBatch, TimestampType
from kafkawire.wire.batches.inspector import inspect_records, inspect_some_records, records_error
from kafkawire.wire.compression import DEFAULT_OUTPUT_LIMIT, decompress
from kafkawire.wire.errors import DecodeError
from kafkawire.wire.varint import read_uvarint, read_varlong

__all__ = ["decode_headers", "decode_records", "decode_some_records", "open_payload", "skip_headers"]

_ReadHeaders: TypeAlias = Callable[[bytes, int, int], tuple[tuple[Header, ...], int]]
_SMALLEST_RECORD: Final = 7
_SMALLEST_HEADER: Final = 2


def decode_records(batch: RecordBatch, *, limit: int = DEFAULT_OUTPUT_LIMIT) -> tuple[Record, ...]:
    """Decompress and decode the records of a batch, control records included.

    Args:
        batch: a batch as ``read_batches`` gives it. Its CRC is not looked at here.
        limit: largest decompressed size, in bytes.

    Raises:
        CorruptBatchError: the compression is broken or the output is beyond the limit.
        DecodeError: the records are not what the header states. The offset counts in the buffer that the batch was
            read from; in a compressed batch, in the decompressed records.
    """
    if batch.records_count == 0:
        return ()
    data = open_payload(batch, limit)
    try:
        records, end = _decode(data, 0, batch.records_count, batch, decode_headers)
    except (IndexError, ValueError):
        return inspect_records(batch, data)
    return records if end == len(data) else inspect_records(batch, data)


def decode_some_records(
    batch: RecordBatch, data: bytes, start: int, first: int, count: int
) -> tuple[tuple[Record, ...], int]:
    """Decode some of the records of a batch; their headers are checked and left out.

    Args:
        batch: whose records they are.
        data: the records of the batch, decompressed.
        start: where the first of them begins in the data.
        first: its number in the batch, for errors.
        count: how many to decode. If they are the last of the batch, they must fill the data.

    Returns:
        The records, and where they end in the data.

    Raises:
        DecodeError: as ``decode_records``.
    """
    is_rest = first + count == batch.records_count
    try:
        records, end = _decode(data, start, count, batch, skip_headers)
    except (IndexError, ValueError):
        return inspect_some_records(batch, data, start, first, count)
    if end > len(data) or (is_rest and end != len(data)):
        return inspect_some_records(batch, data, start, first, count)
    return records, end


def open_payload(batch: RecordBatch, limit: int) -> bytes:
    """The decompressed records of a batch that states to have some, once its count of them is believable.

    Raises:
        CorruptBatchError, DecodeError: as ``decode_records``.
    """
    data = decompress(batch.codec, batch.payload, limit=limit) if batch.is_compressed else batch.payload
    if not 0 < batch.records_count <= len(data) // _SMALLEST_RECORD:
        raise _count_error(batch, len(data))
    return data


# One function on purpose: a call for each number would double the time of every record.
def _decode(  # noqa: C901, PLR0912, PLR0915
    data: bytes, at: int, count: int, batch: RecordBatch, read_headers: _ReadHeaders
) -> tuple[tuple[Record, ...], int]:
    """The hot loop. Numbers of one and two bytes, nearly all there are, are read in place.

    Slices that reach beyond the data come out short, but the position moves on as if they had not: the checks of the
    position at the end of each record and of the data find it. Negative lengths, odd in the zig-zag form, are null.
    """
    base_offset, base_timestamp = batch.base_offset, batch.base_timestamp
    append_time = batch.max_timestamp if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else None
    records = []
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
        timestamp = base_timestamp + delta if append_time is None else append_time

        delta = data[at]
        at += 1
        if delta > 127:
            high = data[at]
            at += 1
            if high > 127:
                delta, at = read_uvarint(data, at - 2)
            else:
                delta += (high - 1) << 7
        offset = base_offset + ((delta >> 1) ^ -(delta & 1))

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
            key = None
        else:
            start = at
            at += size >> 1
            key = data[start:at]

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
            value = None
        else:
            start = at
            at += size >> 1
            value = data[start:at]

        headers: tuple[Header, ...] = ()
        if data[at]:
            headers, at = read_headers(data, at, end)
        else:
            at += 1
        if at != end:
            raise ValueError
        records.append(Record(offset, timestamp, key, value, headers))
    return tuple(records), at


def decode_headers(data: bytes, at: int, end: int) -> tuple[tuple[Header, ...], int]:
    """The headers from their count at ``at`` on, and where they end; ``end`` is that of the record.

    Raises:
        IndexError, ValueError: they are not what they should be; the inspector knows what.
    """
    # Lengths below 64 are read in place; the others are rare here.
    count, at = read_uvarint(data, at)
    if count & 1 or count >> 1 > (end - at) // _SMALLEST_HEADER:
        raise ValueError
    headers = []
    for _ in range(count >> 1):
        size = data[at]
        at += 1
        if size > 127:
            size, at = read_uvarint(data, at - 1)
        if size & 1:
            raise ValueError
        start = at
        at += size >> 1
        key = data[start:at].decode()
        size = data[at]
        at += 1
        if size > 127:
            size, at = read_uvarint(data, at - 1)
        if size & 1:
            headers.append(Header(key, None))
        else:
            start = at
            at += size >> 1
            headers.append(Header(key, data[start:at]))
    return tuple(headers), at


def skip_headers(data: bytes, at: int, end: int) -> tuple[tuple[Header, ...], int]:
    """As ``decode_headers``, for those who do not want the headers: no headers, and where they end.

    Raises:
        IndexError, ValueError: as ``decode_headers``.
    """
    count, at = read_uvarint(data, at)
    if count & 1 or count >> 1 > (end - at) // _SMALLEST_HEADER:
        raise ValueError
    for _ in range(count >> 1):
        size = data[at]
        at += 1
        if size > 127:
            size, at = read_uvarint(data, at - 1)
        if size & 1:
            raise ValueError
        if size:
            start = at
            at += size >> 1
            data[start:at].decode()
        size = data[at]
        at += 1
        if size > 127:
            size, at = read_uvarint(data, at - 1)
        if not size & 1:
            at += size >> 1
    return (), at


def _count_error(batch: RecordBatch, size: int) -> DecodeError:
    if batch.records_count < 0:
        return records_error(batch, "length", f"a count of {batch.records_count} records", "records_count", 0)
    reason = f"{batch.records_count} records of at least {_SMALLEST_RECORD} bytes; there are {size} bytes"
    return records_error(batch, "truncated", reason, "records_count", 0)
