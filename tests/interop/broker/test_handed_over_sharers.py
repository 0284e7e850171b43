"""Share groups move with the data directory to Apache Kafka and back, with their epochs and what they have accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace
from tests.apache_kafka.connection import Connection, connected_to
from tests.apache_kafka.console_share_consumer import console_share_consumer
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.handed_over import kafka_on

from kafkawire.admin import BlockingAdminClient, ConfigChange, ConfigResource, NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.logs import read_table
from kafkawire.protocol import (
    ProduceRequest,
    ProduceResponse,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from kafkawire.wire.batches import Record, encode_batch

pytestmark = [pytest.mark.interop, pytest.mark.extended]

PROPERTIES: Final = {"group.share.assignment.interval.ms": "0", "offsets.topic.num.partitions": "1"}
SOON: Final = {
    **PROPERTIES,
    "group.share.heartbeat.interval.ms": "100",
    "group.share.min.heartbeat.interval.ms": "100",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
OFFSETS: Final = "__consumer_offsets-0/00000000000000000000.log"
MEMBERS: Final = ("member-a", "member-b")


def beat(client: Connection, member_id: str, epoch: int) -> ShareGroupHeartbeatResponse:
    """A heartbeat that both brokers accept."""
    request = ShareGroupHeartbeatRequest("g", member_id, epoch, None, None if epoch else ("orders",))
    answer = eventually(
        lambda: client.ask(request, 1, ShareGroupHeartbeatResponse),
        lambda each: each.error_code not in {14, 15, 16},
    )
    assert not answer.error_code, answer
    return answer


def described(client: Connection) -> ShareGroupDescribeResponse.DescribedGroup:
    request = ShareGroupDescribeRequest(("g",))
    answer = eventually(
        lambda: client.ask(request, 1, ShareGroupDescribeResponse), lambda each: not each.groups[0].error_code
    )
    group = answer.groups[0]
    return replace(group, members=tuple(sorted(group.members, key=lambda member: member.member_id)))


def settle(client: Connection) -> ShareGroupDescribeResponse.DescribedGroup:
    """Let the members come to the epoch of the group."""
    for _ in range(3):
        for member in described(client).members:
            beat(client, member.member_id, member.member_epoch)
    group = described(client)
    assert {member.member_epoch for member in group.members} == {group.group_epoch}
    return group


def test_members_move_to_apache_kafka_and_back(tmp_path: Path, kafka_dump_log: DumpLog) -> None:
    data = tmp_path / "data"
    with ThreadedBroker(PROPERTIES, data_dir=data) as broker, connected_to(broker.host, broker.port) as client:
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("orders", 4)]).all()
        for member_id in MEMBERS:
            beat(client, member_id, 0)
        seen = settle(client)
    assert [len(member.assignment.topic_partitions[0].partitions) for member in seen.members] == [2, 2]
    dumped = kafka_dump_log(data / OFFSETS, "--offsets-decoder")
    for kind in range(10, 16):
        assert f'"type":"{kind}"' in dumped, kind
    with kafka_on(data, tmp_path / "kafka") as kafka:
        host, _, port = kafka.address.rpartition(":")
        with connected_to(host, int(port)) as client:
            assert described(client) == seen
            for member in seen.members:
                assert beat(client, member.member_id, member.member_epoch).member_epoch == member.member_epoch
            assert described(client) == seen, "the hash of the topics is Kafka's, so that no epoch begins"
            beat(client, "member-c", 0)
            settled = settle(client)
            assert settled.group_epoch > seen.group_epoch
            seen = settled
    with ThreadedBroker(PROPERTIES, data_dir=data) as broker, connected_to(broker.host, broker.port) as client:
        assert described(client) == seen
        for member in seen.members:
            assert beat(client, member.member_id, member.member_epoch).member_epoch == member.member_epoch
        assert described(client) == seen
    rows = [row for batch in read_table("group_history", data) for row in batch.to_pylist()]
    assert {row["member_id"] for row in rows} >= {*MEMBERS, "member-c"}


def test_accepted_records_move_to_apache_kafka_and_back(tmp_path: Path) -> None:
    """A third of the records is accepted at each, and what was released comes again at the next."""
    data, numbers = tmp_path / "data", list(range(30))
    with ThreadedBroker(SOON, data_dir=data, topics=["orders"]) as broker:
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            earliest = [ConfigChange.set("share.auto.offset.reset", "earliest")]
            admin.incremental_alter_configs({ConfigResource.group("g"): earliest}).all()
        with connected_to(broker.host, broker.port) as client:
            for number in numbers:
                produce(client, "orders", number)
        assert console_share_consumer(broker.bootstrap_servers, "orders", "g", most=10) == numbers[:10]
        released = console_share_consumer(broker.bootstrap_servers, "orders", "g", "--release", most=5)
        assert released == numbers[10:15]
    with kafka_on(data, tmp_path / "kafka", properties=SOON) as kafka:
        assert console_share_consumer(kafka.address, "orders", "g", most=10) == numbers[10:20]
    with ThreadedBroker(SOON, data_dir=data) as broker:
        assert console_share_consumer(broker.bootstrap_servers, "orders", "g", most=20) == numbers[20:]


def produce(client: Connection, topic: str, number: int) -> None:
    partition = ProduceRequest.PartitionProduceData(0, encode_batch([Record(value=b"%d" % number)]))
    data = (ProduceRequest.TopicProduceData(topic, partition_data=(partition,)),)
    answer = client.ask(ProduceRequest(acks=-1, topic_data=data), 9, ProduceResponse)
    assert not answer.responses[0].partition_responses[0].error_code, answer
