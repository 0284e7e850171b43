"""The states of groups and members, of every kind, from their records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.kafka_logs.dumps import FIXTURES, parse_dump
from tests.kafka_logs.histories import Row, history, still_open, time
from tests.made.logs import OFFSETS_LOG, Written, write_batches, write_offsets_segment

from kafkawire.layout import Uuid
from kafkawire.logs import Accounts, ReadMode, ReadOptions
from kafkawire.protocol import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    GroupMetadataKey,
    GroupMetadataValue,
    ShareGroupMemberMetadataKey,
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)
from kafkawire.records.consumer_protocol import encode_assignment, encode_subscription
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, encode_batch

_LOGS = FIXTURES / "logs"
_TOPIC_ID = Uuid(b"t" * 16)
_SUBSCRIPTION = encode_subscription(ConsumerProtocolSubscription(("orders", "billing")), 1)
_ASSIGNMENT = encode_assignment(
    ConsumerProtocolAssignment((ConsumerProtocolAssignment.TopicPartition("orders", (0, 2)),)), 1
)

_KEYS = (
    ConsumerGroupMetadataKey("g"),
    ShareGroupMemberMetadataKey("g", "a"),
    StreamsGroupTopologyKey("g"),
    StreamsGroupCurrentMemberAssignmentKey("g", "a"),
)


def _rows(tmp_path: Path, *batches: tuple[int, Sequence[tuple[Message, Message | None]]]) -> list[Row]:
    written = [Written(at, tuple((key, value, _version(value)) for key, value in records)) for at, records in batches]
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, written)
    return history("group_history", tmp_path)


def _version(value: Message | None) -> int:
    return 0 if value is None else value.VERSIONS.stop - 1


def _classic(
    generation: int, *members: str, subscription: bytes = _SUBSCRIPTION, protocol_type: str = "consumer"
) -> tuple[Message, Message]:
    listed = tuple(
        GroupMetadataValue.MemberMetadata(
            member, None, f"client-{member}", "/10.0.0.1", 1, 1, subscription, _ASSIGNMENT
        )
        for member in members
    )
    leader = members[0] if members else None
    value = GroupMetadataValue(protocol_type, generation, "range" if members else None, leader, 0, listed)
    return GroupMetadataKey("g"), value


def test_classic_group(tmp_path: Path) -> None:
    rows = _rows(
        tmp_path,
        (1000, [_classic(0)]),
        (2000, [_classic(1, "a")]),
        (3000, [_classic(2, "a", "b")]),
        (4000, [_classic(3)]),
        (5000, [(GroupMetadataKey("g"), None)]),
    )
    names = ("epoch", "member_id", "valid_from", "valid_to")
    assert sorted((tuple(row[name] for name in names) for row in rows), key=str) == [
        (0, None, time(1000), time(2000)),
        (1, "a", time(2000), time(3000)),
        (2, "a", time(3000), time(4000)),
        (2, "b", time(3000), time(4000)),
        (3, None, time(4000), time(5000)),
    ]
    member = next(row for row in rows if row["member_id"] == "b")
    shown = {name: member[name] for name in ("group_id", "kind", "protocol", "leader", "client_id", "client_host")}
    assert shown == {
        "group_id": "g",
        "kind": "classic",
        "protocol": "range",
        "leader": "a",
        "client_id": "client-b",
        "client_host": "/10.0.0.1",
    }
    assert member["topics"] == ["billing", "orders"]
    assert member["assignment"] == [
        {"topic": "orders", "topic_id": None, "subtopology_id": None, "role": None, "partitions": [0, 2]}
    ]
    assert (member["log_offset"], member["append_time"], member["_error"]) == (2, time(3000), None)


def test_bytes_that_do_not_fit_the_protocol_are_reported(tmp_path: Path) -> None:
    accounts = Accounts()
    (row,) = _rows(tmp_path, (1000, [_classic(1, "a", subscription=b"\0\0\xff")]))
    assert (row["member_id"], row["topics"], row["_error"]) == ("a", None, "decode_error")
    history("group_history", tmp_path, accounts=accounts)
    assert accounts.errors == {"decode_error": 1}
    assert history("group_history", tmp_path, options=ReadOptions(mode=ReadMode.DROPMALFORMED)) == []


def test_bytes_of_other_protocols_are_left_alone(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path, (1000, [_classic(1, "a", subscription=b"\xff", protocol_type="connect")]))
    assert (row["member_id"], row["topics"], row["assignment"], row["_error"]) == ("a", None, None, None)


def _joined(member: str, regex: str | None = None) -> tuple[Message, Message]:
    value = ConsumerGroupMemberMetadataValue(
        instance_id="static", client_id="c", client_host="/10.0.0.1", subscribed_topic_names=("orders",),
        subscribed_topic_regex=regex, server_assignor="uniform",
    )  # fmt: skip
    return ConsumerGroupMemberMetadataKey("g", member), value


def _epoch(number: int) -> tuple[Message, Message]:
    return ConsumerGroupMetadataKey("g"), ConsumerGroupMetadataValue(number)


def _assigned(member: str, *partitions: int) -> tuple[Message, Message]:
    part = ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions(_TOPIC_ID, partitions)
    value = ConsumerGroupCurrentMemberAssignmentValue(assigned_partitions=(part,))
    return ConsumerGroupCurrentMemberAssignmentKey("g", member), value


def _gone(member: str) -> list[tuple[Message, None]]:
    return [
        (ConsumerGroupCurrentMemberAssignmentKey("g", member), None),
        (ConsumerGroupMemberMetadataKey("g", member), None),
    ]


def test_consumer_group(tmp_path: Path) -> None:
    """What is written at once is one change."""
    rows = _rows(
        tmp_path,
        (1000, [_joined("a"), _epoch(1), _assigned("a", 0, 1)]),
        (2000, [_joined("b"), _epoch(2)]),
        (3000, [_assigned("a", 0)]),
        (4000, [_assigned("b", 1)]),
        (5000, [*_gone("a"), _epoch(3)]),
        (6000, [*_gone("b"), _epoch(4)]),
        (7000, [(ConsumerGroupMetadataKey("g"), None)]),
    )
    said = sorted(
        (
            row["valid_from"],
            row["valid_to"],
            row["epoch"],
            row["member_id"],
            [part["partitions"] for part in row["assignment"] or ()],
        )
        for row in rows
        if row["member_id"] is not None
    )
    assert said == [
        (time(1000), time(2000), 1, "a", [[0, 1]]),
        (time(2000), time(3000), 2, "a", [[0, 1]]),
        (time(2000), time(4000), 2, "b", []),
        (time(3000), time(5000), 2, "a", [[0]]),
        (time(4000), time(5000), 2, "b", [[1]]),
        (time(5000), time(6000), 3, "b", [[1]]),
    ]
    (empty,) = (row for row in rows if row["member_id"] is None)
    assert (empty["epoch"], empty["valid_from"], empty["valid_to"]) == (4, time(6000), time(7000))
    first = next(row for row in rows if row["member_id"] == "a")
    assert (first["kind"], first["protocol"], first["instance_id"]) == ("consumer", "uniform", "static")
    assert first["topics"] == ["orders"]
    assert first["assignment"][0]["topic_id"] == str(_TOPIC_ID)


def test_a_regular_expression_replaces_topics(tmp_path: Path) -> None:
    resolved = ConsumerGroupRegularExpressionValue(("bills", "books"))
    rows = _rows(
        tmp_path,
        (1000, [_joined("a", "b.*"), _epoch(1)]),
        (2000, [(ConsumerGroupRegularExpressionKey("g", "b.*"), resolved)]),
    )
    assert [row["topics"] for row in rows] == [["orders"], ["orders", "bills", "books"]]


def test_streams_group(tmp_path: Path) -> None:
    tasks = StreamsGroupCurrentMemberAssignmentValue.TaskIds
    assignment = StreamsGroupCurrentMemberAssignmentValue(
        active_tasks=(tasks("0", (0, 1)),), standby_tasks=(tasks("1", (2,)),)
    )
    topology = StreamsGroupTopologyValue(1, (StreamsGroupTopologyValue.Subtopology("0", ("orders",)),))
    metadata = StreamsGroupMemberMetadataValue(client_id="c", client_host="/10.0.0.1", process_id="p")
    (row,) = _rows(
        tmp_path,
        (
            1000,
            [
                (StreamsGroupMemberMetadataKey("g", "a"), metadata),
                (StreamsGroupMetadataKey("g"), StreamsGroupMetadataValue(1)),
                (StreamsGroupTopologyKey("g"), topology),
                (StreamsGroupCurrentMemberAssignmentKey("g", "a"), assignment),
            ],
        ),
    )
    assert (row["kind"], row["epoch"], row["topics"]) == ("streams", 1, ["orders"])
    assert [(part["subtopology_id"], part["role"], part["partitions"]) for part in row["assignment"]] == [
        ("0", "active", [0, 1]),
        ("1", "standby", [2]),
    ]


def test_a_group_changes_its_kind(tmp_path: Path) -> None:
    rows = _rows(
        tmp_path,
        (1000, [_classic(1)]),
        (2000, [(GroupMetadataKey("g"), None), _joined("a"), _epoch(2)]),
        (3000, [*_gone("a"), (ConsumerGroupMetadataKey("g"), None), _classic(1)]),
    )
    assert [(row["kind"], row["member_id"], row["valid_to"]) for row in rows] == [
        ("classic", None, time(2000)),
        ("consumer", "a", time(3000)),
        ("classic", None, None),
    ]


def test_tombstones_of_unknown_groups_add_nothing(tmp_path: Path) -> None:
    assert (
        _rows(tmp_path, (1000, [(GroupMetadataKey("g"), None), *_gone("a"), (ConsumerGroupMetadataKey("g"), None)]))
        == []
    )


def test_tombstones_of_topologies_and_expressions(tmp_path: Path) -> None:
    """A tombstone removes the resolved topics; a tombstone of an unknown key changes nothing."""
    resolved = ConsumerGroupRegularExpressionValue(("bills",))
    expression, topology = ConsumerGroupRegularExpressionKey("g", "b.*"), StreamsGroupTopologyKey("s")
    source = StreamsGroupTopologyValue(1, (StreamsGroupTopologyValue.Subtopology("0", ("orders",)),))
    metadata = StreamsGroupMemberMetadataValue(client_id="c", client_host="/10.0.0.1", process_id="p")
    streams = (StreamsGroupMemberMetadataKey("s", "a"), metadata)
    rows = _rows(
        tmp_path,
        (1000, [(expression, None), (topology, None)]),
        (2000, [_joined("a", "b.*"), (expression, resolved), streams, (topology, source)]),
        (3000, [(expression, None), (topology, None)]),
    )
    assert [(row["kind"], row["topics"]) for row in rows] == [
        ("consumer", ["orders", "bills"]),
        ("streams", ["orders"]),
        ("consumer", ["orders"]),
        ("streams", None),
    ]


def test_the_tombstone_of_an_assignment(tmp_path: Path) -> None:
    rows = _rows(
        tmp_path,
        (1000, [_joined("a"), _assigned("a", 0)]),
        (2000, [(ConsumerGroupCurrentMemberAssignmentKey("g", "a"), None)]),
    )
    assert [row["assignment"] is None for row in rows] == [False, True]


@pytest.mark.parametrize("key", [GroupMetadataKey("g"), *_KEYS], ids=lambda key: key.NAME)
def test_the_row_of_a_newer_value_names_its_group(tmp_path: Path, key: Message) -> None:
    encoded, _ = encode_coordinator_record("__consumer_offsets", key, None)
    record = Record(timestamp=1000, key=encoded, value=(99).to_bytes(2, "big"))
    write_batches(tmp_path / OFFSETS_LOG, 0, [encode_batch([record], base_offset=0)])
    (row,) = history("group_history", tmp_path)
    assert (row["group_id"], row["_error"], row["kind"]) == ("g", "unsupported_version", None)
    assert row["valid_from"] == row["valid_to"] == time(1000)
    assert row["_corrupt_record"] == b"\0\x63"


def test_lost_batch_is_a_row(tmp_path: Path) -> None:
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, [Written(1000, ((*_epoch(1), 0),))])
    path = tmp_path / OFFSETS_LOG / f"{0:020d}.log"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    (row,) = history("group_history", tmp_path)
    assert (row["_error"], row["group_id"], row["valid_from"]) == ("bad_crc", None, None)


def test_records_from_the_high_watermark_on_are_left_out(tmp_path: Path) -> None:
    batches = [Written(1000 * at, ((*_epoch(at), 0), (*_epoch(at + 10), 0))) for at in (1, 2)]
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, batches)
    for high_watermark, epochs in ((1, [1]), (2, [11]), (3, [11, 2]), (4, [11, 12])):
        rows = history("group_history", tmp_path, options=ReadOptions(high_watermark=high_watermark))
        assert [row["epoch"] for row in rows] == epochs


def test_members_of_the_real_groups_match_their_records() -> None:
    """Every member of a classic group in a record, and every metadata record of the new protocols, has its row."""
    rows = history("group_history", _LOGS)
    told = {(row["group_id"], row["member_id"]) for row in rows if row["member_id"] is not None}
    expected: set[tuple[str, str]] = set()
    for log in ("__consumer_offsets-0", "__consumer_offsets-1"):
        for key, data in _dumped(log):
            if key["type"] == "2" and data is not None:
                expected |= {(key["data"]["group"], member["memberId"]) for member in data["members"]}
            elif key["type"] in {"5", "10"}:
                expected.add((key["data"]["groupId"], key["data"]["memberId"]))
    assert told == expected
    assert len(told) == 12
    assert all(row["valid_to"] and row["assignment"] is not None for row in rows if row["member_id"] is not None)
    (regex,) = {tuple(row["topics"]) for row in rows if row["group_id"] == "grp-regex" and row["topics"]}
    assert regex == ("orders.commands", "orders.events", "payments.commands", "payments.events")
    kinds = {row["group_id"]: row["kind"] for row in still_open(rows)}
    assert (kinds["grp-migrated"], kinds["grp-kip848-0"], kinds["share-0"]) == ("classic", "consumer", "share")
    assert [row["kind"] for row in rows if row["group_id"] == "grp-migrated" and row["member_id"]] == [
        "classic", "consumer", "classic",
    ]  # fmt: skip
    assert {row["_error"] for row in rows} == {None}


def _dumped(log: str) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    found = []
    for batch in parse_dump((FIXTURES / "dumps" / f"{log}.{0:020d}.log.txt").read_text()):
        for record in () if batch.control else batch.records:
            key, _, payload = record.rest.removeprefix("key: ").partition(" payload: ")
            data = None if payload == "<DELETE>" else msgspec.json.decode(payload)["data"]
            found.append((msgspec.json.decode(key), data))
    return found
