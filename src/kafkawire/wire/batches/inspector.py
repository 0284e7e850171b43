"""The slow decoder of records, which reports what is wrong and where. ``reader`` uses it after an error."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from kafkawire.wire.batches.batch import Header, Record, RecordBatch, TimestampType
from kafkawire.wire.batches.framing import HEADER_SIZE
from kafkawire.wire.compression import Codec
from kafkawire.wire.errors import DecodeError
from kafkawire.wire.varint import read_varint, read_varlong

SMALLEST_HEADER: Final = 2
"""Bytes of a header with an empty key and a null value."""


def inspect_records(
    batch: RecordBatch, data: bytes, start: int, first: int, count: int, *, keep_headers: bool
) -> tuple[tuple[Record, ...], int]:
    """Decode records of a batch field by field, and raise at the first error; arguments as ``decode_some_records``.

    Raises:
        DecodeError: with the path of the field and its offset.
    """
    inspector = _RecordInspector(batch, data, start, keep_headers=keep_headers)
    return inspector.decode(first, count), inspector.at


def records_error(batch: RecordBatch, kind: str, reason: str, path: str, at: int) -> DecodeError:
    """An error in records. ``at`` is a position in them; the offset of the error is as in ``decode_records``."""
    if batch.codec is Codec.NONE:
        offset = batch.position + HEADER_SIZE + at
    else:
        offset = at
        path = f"{path} (decompressed)"
    return DecodeError(kind, reason, message_name="record batch", version=2, path=path, offset=offset)


class _RecordInspector:
    """Decodes field by field, and raises at the first error. ``at`` is the position of the next byte."""

    def __init__(self, batch: RecordBatch, data: bytes, start: int, *, keep_headers: bool) -> None:
        self._batch = batch
        self._data = data
        self.at = start
        self._end = len(data)
        self._path = ""
        self._keep_headers = keep_headers

    def decode(self, first: int, count: int) -> tuple[Record, ...]:
        records = tuple(self._record(f"records[{index}]") for index in range(first, first + count))
        if first + count == self._batch.records_count and self.at != len(self._data):
            left = len(self._data) - self.at
            raise records_error(self._batch, "trailing", f"{left} bytes after the last record", "records", self.at)
        return records

    def _record(self, path: str) -> Record:
        self._end = len(self._data)
        self._path = path
        size = self._length("length")
        self._end = self.at + size
        self._take(self._within_record(1, "attributes", self.at))
        timestamp_delta = self._number(read_varlong, "timestamp_delta")
        offset_delta = self._number(read_varint, "offset_delta")
        key = self._bytes("key")
        value = self._bytes("value")
        headers = self._headers()
        if self.at != self._end:  # record-exact
            raise self._error("trailing", f"{self._end - self.at} bytes of the record are left", "", self.at)
        batch = self._batch
        if batch.timestamp_type is TimestampType.LOG_APPEND_TIME:
            timestamp = batch.max_timestamp
        else:
            timestamp = batch.base_timestamp + timestamp_delta
        return Record(batch.base_offset + offset_delta, timestamp, key, value, headers)

    def _headers(self) -> tuple[Header, ...]:
        start = self.at
        count = self._number(read_varint, "header_count")
        left = self._end - self.at
        if not 0 <= count <= left // SMALLEST_HEADER:
            raise self._error("length", f"{count} headers; {left} bytes are left", "header_count", start)
        headers = (self._header(f"headers[{index}]") for index in range(count))
        if self._keep_headers:
            return tuple(headers)
        deque(headers, maxlen=0)
        return ()

    def _header(self, field: str) -> Header:
        start = self.at
        size = self._length(f"{field}.key")
        try:
            key = self._take(size).decode()
        except UnicodeDecodeError as error:
            raise self._error("utf8", f"not UTF-8: {error.reason}", f"{field}.key", start) from None
        return Header(key, self._bytes(f"{field}.value"))

    def _bytes(self, field: str) -> bytes | None:
        start = self.at
        size = self._number(read_varint, field)
        # Writers use -1 for null; Kafka's readers treat any negative length as null (wire-negative-length).
        return None if size < 0 else self._take(self._within_record(size, field, start))

    def _length(self, field: str) -> int:
        start = self.at
        size = self._number(read_varint, field)
        if size < 0:
            raise self._error("length", f"a length of {size}", field, start)
        return self._within_record(size, field, start)

    def _within_record(self, size: int, field: str, start: int) -> int:
        left = self._end - self.at
        if size > left:
            raise self._error("truncated", f"needs {size} bytes, {left} are left", field, start)
        return size

    def _take(self, size: int) -> bytes:
        start = self.at
        self.at += size
        return self._data[start : self.at]

    def _number(self, read: Callable[[bytes, int], tuple[int, int]], field: str) -> int:
        try:
            value, end = read(self._data, self.at)
        except DecodeError as error:
            raise self._error(error.kind, error.reason, field, self.at) from None
        if end > self._end:
            raise self._error("truncated", "the number continues after the end of the record", field, self.at)
        self.at = end
        return value

    def _error(self, kind: str, reason: str, field: str, at: int) -> DecodeError:
        path = f"{self._path}.{field}" if field else self._path
        return records_error(self._batch, kind, reason, path, at)
