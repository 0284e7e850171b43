"""The state at the end of the real logs equals what the Java Admin client read just before."""

from __future__ import annotations

import msgspec
import pytest
from tests.kafka_logs.dumps import FIXTURES
from tests.kafka_logs.histories import Row, history, still_open, time

from kafkawire.logs import ReadOptions

_LOGS = FIXTURES / "logs"


@pytest.fixture(scope="module")
def end_state() -> Row:
    return msgspec.json.decode((FIXTURES / "end-state.json").read_bytes(), type=dict)


def _chosen(row: Row, *names: str) -> Row:
    return {name: row[name] for name in names}


def _sorted(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: sorted((key, str(value)) for key, value in row.items()))


def test_acls(end_state: Row) -> None:
    names = ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation")
    ours = [
        {**_chosen(row, *names), "permission_type": row["permission"]}
        for row in still_open(history("acl_history", _LOGS))
    ]
    assert _sorted(ours) == _sorted(end_state["acls"])
    assert len(ours) == 34


def test_client_quotas(end_state: Row) -> None:
    ours = {
        (row["user"], row["client_id"], row["ip"], row["key"], row["value"])
        for row in still_open(history("quota_history", _LOGS))
    }
    theirs = set()
    for quota in end_state["client_quotas"]:
        entity = {kind: "<default>" if name is None else name for kind, name in quota["entity"].items()}
        for key, value in quota["values"].items():
            theirs.add((entity.get("user"), entity.get("client-id"), entity.get("ip"), key, value))
    assert ours == theirs
    assert len(ours) == 44


def test_topics(end_state: Row) -> None:
    ours = {
        row["name"]: (row["topic_id"], row["partitions"])
        for row in history("topic_history", _LOGS)
        if row["deleted_at"] is None
    }
    assert ours == {topic["name"]: (topic["topic_id"], len(topic["partitions"])) for topic in end_state["topics"]}
    assert len(ours) == 15


def test_configs(end_state: Row) -> None:
    ours = {
        (row["resource_type"], row["resource_name"], row["name"]): row["value"]
        for row in still_open(history("config_history", _LOGS))
        if row["value"] is not None
    }
    topics = {("TOPIC", each["topic"], each["name"]): each["value"] for each in end_state["topic_configs"]}
    others = {
        (each["resource_type"], each["resource_name"], each["name"]): "[hidden]" if each["sensitive"] else each["value"]
        for each in end_state["other_configs"]
        if not (each["resource_name"] and each["source"] == "DYNAMIC_DEFAULT_BROKER_CONFIG")
    }
    assert ours == topics | others
    assert len(ours) == 43


def test_groups(end_state: Row) -> None:
    """Groups that only commit offsets have no record of their own."""
    ours = {row["group_id"]: (row["kind"], row["member_id"]) for row in still_open(history("group_history", _LOGS))}
    theirs = {
        group["group_id"]: (group["type"].lower(), None) for group in end_state["groups"] if group["protocol_type"]
    }
    assert all(group["state"] == "Empty" for group in end_state["groups"])
    assert ours == theirs


def test_committed_offsets(end_state: Row) -> None:
    names = ("group_id", "topic", "partition", "metadata")
    ours = [
        {**_chosen(row, *names), "offset": row["committed_offset"], "leader_epoch": row["committed_leader_epoch"]}
        for row in still_open(history("offset_commits", _LOGS))
    ]
    assert _sorted(ours) == _sorted(end_state["committed_offsets"])
    assert len(ours) == len(end_state["committed_offsets"])


def test_scram_users(end_state: Row) -> None:
    ours = {
        (row["user"], row["mechanism"].replace("_", "-"), row["iterations"])
        for row in still_open(history("scram_history", _LOGS))
    }
    theirs = {
        (user["user"], each["mechanism"], each["iterations"])
        for user in end_state["scram_users"]
        for each in user["credentials"]
    }
    assert ours == theirs
    assert len(ours) > 5


def _then(name: str, end_state: Row) -> list[Row]:
    """The rows at the time of the answers: stopping the broker then changed partitions and its registration."""
    return history(name, _LOGS, options=ReadOptions(as_of=time(end_state["taken_at_ms"])))


def test_partitions(end_state: Row) -> None:
    ours = {
        (row["topic"], row["topic_id"], row["partition"], row["leader"], tuple(row["replicas"]), tuple(row["isr"]))
        for row in _then("partition_history", end_state)
    }
    theirs = {
        (
            topic["name"],
            topic["topic_id"],
            each["partition"],
            each["leader"],
            *map(tuple, (each["replicas"], each["isr"])),
        )
        for topic in end_state["topics"]
        for each in topic["partitions"]
    }
    assert ours == theirs
    assert len(ours) == 30


def test_partitions_of_a_broker_that_stopped_have_no_leader() -> None:
    rows = still_open(history("partition_history", _LOGS))
    assert {(row["leader"], tuple(row["isr"]), tuple(row["elr"])) for row in rows} == {(-1, (), (1,))}
    assert all(row["is_under_replicated"] for row in rows)


def test_brokers(end_state: Row) -> None:
    (broker,) = end_state["brokers"]
    (row,) = _then("broker_history", end_state)
    (plaintext,) = (each for each in row["endpoints"] if each["security_protocol"] == "PLAINTEXT")
    assert (row["broker_id"], row["rack"], row["fenced"]) == (broker["id"], broker["rack"], False)
    assert (plaintext["host"], plaintext["port"]) == (broker["host"], broker["port"])
    (stopped,) = still_open(history("broker_history", _LOGS))
    assert (stopped["fenced"], stopped["in_controlled_shutdown"]) == (True, True)


def test_controllers(end_state: Row) -> None:
    rows = _then("controller_history", end_state)
    assert [row["controller_id"] for row in rows] == end_state["quorum"]["voters"]


def test_features(end_state: Row) -> None:
    """The level of ``kraft.version`` is in control records."""
    ours = {row["name"]: row["level"] for row in _then("feature_history", end_state)}
    assert {**ours, "kraft.version": 1} == end_state["finalized_features"]


def test_delegation_tokens(end_state: Row) -> None:
    names = ("token_id", "owner", "requester", "renewers", "issued_at", "expires_at", "max_time")
    ours = [_chosen(row, *names) for row in _then("token_history", end_state)]
    theirs = [
        {
            **_chosen(token, "token_id", "owner", "requester", "renewers"),
            **{
                ours: time(token[name])
                for ours, name in zip(names[-3:], ("issue_ms", "expiry_ms", "max_ms"), strict=True)
            },
        }
        for token in end_state["delegation_tokens"]
    ]
    assert _sorted(ours) == _sorted(theirs)
    assert len(ours) == 2


def test_transactions(end_state: Row) -> None:
    names = ("transactional_id", "producer_id", "producer_epoch", "state", "timeout_ms")
    ours = [
        {
            **_chosen(row, *names),
            "start_time_ms": int(row["start_time"].timestamp() * 1000),
            "partitions": [f"{each['topic']}-{number}" for each in row["partitions"] for number in each["partitions"]],
        }
        for row in still_open(history("transaction_history", _LOGS))
    ]
    assert _sorted(ours) == _sorted(end_state["transactions"])
    assert len(ours) == 4
