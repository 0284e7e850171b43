"""From the payload of a batch to its records (record-exact).

``_decode`` is fast and only detects that records are malformed; ``inspector`` then reports what is wrong, and where.
"""

from __future__ import annotations

from typing import Final, cast

from kafkawire.wire.batches.batch import CODEC_MASK, Header, Record, RecordBatch, TimestampType
from kafkawire.wire.batches.inspector import SMALLEST_HEADER, inspect_records, records_error
from kafkawire.wire.batches.native_records import native_record_codec
from kafkawire.wire.compression import DEFAULT_OUTPUT_LIMIT, decompress
from kafkawire.wire.engine import by_engine_in_use
from kafkawire.wire.errors import DecodeError
from kafkawire.wire.varint import read_uvarint, read_varlong

_SMALLEST_RECORD: Final = 7
_KEY_AND_VALUE: Final = (0, 1)


def decode_records(batch: RecordBatch, *, limit: int = DEFAULT_OUTPUT_LIMIT) -> tuple[Record, ...]:
    """Decompress and decode the records of a batch, control records included.

    Args:
        batch: from ``read_batches``. Its CRC is not checked here.
        limit: largest decompressed size, in bytes.

    Raises:
        CorruptBatchError: the compression is broken or the output exceeds the limit.
        DecodeError: the records contradict the header. The offset of the error counts from the beginning of the
            buffer that the batch was read from; for a compressed batch, from that of the decompressed records.

    Example:
        ```python
        from pathlib import Path

        from kafkawire.wire.batches import decode_records, read_batches

        segment = Path("/var/lib/kafka/data/__consumer_offsets-0/00000000000000000000.log")
        for batch in read_batches(segment.read_bytes()):
            print(batch.base_offset, batch.codec.name, len(decode_records(batch)), "records")
        ```
    """
    if batch.records_count == 0:
        return ()
    data = open_payload(batch, limit)
    return decode_some_records(batch, data, 0, 0, batch.records_count, keep_headers=True)[0]


def decode_some_records(
    batch: RecordBatch, data: bytes, start: int, first: int, count: int, *, keep_headers: bool = False
) -> tuple[tuple[Record, ...], int]:
    """Decode some of the records of a batch.

    Args:
        batch: the batch.
        data: its records, decompressed.
        start: position in the data of the first record to decode.
        first: number of that record in the batch, for errors.
        count: how many records to decode. If the last of the batch is among them, they must fill the data.
        keep_headers: whether the records have their headers; otherwise these are only checked.

    Returns:
        The records, and the position where they end in the data.

    Raises:
        DecodeError: as ``decode_records``.
    """
    is_rest = first + count == batch.records_count
    try:
        records, end = run_of_records(batch, data, start, count, keep_headers=keep_headers)
        if end == len(data) or (end < len(data) and not is_rest):
            return records, end
    except (IndexError, ValueError, OverflowError):
        pass
    return inspect_records(batch, data, start, first, count, keep_headers=keep_headers)


def open_payload(batch: RecordBatch, limit: int) -> bytes:
    """The decompressed records of a batch that is not empty, if they can be as many as the header states.

    Raises:
        CorruptBatchError, DecodeError: as ``decode_records``.
    """
    data = batch.payload
    if batch.attributes & CODEC_MASK:
        data = decompress(batch.codec, data, limit=limit)
    if not 0 < batch.records_count <= len(data) // _SMALLEST_RECORD:
        raise _count_error(batch, len(data))
    return data


def run_of_records(
    batch: RecordBatch, data: bytes, at: int, count: int, *, keep_headers: bool = False
) -> tuple[tuple[Record, ...], int]:
    """Some of the records of a batch, and the position where they end in the data.

    Args:
        batch, data, count, keep_headers: as for ``decode_some_records``.
        at: position in the data of the first record.

    Raises:
        IndexError, ValueError, OverflowError: they are malformed; ``inspect_records`` reports how.
    """
    append_time = batch.max_timestamp if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else None
    base = (batch.base_offset, batch.base_timestamp, append_time)
    return by_engine_in_use(
        lambda: _within(data, _decode(data, at, count, batch, keep_headers=keep_headers)),
        native_record_codec(),
        lambda native: cast("tuple[tuple[Record, ...], int]", native.read(data, at, count, *base, keep_headers)),
    )


def _within(data: bytes, read: tuple[tuple[Record, ...], int]) -> tuple[tuple[Record, ...], int]:
    if read[1] > len(data):
        raise ValueError
    return read


# One function on purpose: a call for each number would double the time of every record.
def _decode(  # noqa: C901, PLR0912, PLR0915
    data: bytes, at: int, count: int, batch: RecordBatch, *, keep_headers: bool
) -> tuple[tuple[Record, ...], int]:
    """The hot loop. It reads numbers of one and two bytes, as nearly all are, in place.

    A slice that reaches past the end of the data comes out short, but the position still moves by the full length; the
    position checks after each record and after the last one catch it. Negative lengths mean null; in zig-zag form they
    are the odd numbers.
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

        key = value = None
        for _ in _KEY_AND_VALUE:
            key = value
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
            headers, at = decode_headers(data, at, end, keep=keep_headers)
        else:
            at += 1
        if at != end:
            raise ValueError
        records.append(Record(offset, timestamp, key, value, headers))
    return tuple(records), at


def decode_headers(data: bytes, at: int, end: int, *, keep: bool) -> tuple[tuple[Header, ...], int]:
    """The headers of a record, from their count at ``at`` on, and where they end.

    Args:
        data: the records, decompressed.
        at: position of the count.
        end: of the record.
        keep: whether the headers are returned; otherwise they are only checked.

    Raises:
        IndexError, ValueError: the headers are malformed; the inspector reports how.
    """
    # Lengths below 64 are read in place; longer ones are rare here.
    count, at = read_uvarint(data, at)
    if count & 1 or count >> 1 > (end - at) // SMALLEST_HEADER:
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
        start = at
        if not size & 1:
            at += size >> 1
        if keep:
            headers.append(Header(key, None if size & 1 else data[start:at]))
    return tuple(headers), at


def _count_error(batch: RecordBatch, size: int) -> DecodeError:
    if batch.records_count < 0:
        return records_error(batch, "length", f"a count of {batch.records_count} records", "records_count", 0)
    reason = f"{batch.records_count} records of at least {_SMALLEST_RECORD} bytes; there are {size} bytes"
    return records_error(batch, "truncated", reason, "records_count", 0)
