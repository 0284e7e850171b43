"""The last states in the logs of a real broker's coordinators equal what Java's Admin describes."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from tests.apache_kafka.connection import connected_to
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.java_admin import JavaAdmin, JavaAdminClient
from tests.apache_kafka.java_answers import Partition
from tests.apache_kafka.node import HOST
from tests.apache_kafka.releases import broker_release_parameters, is_at_least, offers_feature
from tests.interop.logs.test_histories import FEATURES, Running, check, kafka, read
from tests.kafka_logs.histories import Row, still_open

from kafkawire.admin import BlockingAdminClient, ConfigChange, ConfigOperation, ConfigResource, NewTopic
from kafkawire.protocol import FindCoordinatorRequest, FindCoordinatorResponse
from kafkawire.protocol.error_codes import ErrorCode

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore::ResourceWarning"), pytest.mark.extended]

_RECORDS = Partition("records", 0)
_LATEST = -1


@pytest.fixture(scope="module", params=broker_release_parameters())
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    release: str = request.param
    with kafka(release, tmp_path_factory.mktemp(f"coordinators-{release}"), {}) as made:
        with BlockingAdminClient(made.address) as admin:
            admin.create_topics([NewTopic(_RECORDS.topic, 1, 1)]).all()
            admin.wait_for_topics([_RECORDS.topic])
        yield made


@pytest.fixture(scope="module")
def java(running: Running, java_admin: JavaAdmin) -> JavaAdminClient:
    return java_admin.client(running.address)


def in_java(state: str) -> str:
    """The name in Java's enumeration."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", state).upper()


def test_transactions(running: Running, java: JavaAdminClient) -> None:
    """Committed, aborted and open ones, before and after they end."""
    ids = ("committed", "aborted", "several", "open")

    def described() -> object:
        return {
            (
                *(each.transactional_id, each.state, each.producer_id, each.producer_epoch, each.timeout_ms),
                each.start_timestamp if each.state == "ONGOING" else None,
                frozenset((partition.topic, partition.partition) for partition in each.partitions),
            )
            for each in java.describe_transactions([listed.transactional_id for listed in java.list_transactions()])
        }

    def described_rows(rows: list[Row]) -> object:
        return {
            (
                *(row["transactional_id"], in_java(row["state"])),
                *(row[name] for name in ("producer_id", "producer_epoch", "timeout_ms")),
                int(row["start_time"].timestamp() * 1000) if row["state"] == "Ongoing" else None,
                frozenset((each["topic"], number) for each in row["partitions"] or () for number in each["partitions"]),
            )
            for row in rows
        }

    with java.open_transaction("committed", _RECORDS):
        check(running, "transaction_history", described, described_rows)
    with java.open_transaction("aborted", _RECORDS, commit=False):
        pass
    for _ in range(3):
        with java.open_transaction("several", _RECORDS):
            pass
    with java.open_transaction("open", _RECORDS):
        check(running, "transaction_history", described, described_rows)
        rows = read(running, "transaction_history")
    assert {row["transactional_id"] for row in rows} == set(ids)
    ends = [(row["transactional_id"], row["state"]) for row in rows if row["state"].startswith("Complete")]
    assert sorted(ends) == [
        ("aborted", "CompleteAbort"),
        ("committed", "CompleteCommit"),
        *[("several", "CompleteCommit")] * 3,
    ]
    for row in rows:
        if row["state"].startswith("Prepare"):
            assert row["partitions"] == [{"topic": _RECORDS.topic, "partitions": [0]}]
            assert row["start_time"] <= row["valid_from"] <= row["valid_to"]


def await_share_coordinator(running: Running, key: str) -> None:
    """Wait until there is a coordinator for a share partition: the first request for one makes the topic of its states.

    A group coordinator that asks too early asks again after 1, 2, 4, 8 and 16 seconds.
    """
    request = FindCoordinatorRequest(key_type=2, coordinator_keys=(key,))
    with connected_to(HOST, running.port) as connection:
        eventually(
            lambda: connection.ask(request, 6, FindCoordinatorResponse).coordinators[0],
            lambda coordinator: coordinator.error_code == ErrorCode.NONE,
        )


def test_share_groups(running: Running, java: JavaAdminClient) -> None:
    if not offers_feature(running.node.release, FEATURES["share"]):
        pytest.skip(f"the broker of {running.node.release} has no share groups")
    says_lag = is_at_least(running.node.release, "4.2")
    with BlockingAdminClient(running.address) as admin:
        earliest = [ConfigChange("share.auto.offset.reset", ConfigOperation.SET, "earliest")]
        admin.incremental_alter_configs({ConfigResource.group("sharing"): earliest}).all()
        topic_id = str(admin.describe_topics([_RECORDS.topic]).all()[_RECORDS.topic].topic_id)

    await_share_coordinator(running, f"sharing:{topic_id}:0")
    with java.member("sharing", [_RECORDS.topic], "share"):
        for round_ in range(2):
            end = java.produce(_RECORDS, [str(number) for number in range(50)]) + 1
            eventually(
                lambda: java.list_share_group_offsets("sharing"),
                lambda offsets: (
                    # Records of the first round that come in two batches may move the start already.
                    [(each.lag, each.start_offset > 0 or not round_) for each in offsets]  # noqa: B023
                    == [(0 if says_lag else None, True)]
                ),
            )
            check(
                running,
                "share_group_history",
                lambda: [
                    (topic_id, 0, each.start_offset, each.leader_epoch, each.lag)
                    for each in java.list_share_group_offsets("sharing")
                ],
                lambda rows: [
                    (
                        *(row[name] for name in ("topic_id", "partition", "start_offset", "partition_leader_epoch")),
                        end - row["start_offset"] - row["delivery_complete_count"] if says_lag else None,  # noqa: B023
                    )
                    for row in rows
                ],
            )
    rows = read(running, "share_group_history")
    assert {(row["group_id"], row["topic_id"], row["partition"]) for row in rows} == {("sharing", topic_id, 0)}
    starts = [row["start_offset"] for row in rows if row["start_offset"] is not None]
    assert starts == sorted(starts)
    for row in rows:
        if row["delivery_complete_count"]:
            assert row["delivery_complete_count"] == row["acknowledged"] + row["archived"]


@pytest.mark.parametrize("timestamp_type", ["LogAppendTime", "CreateTime"])
def test_lag(running: Running, java: JavaAdminClient, timestamp_type: str) -> None:
    """The lag at each commit is what the brokers said then."""
    topic = f"lag-{timestamp_type}"
    partitions = [Partition(topic, number) for number in (0, 1)]
    expected: list[tuple[int, int, int]] = []
    with BlockingAdminClient(running.address) as admin:
        admin.create_topics([NewTopic(topic, 2, 1, configs={"message.timestamp.type": timestamp_type})]).all()
        admin.wait_for_topics([topic])
        for number, partition in enumerate(partitions * 3):
            java.produce(partition, [str(each) for each in range(5 + number)])
            (end,) = java.list_offsets([partition], _LATEST)
            java.alter_group_offset(topic, partition, end.offset - number)
            time.sleep(0.01)  # the times of the log are whole milliseconds
            expected.append((partition.partition, end.offset, number))
        java.produce(partitions[0], ["last"])
    rows = [row for row in read(running, "lag_history") if row["group_id"] == topic]
    in_order = sorted(rows, key=lambda row: row["valid_from"])
    assert [(row["partition"], row["end_offset"], row["lag"]) for row in in_order] == expected
    assert {row["timestamp_type"] for row in rows} == {timestamp_type}
    described = java.list_offsets(partitions, _LATEST)
    still = {(row["partition"], row["last_end_offset"]) for row in still_open(rows)}
    assert still == {(each.partition.partition, each.offset) for each in described}
