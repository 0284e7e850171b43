"""Every record of the real logs as a message, compared with the JSON that kafka-dump-log printed of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import cast

import pytest
from tests.kafka_logs.dumps import FIXTURES, RealLog, real_logs

from kafkawire.layout import snake_case
from kafkawire.protocol import GroupMetadataValue, QuorumStateData, to_json
from kafkawire.records.consumer_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from kafkawire.records.control_records import (
    ControlRecord,
    ControlRecordType,
    decode_control_record,
    encode_control_record,
)
from kafkawire.records.coordinator_records import (
    CoordinatorRecord,
    decode_coordinator_record,
    encode_coordinator_record,
)
from kafkawire.records.metadata_records import decode_metadata_record, encode_metadata_record
from kafkawire.records.quorum_state import decode_quorum_state, encode_quorum_state
from kafkawire.wire.batches.batch import Record, read_batches
from kafkawire.wire.batches.reader import decode_records

each_log = pytest.mark.parametrize("log", real_logs(), ids=lambda log: log.name)
CONTROL_HEADINGS = {
    ControlRecordType.LEADER_CHANGE: "LeaderChange: ",
    ControlRecordType.SNAPSHOT_HEADER: "SnapshotHeader ",
    ControlRecordType.SNAPSHOT_FOOTER: "SnapshotFooter ",
    ControlRecordType.KRAFT_VERSION: "KRaftVersion ",
    ControlRecordType.KRAFT_VOTERS: "KRaftVoters ",
}


@each_log
def test_records_equal_the_json_of_the_dump(log: RealLog) -> None:
    for (control, record), said in zip(records_of(log), sayings_of(log), strict=True):
        if control:
            assert control_text(record) == said
        elif log.path.parent.name.startswith("__cluster_metadata"):
            assert_same_json(metadata_json(record), said.removeprefix("payload: "))
        else:
            key, value = said.removeprefix("key: ").split(" payload: ")
            key_json, value_json = coordinator_json(log, record)
            assert_same_json(key_json, key)
            assert value == "<DELETE>" if value_json is None else same_json(value_json, value)


@each_log
def test_records_are_written_back_as_they_were(log: RealLog) -> None:
    for control, record in records_of(log):
        if control:
            read = decode_control_record(record.key, record.value)
            assert isinstance(read, ControlRecord)
            assert encode_control_record(read.type, read.message, read.version) == (record.key, record.value)
        elif log.path.parent.name.startswith("__cluster_metadata"):
            framed = decode_metadata_record(record.value)
            assert encode_metadata_record(framed.message, framed.version) == record.value
        else:
            entry = decode_coordinator_record(topic_of(log), record.key, record.value)
            assert isinstance(entry, CoordinatorRecord)
            written = encode_coordinator_record(topic_of(log), entry.key, entry.value, entry.value_version)
            assert written == (record.key, record.value)


def test_many_types_were_compared() -> None:
    seen: Counter[str] = Counter()
    for log in real_logs():
        for control, record in records_of(log):
            if control:
                read = decode_control_record(record.key, record.value)
                assert isinstance(read, ControlRecord)
                seen[f"control {read.type.name}"] += 1
            elif log.path.parent.name.startswith("__cluster_metadata"):
                framed = decode_metadata_record(record.value)
                seen[f"{framed.message.NAME} {framed.version}"] += 1
            else:
                entry = decode_coordinator_record(topic_of(log), record.key, record.value)
                assert isinstance(entry, CoordinatorRecord)
                seen[f"{entry.type.name} {entry.value_version}"] += 1
    assert seen.total() == 1169
    assert len(seen) == 58
    assert seen["PartitionRecord 2"] == 65
    assert seen["ClientQuotaRecord 0"] == 90
    assert seen["OffsetCommit 4"] == 447
    assert seen["OffsetCommit None"] == 24
    assert seen["TransactionLog 1"] == 28
    assert seen["ShareUpdate 0"] == 26
    assert seen["control COMMIT"] == 3


def test_members_of_classic_groups_are_written_back_as_they_were() -> None:
    blobs = 0
    for log in real_logs():
        if topic_of(log) != "__consumer_offsets":
            continue
        for control, record in records_of(log):
            if control:
                continue
            entry = decode_coordinator_record(topic_of(log), record.key, record.value)
            if isinstance(entry, CoordinatorRecord) and isinstance(entry.value, GroupMetadataValue):
                for member in entry.value.members:
                    assert encode_subscription(*decode_subscription(member.subscription)) == member.subscription
                    assert encode_assignment(*decode_assignment(member.assignment)) == member.assignment
                    blobs += 1
    assert blobs == 6


def test_quorum_state() -> None:
    text = (FIXTURES / "logs" / "__cluster_metadata-0" / "quorum-state").read_bytes()
    state, version = decode_quorum_state(text)
    assert (state, version) == (QuorumStateData(leader_id=1, leader_epoch=2), 1)
    assert encode_quorum_state(state, version) == text


def records_of(log: RealLog) -> Iterator[tuple[bool, Record]]:
    for batch in read_batches(log.read_bytes()):
        for record in decode_records(batch):
            yield batch.is_control, record


def sayings_of(log: RealLog) -> Iterator[str]:
    for batch in log.read_dump():
        for record in batch.records:
            yield record.rest


def topic_of(log: RealLog) -> str:
    return log.path.parent.name.rpartition("-")[0]


def control_text(record: Record) -> str:
    read = decode_control_record(record.key, record.value)
    assert isinstance(read, ControlRecord)
    form = to_json(read.message, read.version)
    if read.type in CONTROL_HEADINGS:
        return CONTROL_HEADINGS[read.type] + json.dumps(form, separators=(",", ":"))
    return f"endTxnMarker: {read.type.name} coordinatorEpoch: {form['coordinatorEpoch']}"


def metadata_json(record: Record) -> Mapping[str, object]:
    framed = decode_metadata_record(record.value)
    return {
        "type": snake_case(framed.message.NAME).upper(),
        "version": framed.version,
        "data": to_json(framed.message, framed.version),
    }


def coordinator_json(log: RealLog, record: Record) -> tuple[Mapping[str, object], Mapping[str, object] | None]:
    entry = decode_coordinator_record(topic_of(log), record.key, record.value)
    assert isinstance(entry, CoordinatorRecord)
    key = {"type": str(entry.type.number), "data": to_json(entry.key, entry.type.key_version)}
    if entry.value is None or entry.value_version is None:
        return key, None
    data = to_json(entry.value, entry.value_version)
    if isinstance(entry.value, GroupMetadataValue):
        data["members"] = [
            form | member_json(member)
            for member, form in zip(entry.value.members, cast("list[dict[str, object]]", data["members"]), strict=True)
        ]
    return key, {"version": str(entry.value_version), "data": data}


def member_json(member: GroupMetadataValue.MemberMetadata) -> dict[str, object]:
    """What the dump shows of a member instead of bytes."""
    return {
        "subscription": to_json(*decode_subscription(member.subscription)),
        "assignment": to_json(*decode_assignment(member.assignment)),
    }


def same_json(ours: Mapping[str, object], theirs: str) -> bool:
    """Equal values, with the keys in the same order."""
    return json.dumps(ours) == json.dumps(json.loads(theirs))


def assert_same_json(ours: Mapping[str, object], theirs: str) -> None:
    assert json.dumps(ours) == json.dumps(json.loads(theirs))
