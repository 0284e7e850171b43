"""What producers send, looked at before it is kept: exactly one whole batch of magic 2, with sound records in it."""

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

__all__ = ["LARGEST_OUTPUT", "SMALL_OUTPUT", "SOON_CHECKED", "AppendRules", "RefusedRecordsError", "checked_batch"]

LARGEST_OUTPUT: Final = 64 * 1024 * 1024
_MOST_RECORDS: Final = 250_000
"""Of a batch; in memory each takes 200 bytes and more, and 7 where it comes from, before compression."""

SOON_CHECKED: Final = 16 * 1024
"""Bytes of a batch that are looked at in a few milliseconds, if it is not much larger once decompressed."""

SMALL_OUTPUT: Final = 64 * 1024
"""So much larger."""

_LOG_APPEND_TIME_BIT: Final = 0b1000


class AppendRules(Struct, frozen=True, gc=False):
    """What a topic demands of its records.

    Attributes:
        max_message_bytes: the most bytes of a batch (``max.message.bytes``).
        log_append_time: whether the broker's time is put on all records (``message.timestamp.type``).
        needs_keys: whether each record must have a key (``cleanup.policy`` has ``compact``).
    """

    max_message_bytes: int = 1_048_588
    log_append_time: bool = False
    needs_keys: bool = False


class RefusedRecordsError(Exception):
    """Records that are not kept.

    Attributes:
        code: the error code.
        in_log: whether Kafka finds out only when it is about to append them; then it says where the log begins.
        records: indexes of the records that are to blame, where it is not the batch.
    """

    def __init__(self, code: ErrorCode, message: str, *, in_log: bool = False, records: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.in_log = in_log
        self.records = records


def checked_batch(
    records: RecordBytes | None, rules: AppendRules, now_ms: int, limit: int = LARGEST_OUTPUT
) -> RecordBatch:
    """The batch of a produce request, as it is to be kept.

    Args:
        records: what the request has for a partition.
        rules: what the topic demands.
        now_ms: for topics that want the broker's time.
        limit: the most bytes of records, decompressed.

    Raises:
        RefusedRecordsError: it is none, or not as it must be, or larger than any may be.
        OutputLimitError: the records are larger than a smaller limit.
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
        raise _invalid("the time of the broker is not the producer's to set")
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
            ErrorCode.INVALID_RECORD, "Invalid records: there must be exactly one whole record batch for a partition"
        )
    return batch


def _check_header(batch: RecordBatch) -> None:
    if batch.is_control:
        raise _invalid("clients are not allowed to write control records")
    if batch.is_transactional:
        raise RefusedRecordsError(ErrorCode.INVALID_TXN_STATE, "This broker has no transactions")
    if batch.records_count <= 0 or batch.last_offset_delta != batch.records_count - 1:
        raise _invalid(f"{batch.records_count} records, but offset deltas up to {batch.last_offset_delta}")
    if batch.records_count > _MOST_RECORDS:
        raise _invalid(f"{batch.records_count} records in a batch, {_MOST_RECORDS} are allowed")
    if batch.producer_id != NO_PRODUCER_ID and (batch.base_sequence < 0 or batch.producer_epoch < 0):
        raise _invalid(f"sequence {batch.base_sequence} of epoch {batch.producer_epoch}; neither may be negative")


def _check_records(batch: RecordBatch, rules: AppendRules, limit: int) -> int:
    """The highest timestamp of the records, which are looked at one by one."""
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
