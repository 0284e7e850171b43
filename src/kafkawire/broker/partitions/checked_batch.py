"""Validation of produced records: exactly one complete batch of magic 2, with valid records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import DecodeError, RecordBytes
from kafkawire.wire.batches import RecordBatch, TimestampType, decode_records, read_batches, seal
from kafkawire.wire.batches.batch import NO_PRODUCER_ID
from kafkawire.wire.errors import CorruptBatchError, OutputLimitError
from kafkawire.wire.message import Struct

LARGEST_OUTPUT: Final = 64 * 1024 * 1024
_MOST_RECORDS: Final = 250_000
"""The most records of a batch; each takes 200 bytes or more in memory, and 7 or more in a request, uncompressed."""

SMALL_BATCH: Final = 16 * 1024
"""Bytes of a batch that is checked in a few milliseconds, unless it is much larger once decompressed."""

SMALL_OUTPUT: Final = 64 * 1024
"""The most bytes of such a batch once decompressed."""

_LOG_APPEND_TIME_BIT: Final = 0b1000


class AppendRules(Struct, frozen=True, gc=False):
    """The requirements of a topic on its records.

    Attributes:
        max_message_bytes: the most bytes of a batch (``max.message.bytes``).
        log_append_time: whether records get the broker's time (``message.timestamp.type``).
        needs_keys: whether each record must have a key (``cleanup.policy`` has ``compact``).
    """

    max_message_bytes: int = 1_048_588
    log_append_time: bool = False
    needs_keys: bool = False


class RefusedRecordsError(Exception):
    """Records are not stored.

    Attributes:
        code: the error code.
        in_log: whether Kafka detects it only when it appends them; then the response has the log's start offset.
        records: indexes of the invalid records, unless the batch is invalid.
    """

    def __init__(self, code: ErrorCode, message: str, *, in_log: bool = False, records: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.in_log = in_log
        self.records = records


def checked_batch(
    records: RecordBytes | None, rules: AppendRules, now_ms: int, limit: int = LARGEST_OUTPUT
) -> RecordBatch:
    """The batch of a produce request, as it is to be stored.

    Args:
        records: the records of a partition in the request.
        rules: the requirements of the topic.
        now_ms: the broker's time, for topics that use it.
        limit: the most bytes of records, decompressed.

    Raises:
        RefusedRecordsError: they are not one valid batch, or larger than ``LARGEST_OUTPUT``.
        OutputLimitError: the records are larger than a lower ``limit``.
    """
    batch = _only_batch(records or b"")
    if batch.size > rules.max_message_bytes:
        raise RefusedRecordsError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"The record batch size is {batch.size} bytes, which exceeds the maximum configured value of "
            f"{rules.max_message_bytes}.",
        )
    _check_header(batch)
    max_timestamp = _check_records(batch, rules, limit)
    if rules.log_append_time:
        attributes = batch.attributes | _LOG_APPEND_TIME_BIT
        return seal(replace(batch, attributes=attributes, max_timestamp=now_ms))
    if batch.timestamp_type is TimestampType.LOG_APPEND_TIME:
        raise _invalid("a producer cannot set the broker's time (LogAppendTime)")
    return batch if batch.max_timestamp == max_timestamp else seal(replace(batch, max_timestamp=max_timestamp))


def _only_batch(records: RecordBytes) -> RecordBatch:
    batches = read_batches(records)
    try:
        batch = next(batches, None)
    except CorruptBatchError as error:
        code = ErrorCode.CORRUPT_MESSAGE if error.kind == "crc" else ErrorCode.INVALID_RECORD
        raise RefusedRecordsError(code, str(error)) from error
    if batch is None or batches.bytes_left:
        raise RefusedRecordsError(
            ErrorCode.INVALID_RECORD, "Invalid records: there must be exactly one complete record batch for a partition"
        )
    return batch


def _check_header(batch: RecordBatch) -> None:
    if batch.is_control:
        raise _invalid("clients are not allowed to write control records")
    if batch.records_count <= 0 or batch.last_offset_delta != batch.records_count - 1:
        raise _invalid(f"{batch.records_count} records, but offset deltas up to {batch.last_offset_delta}")
    if batch.records_count > _MOST_RECORDS:
        raise _invalid(f"{batch.records_count} records in a batch, {_MOST_RECORDS} are allowed")
    if batch.producer_id != NO_PRODUCER_ID and (batch.base_sequence < 0 or batch.producer_epoch < 0):
        raise _invalid(f"sequence {batch.base_sequence} of epoch {batch.producer_epoch}; neither may be negative")


def _check_records(batch: RecordBatch, rules: AppendRules, limit: int) -> int:
    """Check each record; returns the highest timestamp."""
    try:
        records = decode_records(batch, limit=limit)
    except OutputLimitError as error:
        if limit < LARGEST_OUTPUT:
            raise
        raise _invalid(str(error)) from error
    except DecodeError as error:
        raise _invalid(str(error)) from error
    for delta, record in enumerate(records):
        if record.offset - batch.base_offset != delta:
            raise _invalid(f"record {delta} has the offset delta {record.offset - batch.base_offset}")
    keyless = [index for index, record in enumerate(records) if rules.needs_keys and record.key is None]
    if keyless:
        reason = "Compacted topic cannot accept message without key"
        raise RefusedRecordsError(ErrorCode.INVALID_RECORD, reason, in_log=True, records=keyless)
    return max(record.timestamp for record in records)


def _invalid(reason: str) -> RefusedRecordsError:
    return RefusedRecordsError(ErrorCode.INVALID_RECORD, f"Invalid records: {reason}", in_log=True)
