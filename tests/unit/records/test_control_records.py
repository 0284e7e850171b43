"""Control records (control-records)."""

from __future__ import annotations

import pytest

from kafkawire.protocol import EndTxnMarker, LeaderChangeMessage, SnapshotFooterRecord, SnapshotHeaderRecord
from kafkawire.records.control_records import (
    ControlRecord,
    ControlRecordType,
    UnknownControlRecord,
    decode_control_record,
    encode_control_record,
)
from kafkawire.wire import DecodeError

COMMIT_KEY = bytes.fromhex("00000001")
COMMIT_VALUE = bytes.fromhex("0000 00000003")


def test_commit_marker() -> None:
    marker = EndTxnMarker(coordinator_epoch=3)
    assert decode_control_record(COMMIT_KEY, COMMIT_VALUE) == ControlRecord(ControlRecordType.COMMIT, marker, 0)
    assert encode_control_record(ControlRecordType.COMMIT, marker, 0) == (COMMIT_KEY, COMMIT_VALUE)
    assert encode_control_record(ControlRecordType.ABORT, marker, 0) == (bytes(4), COMMIT_VALUE)


@pytest.mark.parametrize("version", [0, 1])
def test_kraft_messages_say_their_version_themselves(version: int) -> None:
    message = LeaderChangeMessage(version=version, leader_id=4)
    key, value = encode_control_record(ControlRecordType.LEADER_CHANGE, message, version)
    assert value[:2] == version.to_bytes(2, "big")
    assert decode_control_record(key, value) == ControlRecord(ControlRecordType.LEADER_CHANGE, message, version)
    with pytest.raises(ValueError, match=f"is {version}, but version {1 - version} was requested"):
        encode_control_record(ControlRecordType.LEADER_CHANGE, message, 1 - version)


def test_newer_versions_are_read_as_the_newest_known() -> None:
    newer = decode_control_record(bytes.fromhex("00070001ffff"), bytes.fromhex("0009 00000003 ffff"))
    assert newer == ControlRecord(ControlRecordType.COMMIT, EndTxnMarker(coordinator_epoch=3), 0)
    footer = decode_control_record(bytes.fromhex("00000004"), bytes.fromhex("000500"))
    assert footer == ControlRecord(ControlRecordType.SNAPSHOT_FOOTER, SnapshotFooterRecord(version=5), 0)


def test_unknown_types_are_kept() -> None:
    assert decode_control_record(bytes.fromhex("000003e7"), b"xy") == UnknownControlRecord(999, b"xy")
    assert decode_control_record(memoryview(b"\0\0\xff\xff"), None) == UnknownControlRecord(-1, None)


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        (None, COMMIT_VALUE, "null"),
        (COMMIT_KEY, None, "null"),
        (b"", COMMIT_VALUE, "truncated"),
        (COMMIT_KEY[:3], COMMIT_VALUE, "truncated"),
        (COMMIT_KEY, COMMIT_VALUE[:-1], "truncated"),
        (COMMIT_KEY, b"\0", "truncated"),
        (b"\xff\xff\0\1", COMMIT_VALUE, "version"),
        (COMMIT_KEY, b"\xff\xff" + COMMIT_VALUE[2:], "version"),
        (bytes.fromhex("00000002"), b"\xff\xff", "version"),
        (bytes.fromhex("00000002"), b"", "truncated"),
        (bytes.fromhex("00000002"), b"\0\0", "truncated"),
    ],
)
def test_broken_control_records_are_refused(key: bytes | None, value: bytes | None, kind: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_control_record(key, value)
    assert caught.value.kind == kind


def test_message_must_belong_to_the_type() -> None:
    with pytest.raises(ValueError, match="COMMIT goes with EndTxnMarker, not with SnapshotHeaderRecord"):
        encode_control_record(ControlRecordType.COMMIT, SnapshotHeaderRecord(), 0)
