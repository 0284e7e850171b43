"""Records of the coordinators."""

from __future__ import annotations

import pytest

from kafkawire.protocol import (
    EndTxnMarker,
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
    TransactionLogKey,
    TransactionLogValue,
)
from kafkawire.records.coordinator_records import (
    COORDINATOR_TOPICS,
    CoordinatorRecord,
    UnknownCoordinatorRecord,
    decode_coordinator_record,
    encode_coordinator_record,
)
from kafkawire.wire import DecodeError

OFFSETS = "__consumer_offsets"
KEY = OffsetCommitKey(group="g", topic="t", partition=3)
KEY_BYTES = bytes.fromhex("0001 0001 67 0001 74 00000003")
VALUE = OffsetCommitValue(offset=5, metadata="m", commit_timestamp=9)
VALUE_BYTES = bytes.fromhex("0003 0000000000000005 ffffffff 0001 6d 0000000000000009")


def test_coord_key_prefix_and_value_prefix() -> None:
    read = decode_coordinator_record(OFFSETS, KEY_BYTES, VALUE_BYTES)
    assert read == CoordinatorRecord(COORDINATOR_TOPICS[OFFSETS][1], KEY, VALUE, 3)
    assert encode_coordinator_record(OFFSETS, KEY, VALUE, 3) == (KEY_BYTES, VALUE_BYTES)


def test_coord_key_prefix_is_the_record_type() -> None:
    legacy = LegacyOffsetCommitKey(group="g", topic="t", partition=3)
    key, value = encode_coordinator_record(OFFSETS, legacy, LegacyOffsetCommitValue(), 0)
    assert key == b"\0\0" + KEY_BYTES[2:]
    read = decode_coordinator_record(OFFSETS, key, value)
    assert isinstance(read, CoordinatorRecord)
    assert (read.type.name, read.key) == ("LegacyOffsetCommit", legacy)


def test_a_null_value_is_a_tombstone() -> None:
    read = decode_coordinator_record(OFFSETS, KEY_BYTES, None)
    assert read == CoordinatorRecord(COORDINATOR_TOPICS[OFFSETS][1], KEY, None, None)
    assert encode_coordinator_record(OFFSETS, KEY, None) == (KEY_BYTES, None)


def test_coord_unknown() -> None:
    read = decode_coordinator_record(OFFSETS, memoryview(b"\x03\xe7key"), b"\0\1secret")
    assert read == UnknownCoordinatorRecord(999, b"\x03\xe7key", b"\0\1secret")
    assert "secret" not in repr(read)
    assert decode_coordinator_record(OFFSETS, b"\xff\xff", None) == UnknownCoordinatorRecord(-1, b"\xff\xff", None)


def test_coord_leftover() -> None:
    read = decode_coordinator_record(OFFSETS, KEY_BYTES + b"more", VALUE_BYTES + b"more")
    assert read == decode_coordinator_record(OFFSETS, KEY_BYTES, VALUE_BYTES)


def test_each_topic_has_its_own_types() -> None:
    assert {topic: sorted(types) for topic, types in COORDINATOR_TOPICS.items()} == {
        "__consumer_offsets": [*range(18), *range(19, 24)],
        "__transaction_state": [0],
        "__share_group_state": [0, 1],
    }
    key = TransactionLogKey(transactional_id="txn")
    data = encode_coordinator_record("__transaction_state", key, TransactionLogValue(producer_id=7), 1)
    read = decode_coordinator_record("__transaction_state", *data)
    assert isinstance(read, CoordinatorRecord)
    assert (read.key, read.value, read.value_version) == (key, TransactionLogValue(producer_id=7), 1)
    with pytest.raises(KeyError):
        decode_coordinator_record("orders", b"\0\0", None)


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        (None, None, "null"),
        (b"\0", None, "truncated"),
        (KEY_BYTES[:-1], None, "truncated"),
        (KEY_BYTES, b"", "truncated"),
        (KEY_BYTES, VALUE_BYTES[:-1], "truncated"),
        (KEY_BYTES, b"\0\5" + VALUE_BYTES[2:], "version"),
        (KEY_BYTES, b"\xff\xff" + VALUE_BYTES[2:], "version"),
    ],
)
def test_broken_records_are_refused(key: bytes | None, value: bytes | None, kind: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_coordinator_record(OFFSETS, key, value)
    assert caught.value.kind == kind


def test_key_and_value_must_belong_together() -> None:
    with pytest.raises(ValueError, match="TransactionLogKey is not a key of __consumer_offsets"):
        encode_coordinator_record(OFFSETS, TransactionLogKey(), None)
    with pytest.raises(ValueError, match="GroupMetadataKey goes with GroupMetadataValue, not with EndTxnMarker"):
        encode_coordinator_record(OFFSETS, GroupMetadataKey(), EndTxnMarker(), 0)
    with pytest.raises(ValueError, match="GroupMetadataValue needs a version"):
        encode_coordinator_record(OFFSETS, GroupMetadataKey(), GroupMetadataValue())
