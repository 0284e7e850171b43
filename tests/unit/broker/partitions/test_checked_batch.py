from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from kafkawire.broker.partitions.checked_batch import AppendRules, RefusedRecordsError, checked_batch
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, RecordBatch, TimestampType, decode_records, encode_batch, read_batches, seal
from kafkawire.wire.compression import Codec

RECORDS = [Record(timestamp=1000, key=b"k", value=b"v"), Record(timestamp=3000, key=b"k"), Record(timestamp=2000)]
GOOD = encode_batch(RECORDS)
RULES = AppendRules()


def changed(**fields: object) -> bytes:
    (batch,) = read_batches(GOOD)
    return seal(replace(batch, **fields)).to_bytes()


def with_payload(change: Callable[[bytes], bytes]) -> bytes:
    (batch,) = read_batches(GOOD)
    return changed(payload=change(batch.payload))


@pytest.mark.parametrize("codec", Codec)
def test_a_sound_batch_is_kept_as_it_came(codec: Codec) -> None:
    sent = encode_batch(RECORDS, codec=codec)
    assert checked_batch(sent, RULES, 9000).to_bytes() == sent


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (None, ErrorCode.INVALID_RECORD),
        (b"", ErrorCode.INVALID_RECORD),
        (GOOD + GOOD, ErrorCode.INVALID_RECORD),
        (GOOD[:-1], ErrorCode.INVALID_RECORD),
        (GOOD[:-1] + b"?", ErrorCode.CORRUPT_MESSAGE),
        (GOOD[:16] + b"\1" + GOOD[17:], ErrorCode.INVALID_RECORD),
        (changed(attributes=0b10_0000), ErrorCode.INVALID_RECORD),
        (changed(attributes=0b1000), ErrorCode.INVALID_RECORD),
        (changed(attributes=5), ErrorCode.INVALID_RECORD),
        (changed(attributes=Codec.ZSTD), ErrorCode.INVALID_RECORD),
        (changed(records_count=2), ErrorCode.INVALID_RECORD),
        (changed(records_count=0, last_offset_delta=-1, payload=b""), ErrorCode.INVALID_RECORD),
        (changed(records_count=9, last_offset_delta=8), ErrorCode.INVALID_RECORD),
        (changed(producer_id=5), ErrorCode.INVALID_RECORD),
        (with_payload(lambda payload: payload[:-1]), ErrorCode.INVALID_RECORD),
        (encode_batch([replace(RECORDS[0], offset=0), replace(RECORDS[1], offset=2)]), ErrorCode.INVALID_RECORD),
    ],
)
def test_records_are_refused(records: bytes | None, code: ErrorCode) -> None:
    with pytest.raises(RefusedRecordsError) as refused:
        checked_batch(records, RULES, 9000)
    assert refused.value.code == code


def test_a_batch_may_be_so_large() -> None:
    checked_batch(GOOD, AppendRules(max_message_bytes=len(GOOD)), 9000)
    with pytest.raises(RefusedRecordsError, match="exceeds the maximum configured value") as refused:
        checked_batch(GOOD, AppendRules(max_message_bytes=len(GOOD) - 1), 9000)
    assert refused.value.code == ErrorCode.MESSAGE_TOO_LARGE


def test_records_without_key_are_blamed_one_by_one() -> None:
    with pytest.raises(RefusedRecordsError) as refused:
        checked_batch(GOOD, AppendRules(needs_keys=True), 9000)
    assert refused.value.records == [2]


def test_the_brokers_time_takes_the_place_of_the_producers() -> None:
    batch = checked_batch(GOOD, AppendRules(log_append_time=True), 9000)
    assert batch.crc_is_valid
    assert batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert [record.timestamp for record in decode_records(batch)] == [9000] * 3


def test_the_newest_timestamp_is_that_of_the_records() -> None:
    batch: RecordBatch = checked_batch(changed(max_timestamp=1 << 60), RULES, 9000)
    assert batch.max_timestamp == 3000
    assert batch.crc_is_valid
