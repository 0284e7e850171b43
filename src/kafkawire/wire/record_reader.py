"""From the payload of a batch to its records (section 9.2).

Two decoders of the same bytes: ``_decode`` is quick and knows only that something is wrong, ``_RecordInspector``
reads one field at a time and says what is wrong and where. The second runs only after the first has failed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kafkawire.wire.compression import DEFAULT_OUTPUT_LIMIT, Codec, decompress
from kafkawire.wire.errors import DecodeError
from kafkawire.wire.record_batch import HEADER_SIZE, Header, Record, RecordBatch, TimestampType
from kafkawire.wire.varint import read_uvarint, read_varint, read_varlong

__all__ = ["decode_records"]

_SMALLEST_RECORD: Final = 7
_SMALLEST_HEADER: Final = 2
_NULL: Final = 1
"""-1 as the zig-zag form has it."""


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
    data = decompress(batch.codec, batch.payload, limit=limit)
    if not 0 < batch.records_count <= len(data) // _SMALLEST_RECORD:
        raise _count_error(batch, len(data))
    append_time = batch.max_timestamp if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else None
    try:
        return _decode(data, batch.records_count, batch.base_offset, batch.base_timestamp, append_time)
    except (IndexError, ValueError):
        return _RecordInspector(batch, data).decode(append_time)


def _decode(
    data: bytes, count: int, base_offset: int, base_timestamp: int, append_time: int | None
) -> tuple[Record, ...]:
    """The hot loop. Numbers of one and two bytes, nearly all there are, are read in place.

    Slices that reach beyond the data come out short, but the position moves on as if they had not: the checks of the
    position at the end of each record and of the data find it.
    """
    records = []
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
            if size != _NULL:
                raise ValueError
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
            if size != _NULL:
                raise ValueError
            value = None
        else:
            start = at
            at += size >> 1
            value = data[start:at]

        headers: tuple[Header, ...] = ()
        if data[at]:
            headers, at = _decode_headers(data, at, end)
        else:
            at += 1
        if at != end:
            raise ValueError
        records.append(Record(offset, timestamp, key, value, headers))
    if at != len(data):
        raise ValueError
    return tuple(records)


def _decode_headers(data: bytes, at: int, end: int) -> tuple[tuple[Header, ...], int]:
    count, at = read_varint(data, at)
    if not 0 <= count <= (end - at) // _SMALLEST_HEADER:
        raise ValueError
    headers = []
    for _ in range(count):
        size, at = read_varint(data, at)
        if size < 0:
            raise ValueError
        key = data[at : at + size].decode()
        at += size
        size, at = read_varint(data, at)
        if size < 0:
            if size != -1:
                raise ValueError
            headers.append(Header(key, None))
        else:
            headers.append(Header(key, data[at : at + size]))
            at += size
    return tuple(headers), at


class _RecordInspector:
    """Decodes one field after the other and raises at the first that is wrong."""

    def __init__(self, batch: RecordBatch, data: bytes) -> None:
        self._batch = batch
        self._data = data
        self._at = 0
        self._end = len(data)
        self._path = ""

    def decode(self, append_time: int | None) -> tuple[Record, ...]:
        records = []
        for index in range(self._batch.records_count):
            records.append(self._record(f"records[{index}]", append_time))
        if self._at != len(self._data):
            raise self._error("trailing", f"{len(self._data) - self._at} bytes after the last record", "", self._at)
        return tuple(records)

    def _record(self, path: str, append_time: int | None) -> Record:
        self._end = len(self._data)
        self._path = path
        size = self._length("length", lowest=0)
        self._end = self._at + size
        self._take(1, "attributes")
        timestamp_delta = self._number(read_varlong, "timestamp_delta")
        offset_delta = self._number(read_varint, "offset_delta")
        key = self._bytes("key")
        value = self._bytes("value")
        headers = self._headers()
        if self._at != self._end:  # record-exact
            raise self._error("trailing", f"{self._end - self._at} bytes of the record are left", "", self._at)
        return Record(
            self._batch.base_offset + offset_delta,
            self._batch.base_timestamp + timestamp_delta if append_time is None else append_time,
            key,
            value,
            headers,
        )

    def _headers(self) -> tuple[Header, ...]:
        start = self._at
        count = self._number(read_varint, "header_count")
        left = self._end - self._at
        if not 0 <= count <= left // _SMALLEST_HEADER:
            raise self._error("length", f"{count} headers; {left} bytes are left", "header_count", start)
        return tuple(self._header(f"headers[{index}]") for index in range(count))

    def _header(self, field: str) -> Header:
        start = self._at
        size = self._length(f"{field}.key", lowest=0)
        try:
            key = self._take(size, f"{field}.key").decode()
        except UnicodeDecodeError as error:
            raise self._error("utf8", f"not UTF-8: {error.reason}", f"{field}.key", start) from None
        return Header(key, self._bytes(f"{field}.value"))

    def _bytes(self, field: str) -> bytes | None:
        size = self._length(field, lowest=-1)
        return None if size < 0 else self._take(size, field)

    def _length(self, field: str, *, lowest: int) -> int:
        start = self._at
        size = self._number(read_varint, field)
        if size < lowest:
            raise self._error("length", f"a length of {size}", field, start)
        left = self._end - self._at
        if size > left:
            raise self._error("truncated", f"needs {size} bytes, {left} are left", field, start)
        return size

    def _take(self, size: int, field: str) -> bytes:
        start = self._at
        if size > self._end - start:
            raise self._error("truncated", f"needs {size} bytes, {self._end - start} are left", field, start)
        self._at += size
        return self._data[start : self._at]

    def _number(self, read: Callable[[bytes, int], tuple[int, int]], field: str) -> int:
        try:
            value, end = read(self._data, self._at)
        except DecodeError as error:
            raise self._error(error.kind, error.reason, field, self._at) from None
        if end > self._end:
            raise self._error("truncated", "the number goes on after the end of the record", field, self._at)
        self._at = end
        return value

    def _error(self, kind: str, reason: str, field: str, at: int) -> DecodeError:
        path = f"{self._path}.{field}" if field else self._path
        return _records_error(self._batch, kind, reason, path, at)


def _count_error(batch: RecordBatch, size: int) -> DecodeError:
    if batch.records_count < 0:
        return _records_error(batch, "length", f"a count of {batch.records_count} records", "records_count", 0)
    reason = f"{batch.records_count} records of at least {_SMALLEST_RECORD} bytes; there are {size} bytes"
    return _records_error(batch, "truncated", reason, "records_count", 0)


def _records_error(batch: RecordBatch, kind: str, reason: str, path: str, at: int) -> DecodeError:
    if batch.codec is Codec.NONE:
        offset = batch.position + HEADER_SIZE + at
    else:
        offset = at
        path = f"{path} (decompressed)"
    return DecodeError(kind, reason, message_name="record batch", version=2, path=path, offset=offset)
