"""Members of consumer groups move with the data directory to Apache Kafka and back, without a rebalance."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace
from tests.apache_kafka.connection import Connection, connected_to
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.handed_over import kafka_on

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.logs import read_table
from kafkawire.protocol import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.records.consumer_protocol import encode_assignment, encode_subscription

pytestmark = [pytest.mark.interop, pytest.mark.extended]

PROPERTIES: Final = {"group.consumer.assignment.interval.ms": "0", "offsets.topic.num.partitions": "1"}
OFFSETS: Final = "__consumer_offsets-0/00000000000000000000.log"
MEMBERS: Final = ("member-a", "member-b")


def beat(client: Connection, member_id: str, epoch: int, *, full: bool = False) -> ConsumerGroupHeartbeatResponse:
    """A heartbeat that both brokers accept."""
    request = ConsumerGroupHeartbeatRequest("g", member_id, epoch)
    if full or not epoch:
        request = replace(request, rebalance_timeout_ms=60_000, subscribed_topic_names=("orders",), topic_partitions=())
    answer = eventually(
        lambda: client.ask(request, 1, ConsumerGroupHeartbeatResponse),
        lambda each: each.error_code not in {14, 15, 16},
    )
    assert not answer.error_code, answer
    return answer


def described(client: Connection) -> ConsumerGroupDescribeResponse.DescribedGroup:
    request = ConsumerGroupDescribeRequest(("g",))
    answer = eventually(
        lambda: client.ask(request, 1, ConsumerGroupDescribeResponse), lambda each: not each.groups[0].error_code
    )
    group = answer.groups[0]
    return replace(group, members=tuple(sorted(group.members, key=lambda member: member.member_id)))


def settle(client: Connection) -> int:
    """Let the members come to their targets; returns the epoch of the group."""
    for _ in range(3):
        for member in described(client).members:
            beat(client, member.member_id, member.member_epoch, full=True)
    group = described(client)
    assert group.group_state == "Stable", group
    return group.group_epoch


def test_members_move_to_apache_kafka_and_back(tmp_path: Path, kafka_dump_log: DumpLog) -> None:
    data = tmp_path / "data"
    with ThreadedBroker(PROPERTIES, data_dir=data) as broker, connected_to(broker.host, broker.port) as client:
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("orders", 4)]).all()
        for member_id in MEMBERS:
            beat(client, member_id, 0)
        epoch = settle(client)
        seen = described(client)
    assert sorted(len(member.assignment.topic_partitions[0].partitions) for member in seen.members) == [2, 2]
    dumped = kafka_dump_log(data / OFFSETS, "--offsets-decoder")
    for kind in ("3", "5", "6", "7", "8"):
        assert f'"type":"{kind}"' in dumped, kind
    with kafka_on(data, tmp_path / "kafka") as kafka:
        host, _, port = kafka.address.rpartition(":")
        with connected_to(host, int(port)) as client:
            assert described(client) == seen
            for member in seen.members:
                assert beat(client, member.member_id, member.member_epoch).member_epoch == member.member_epoch
            assert described(client) == seen, "the hash of the topics is Kafka's, so that no epoch begins"
            beat(client, "member-c", 0)
            epoch_of_kafka = settle(client)
            assert epoch_of_kafka > epoch
            seen = described(client)
    with ThreadedBroker(PROPERTIES, data_dir=data) as broker, connected_to(broker.host, broker.port) as client:
        assert described(client) == seen
        for member in seen.members:
            assert beat(client, member.member_id, member.member_epoch).member_epoch == member.member_epoch
        assert described(client) == seen
    rows = [row for batch in read_table("group_history", data) for row in batch.to_pylist()]
    assert {row["member_id"] for row in rows} >= {*MEMBERS, "member-c"}


SUBSCRIPTION: Final = encode_subscription(ConsumerProtocolSubscription(("orders",)), 1)
ALL: Final = encode_assignment(
    ConsumerProtocolAssignment((ConsumerProtocolAssignment.TopicPartition("orders", (0, 1, 2, 3)),)), 1
)


def join(client: Connection, member_id: str) -> JoinGroupResponse:
    """Join with the classic protocol, and sync."""
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", SUBSCRIPTION),)
    request = JoinGroupRequest("g", 60_000, 60_000, member_id, None, "consumer", protocols)
    joined = client.ask(request, 9, JoinGroupResponse)
    if joined.error_code == 79:
        return join(client, joined.member_id)
    assert not joined.error_code, joined
    given = (SyncGroupRequest.SyncGroupRequestAssignment(joined.member_id, ALL),) if joined.leader else ()
    names = ("consumer", "range")
    sync = SyncGroupRequest("g", joined.generation_id, joined.member_id, None, *names, given)
    assert not client.ask(sync, 5, SyncGroupResponse).error_code
    return joined


def is_alive(client: Connection, member: JoinGroupResponse) -> bool:
    """Whether a classic member can go on as it is."""
    request = HeartbeatRequest("g", member.generation_id, member.member_id)
    return not client.ask(request, 4, HeartbeatResponse).error_code


def test_members_of_both_protocols_move_to_apache_kafka_and_back(tmp_path: Path, kafka_dump_log: DumpLog) -> None:
    """Kafka goes on with a group that was upgraded here, and the broker with the classic one that Kafka makes of it."""
    data = tmp_path / "data"
    with ThreadedBroker(PROPERTIES, data_dir=data) as broker, connected_to(broker.host, broker.port) as client:
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("orders", 4)]).all()
        old = join(client, "")
        beat(client, "member-a", 0)
        old = join(client, old.member_id)
        beat(client, "member-a", described(client).group_epoch)
        assert is_alive(client, old)
        seen = described(client)
        assert sorted(member.member_type for member in seen.members) == [0, 1]
        assert seen.group_state == "Stable"
    dumped = kafka_dump_log(data / OFFSETS, "--offsets-decoder")
    assert '"classicMemberMetadata":{"sessionTimeoutMs":60000,"supportedProtocols":[{"name":"range"' in dumped
    with kafka_on(data, tmp_path / "kafka") as kafka:
        host, _, port = kafka.address.rpartition(":")
        with connected_to(host, int(port)) as client:
            assert described(client) == seen
            assert is_alive(client, old)
            beat(client, "member-a", -1)
            assert not is_alive(client, old)
            old = join(client, old.member_id)
            classic = client.ask(DescribeGroupsRequest(("g",)), 5, DescribeGroupsResponse)
    with ThreadedBroker(PROPERTIES, data_dir=data) as broker, connected_to(broker.host, broker.port) as client:
        assert client.ask(DescribeGroupsRequest(("g",)), 5, DescribeGroupsResponse) == classic
        assert classic.groups[0].members[0].member_assignment == ALL
        assert is_alive(client, old)
        beat(client, "member-b", 0)
        assert described(client).group_epoch == old.generation_id + 1
        beat(client, "member-b", -1)
        seen_again = client.ask(DescribeGroupsRequest(("g",)), 5, DescribeGroupsResponse)
    with kafka_on(data, tmp_path / "kafka again") as kafka:
        host, _, port = kafka.address.rpartition(":")
        with connected_to(host, int(port)) as client:
            found = eventually(
                lambda: client.ask(DescribeGroupsRequest(("g",)), 5, DescribeGroupsResponse),
                lambda answer: not answer.groups[0].error_code,
            )
            assert [each.member_id for each in found.groups[0].members] == [old.member_id]
            assert seen_again.groups[0].group_state == "PreparingRebalance"
            assert join(client, old.member_id).generation_id > old.generation_id + 1
