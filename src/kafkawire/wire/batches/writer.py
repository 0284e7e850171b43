"""From records to a batch of magic 2 (batch-header); without compression, byte for byte that of Kafka's producer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from kafkawire.wire.batches.batch import (
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    Header,
    Record,
    RecordBatch,
    TimestampType,
    batch_attributes,
    checksum,
)
from kafkawire.wire.batches.framing import HEADER_SIZE, LARGEST_LENGTH, LENGTH_COUNTS_FROM
from kafkawire.wire.batches.native_records import native_record_codec
from kafkawire.wire.compression import Codec, compress
from kafkawire.wire.engine import natively_if_possible
from kafkawire.wire.errors import EncodeError
from kafkawire.wire.varint import write_varint, write_varlong

_NULL: Final = write_varint(-1)
_NO_HEADERS: Final = write_varint(0)
_NO_ATTRIBUTES: Final = b"\0"
_LARGEST_PAYLOAD: Final = LARGEST_LENGTH - (HEADER_SIZE - LENGTH_COUNTS_FROM)
_FIELD_BITS: Final = {
    "base_offset": 64,
    "partition_leader_epoch": 32,
    "last_offset_delta": 32,
    "base_timestamp": 64,
    "max_timestamp": 64,
    "producer_id": 64,
    "producer_epoch": 16,
    "base_sequence": 32,
}


def encode_batch(
    records: Sequence[Record],
    *,
    codec: Codec = Codec.NONE,
    level: int | None = None,
    base_offset: int = 0,
    partition_leader_epoch: int = NO_PARTITION_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    log_append_time: int | None = None,
    delete_horizon_ms: int | None = None,
    last_offset: int | None = None,
) -> bytes:
    """Encode a batch.

    Args:
        records: in order of their offsets. Offset -1 means the offset after the previous record, or the base offset
            for the first record.
        codec: of the compression.
        level: of the compression; None for the default of the codec.
        base_offset: offset of the batch; producers send 0 (batch-producer).
        partition_leader_epoch: set by brokers; -1 from producers.
        producer_id: -1 for none, like ``producer_epoch`` and ``base_sequence``.
        producer_epoch: of the producer.
        base_sequence: sequence of the record at the base offset.
        transactional: whether the batch belongs to a transaction.
        control: whether the records are control records.
        log_append_time: milliseconds; if given, readers see this timestamp for all records (record-timestamp). Their
            own timestamps are written all the same, as Kafka does.
        delete_horizon_ms: milliseconds; replaces the base timestamp.
        last_offset: of the batch, if compaction has removed the last records; None for that of the last record.

    Raises:
        EncodeError: kind ``range`` (a number that does not fit its field, offsets that do not increase), ``type`` (such
            as a key that is not bytes), ``utf8`` (the key of a header) or ``length`` (2^31 bytes or more).

    Example:
        ```python
        from kafkawire.wire.batches import Header, Record, encode_batch
        from kafkawire.wire.compression import Codec

        records = [Record(key=b"42", value=b"paid", headers=[Header("source", b"shop")])]
        batch = encode_batch(records, codec=Codec.ZSTD)
        ```
    """
    offsets = _offsets(records, base_offset)
    timestamps = [record.timestamp for record in records]
    first_timestamp = timestamps[0] if timestamps else NO_TIMESTAMP
    base_timestamp = first_timestamp if delete_horizon_ms is None else delete_horizon_ms
    last = offsets[-1] if offsets else base_offset
    batch = RecordBatch(
        base_offset=base_offset,
        partition_leader_epoch=partition_leader_epoch,
        crc=0,
        attributes=batch_attributes(
            codec,
            TimestampType.CREATE_TIME if log_append_time is None else TimestampType.LOG_APPEND_TIME,
            transactional=transactional,
            control=control,
            delete_horizon=delete_horizon_ms is not None,
        ),
        last_offset_delta=(last if last_offset is None else last_offset) - base_offset,
        base_timestamp=base_timestamp,
        max_timestamp=max(timestamps, default=NO_TIMESTAMP) if log_append_time is None else log_append_time,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        records_count=len(records),
        payload=b"",
    )
    _check_widths(batch)
    payload = _payload(records, offsets, timestamps, base_offset, base_timestamp)
    payload = compress(codec, payload, level=level)
    if len(payload) > _LARGEST_PAYLOAD:
        raise _encode_error("length", f"{len(payload)} bytes of records; a batch holds less than 2^31", "")
    return seal(msgspec.structs.replace(batch, payload=payload)).to_bytes()


def seal(batch: RecordBatch) -> RecordBatch:
    """The batch with the right CRC, for batches changed by ``msgspec.structs.replace``."""
    return msgspec.structs.replace(batch, crc=checksum(batch))


def _offsets(records: Sequence[Record], base_offset: int) -> list[int]:
    offsets: list[int] = []
    lowest = base_offset
    for index, record in enumerate(records):
        offset = lowest if record.offset < 0 else record.offset
        if offset < lowest:
            raise _encode_error("range", f"offset {offset}; it must be {lowest} at least", f"records[{index}].offset")
        offsets.append(offset)
        lowest = offset + 1
    return offsets


def _check_widths(batch: RecordBatch) -> None:
    for name, bits in _FIELD_BITS.items():
        value = getattr(batch, name)
        if not -(1 << bits - 1) <= value < 1 << bits - 1:
            raise _encode_error("range", f"{value} is not an int{bits}", name)


def _payload(
    records: Sequence[Record], offsets: Sequence[int], timestamps: Sequence[int], base_offset: int, base_timestamp: int
) -> bytes:
    """The bytes of records, by the engine in use; what the native one refuses is left to Python, which says why."""
    arguments = (records, offsets, timestamps, base_offset, base_timestamp)
    return natively_if_possible(
        lambda: _encode_records(*arguments), native_record_codec(), lambda native: native.write(*arguments)
    )


def _encode_records(
    records: Sequence[Record], offsets: Sequence[int], timestamps: Sequence[int], base_offset: int, base_timestamp: int
) -> bytes:
    out: list[bytes] = []
    for index, record in enumerate(records):
        try:
            body = _encode_record(record, timestamps[index] - base_timestamp, offsets[index] - base_offset)
            out += (write_varint(len(body)), body)
        except UnicodeEncodeError:
            raise _encode_error("utf8", "the key of a header is no valid text", f"records[{index}].headers") from None
        except ValueError as error:
            raise _encode_error("range", str(error), f"records[{index}]") from None
        except (TypeError, AttributeError) as error:
            raise _encode_error("type", str(error), f"records[{index}]") from None
    return b"".join(out)


def _encode_record(record: Record, timestamp_delta: int, offset_delta: int) -> bytes:
    key, value, headers = record.key, record.value, record.headers
    return b"".join(
        (
            _NO_ATTRIBUTES,
            write_varlong(timestamp_delta),
            write_varint(offset_delta),
            _NULL if key is None else write_varint(len(key)),
            key or b"",
            _NULL if value is None else write_varint(len(value)),
            value or b"",
            _encode_headers(headers) if headers else _NO_HEADERS,
        )
    )


def _encode_headers(headers: Sequence[Header]) -> bytes:
    parts = [write_varint(len(headers))]
    for header in headers:
        key, value = header.key.encode(), header.value
        parts += (write_varint(len(key)), key, _NULL if value is None else write_varint(len(value)), value or b"")
    return b"".join(parts)


def _encode_error(kind: str, reason: str, path: str) -> EncodeError:
    return EncodeError(kind, reason, message_name="record batch", version=2, path=path)
