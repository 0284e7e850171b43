"""The intervals of the real logs equal those of a simple replay of kafka-dump-log's output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from tests.kafka_logs.dumps import FIXTURES, parse_dump
from tests.kafka_logs.histories import Row, history, time

_LOGS = FIXTURES / "logs"


class _Dumped(NamedTuple):
    offset: int
    timestamp: int
    type: str
    data: dict[str, Any]


def _metadata() -> Iterator[_Dumped]:
    for path in sorted((FIXTURES / "dumps").glob("__cluster_metadata-0.*.log.txt")):
        for batch in parse_dump(path.read_text()):
            for record in batch.records:
                _, _, text = record.rest.partition("payload: ")
                if text:
                    content = msgspec.json.decode(text)
                    yield _Dumped(record.offset, record.timestamp, content["type"], content["data"])


def test_acls() -> None:
    added = {each.data["id"]: each for each in _metadata() if each.type == "ACCESS_CONTROL_ENTRY_RECORD"}
    removed = {each.data["id"]: each for each in _metadata() if each.type == "REMOVE_ACCESS_CONTROL_ENTRY_RECORD"}
    rows = history("acl_history", _LOGS)
    assert len(rows) == len(added) == 39
    assert len(removed) == 5
    for row in rows:
        begin, end = added[row["acl_id"]], removed.get(row["acl_id"])
        assert row == {
            "cluster": None,
            "acl_id": begin.data["id"],
            "principal": begin.data["principal"],
            "host": begin.data["host"],
            "resource_type": row["resource_type"],
            "resource_type_code": begin.data["resourceType"],
            "resource_name": begin.data["resourceName"],
            "pattern_type": row["pattern_type"],
            "pattern_type_code": begin.data["patternType"],
            "operation": row["operation"],
            "operation_code": begin.data["operation"],
            "permission": row["permission"],
            "permission_code": begin.data["permissionType"],
            "valid_from": time(begin.timestamp),
            "valid_to": None if end is None else time(end.timestamp),
            "from_offset": begin.offset,
            "to_offset": None if end is None else end.offset,
            "added_by_snapshot": False,
        }


def test_quotas() -> None:
    expected: list[tuple[Any, ...]] = []
    last: dict[Any, list[Any]] = {}
    for each in _metadata():
        if each.type != "CLIENT_QUOTA_RECORD":
            continue
        named = {part["entityType"]: part["entityName"] or "<default>" for part in each.data["entity"]}
        key = (named.get("user"), named.get("client-id"), named.get("ip"), each.data["key"])
        if key in last and (each.data["remove"] or last[key][0] != each.data["value"]):
            value, since = last.pop(key)
            expected.append((*key, value, time(since), time(each.timestamp)))
        if not each.data["remove"]:
            last.setdefault(key, [each.data["value"], each.timestamp])
    expected += [(*key, value, time(since), None) for key, (value, since) in last.items()]
    names = ("user", "client_id", "ip", "key", "value", "valid_from", "valid_to")
    ours = [tuple(row[name] for name in names) for row in history("quota_history", _LOGS)]
    assert sorted(ours, key=str) == sorted(expected, key=str)
    assert len(ours) == 46


def test_topics() -> None:
    names = {each.data["topicId"]: each for each in _metadata() if each.type == "TOPIC_RECORD"}
    gone = {each.data["topicId"]: each for each in _metadata() if each.type == "REMOVE_TOPIC_RECORD"}
    partitions = [each.data["topicId"] for each in _metadata() if each.type == "PARTITION_RECORD"]
    rows = history("topic_history", _LOGS)
    assert len(rows) == len(names) == 19
    for row in rows:
        begin, end = names[row["topic_id"]], gone.get(row["topic_id"])
        assert row["name"] == begin.data["name"]
        assert row["partitions"] == partitions.count(row["topic_id"])
        assert row["created_at"] == row["valid_from"] == time(begin.timestamp)
        assert row["deleted_at"] == row["valid_to"] == (None if end is None else time(end.timestamp))
    assert sorted(row["name"] for row in rows).count("clickstream.events") == 2  # it was created again with a new id


def test_configs() -> None:
    expected: list[tuple[Any, ...]] = []
    last: dict[tuple[int, str, str], list[Any]] = {}
    topics: dict[str, str] = {}

    def end(key: tuple[int, str, str], timestamp: int) -> None:
        value, since = last.pop(key)
        expected.append((*key, value, time(since), time(timestamp)))

    for each in _metadata():
        if each.type == "TOPIC_RECORD":
            topics[each.data["topicId"]] = each.data["name"]
        elif each.type == "REMOVE_TOPIC_RECORD":
            for key in [key for key in last if key[:2] == (2, topics[each.data["topicId"]])]:
                end(key, each.timestamp)
        elif each.type == "CONFIG_RECORD":
            key = (each.data["resourceType"], each.data["resourceName"], each.data["name"])
            if key in last and last[key][0] != each.data["value"]:
                end(key, each.timestamp)
            last.setdefault(key, [each.data["value"], each.timestamp])
    expected += [(*key, value, time(since), None) for key, (value, since) in last.items()]
    names = ("resource_type_code", "resource_name", "name", "value", "valid_from", "valid_to")
    ours = [tuple(row[name] for name in names) for row in history("config_history", _LOGS)]
    shown = [row for row in expected if "jaas" not in row[2]]
    assert sorted((row for row in ours if "jaas" not in row[2]), key=str) == sorted(shown, key=str)
    assert len(ours) == len(expected) == 54
    assert [row[3] for row in ours if "jaas" in row[2]] == ["[hidden]"]


def test_offset_commits() -> None:
    """Every commit is a row, valid until the next commit or tombstone of its key."""
    for partition in (0, 1):
        log = f"__consumer_offsets-{partition}"
        rows = {row["log_offset"]: row for row in history("offset_commits", _LOGS / log)}
        assert rows.keys() == _expected_commits(log).keys()
        for offset, expected in _expected_commits(log).items():
            assert {name: rows[offset][name] for name in expected} == expected
        assert {row["file"] for row in rows.values()} == {str(_LOGS / log / "00000000000000000000.log")}


def _expected_commits(log: str) -> dict[int, Row]:
    expected: dict[int, Row] = {}
    last: dict[tuple[Any, ...], Row] = {}
    pending: dict[int, list[Row]] = {}

    def begin(row: Row, timestamp: int) -> None:
        key = (row["group_id"], row["topic"], row["partition"])
        if key in last:
            last[key]["valid_to"] = time(timestamp)
        row |= {"valid_from": time(timestamp), "valid_to": None}
        last[key] = row

    for batch in parse_dump((FIXTURES / "dumps" / f"{log}.{0:020d}.log.txt").read_text()):
        for record in batch.records:
            if batch.control:
                for row in pending.pop(batch.producer_id):
                    row["txn_outcome"] = "committed"
                    begin(row, record.timestamp)
                continue
            key_text, _, payload = record.rest.removeprefix("key: ").partition(" payload: ")
            key = msgspec.json.decode(key_text)
            if key["type"] != "1":
                continue
            data = None if payload == "<DELETE>" else msgspec.json.decode(payload)["data"]
            row = _row(key["data"], data, record.timestamp, batch.partition_leader_epoch, batch.position)
            expected[record.offset] = row
            if data is None:
                begin(row, record.timestamp)
                row["valid_to"] = row["valid_from"]
                del last[row["group_id"], row["topic"], row["partition"]]
            elif batch.transactional:
                row |= {"is_transactional": True, "txn_outcome": "open"}
                row |= {"valid_from": time(record.timestamp), "valid_to": time(record.timestamp)}
                pending.setdefault(batch.producer_id, []).append(row)
            else:
                begin(row, record.timestamp)
    return expected


def _row(key: dict[str, Any], data: dict[str, Any] | None, timestamp: int, epoch: int, position: int) -> Row:
    row: Row = {
        "group_id": key["group"],
        "topic": key["topic"],
        "partition": key["partition"],
        "committed_offset": None,
        "committed_leader_epoch": None,
        "metadata": None,
        "commit_time": None,
        "expire_time": None,
        "is_transactional": False,
        "txn_outcome": None,
        "tombstone": data is None,
        "valid_to": None,
        "append_time": time(timestamp),
        "leader_epoch": epoch,
        "batch_position": position,
        "_error": None,
    }
    if data is not None:
        row["committed_offset"] = data["offset"]
        row["committed_leader_epoch"] = None if data["leaderEpoch"] < 0 else data["leaderEpoch"]
        row["metadata"] = data["metadata"]
        row["commit_time"] = time(data["commitTimestamp"])
    return row
