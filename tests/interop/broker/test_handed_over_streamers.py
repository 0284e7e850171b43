"""Streams groups move with the data directory to Apache Kafka and back, with their epochs and tasks."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace
from tests.apache_kafka.connection import Connection, connected_to
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.handed_over import kafka_on
from tests.interop.broker.same_answers.streams_members import create
from tests.interop.broker.same_answers.talk import Side, Talk
from tests.interop.broker.same_answers.test_streams_groups import random_course

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.logs import read_table
from kafkawire.protocol import (
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)
from kafkawire.wire import Message
from kafkawire.wire.batches import decode_records, read_batches

pytestmark = [pytest.mark.interop, pytest.mark.extended]

PROPERTIES: Final = {
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.num.standby.replicas": "1",
    "offsets.topic.num.partitions": "1",
}
OFFSETS: Final = "__consumer_offsets-0/00000000000000000000.log"
MEMBERS: Final = ("member-a", "member-b")
KINDS: Final[Mapping[int, tuple[type[Message], type[Message]]]] = {
    17: (StreamsGroupMetadataKey, StreamsGroupMetadataValue),
    19: (StreamsGroupMemberMetadataKey, StreamsGroupMemberMetadataValue),
    20: (StreamsGroupTargetAssignmentMetadataKey, StreamsGroupTargetAssignmentMetadataValue),
    21: (StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue),
    22: (StreamsGroupCurrentMemberAssignmentKey, StreamsGroupCurrentMemberAssignmentValue),
    23: (StreamsGroupTopologyKey, StreamsGroupTopologyValue),
}
"""The kinds of records of streams groups, as keys begin with them, with the messages of keys and values."""

TaskIds = StreamsGroupHeartbeatRequest.TaskIds
Described = StreamsGroupDescribeResponse.DescribedGroup
CHANGELOG: Final = StreamsGroupHeartbeatRequest.TopicInfo("g-changes")
SUBTOPOLOGY: Final = StreamsGroupHeartbeatRequest.Subtopology("0", ("orders",), state_changelog_topics=(CHANGELOG,))
TOPOLOGY: Final = StreamsGroupHeartbeatRequest.Topology(0, (SUBTOPOLOGY,))


def send(client: Connection, request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse:
    """A heartbeat that both brokers accept."""
    answer = eventually(
        lambda: client.ask(request, 0, StreamsGroupHeartbeatResponse), lambda each: each.error_code not in {14, 15, 16}
    )
    assert not answer.error_code, answer
    return answer


def join(client: Connection, member_id: str) -> None:
    request = StreamsGroupHeartbeatRequest(
        "g", member_id, 0, -1, topology=TOPOLOGY, process_id=member_id, rebalance_timeout_ms=60_000,
        active_tasks=(), standby_tasks=(), warmup_tasks=(),
        client_tags=(StreamsGroupHeartbeatRequest.KeyValue("zone", "west"),),
        user_endpoint=StreamsGroupHeartbeatRequest.Endpoint(member_id, 80),
    )  # fmt: skip
    send(client, request)


def beat(client: Connection, member: StreamsGroupDescribeResponse.Member) -> StreamsGroupHeartbeatResponse:
    """A heartbeat of a member with its tasks."""

    def ids(tasks: Sequence[StreamsGroupDescribeResponse.TaskIds]) -> Sequence[TaskIds]:
        return tuple(TaskIds(each.subtopology_id, each.partitions) for each in tasks)

    request = StreamsGroupHeartbeatRequest("g", member.member_id, member.member_epoch, 0)
    active, standby = ids(member.assignment.active_tasks), ids(member.assignment.standby_tasks)
    return send(client, replace(request, active_tasks=active, standby_tasks=standby, warmup_tasks=()))


def described(client: Connection) -> Described:
    request = StreamsGroupDescribeRequest(("g",))
    answer = eventually(
        lambda: client.ask(request, 0, StreamsGroupDescribeResponse), lambda each: not each.groups[0].error_code
    )
    group = answer.groups[0]
    # Apache Kafka shows the partitions of changelogs after the next record.
    return replace(group, topology=None, members=tuple(sorted(group.members, key=lambda member: member.member_id)))


def settle(client: Connection) -> Described:
    """Let the members come to the epoch of the group."""
    for _ in range(6):
        for member in described(client).members:
            beat(client, member)
    group = described(client)
    assert group.group_state == "Stable", group
    assert {member.member_epoch for member in group.members} == {group.group_epoch}
    return group


def test_members_move_to_apache_kafka_and_back(tmp_path: Path, kafka_dump_log: DumpLog) -> None:
    data = tmp_path / "data"
    with ThreadedBroker(PROPERTIES, data_dir=data) as broker, connected_to(broker.host, broker.port) as client:
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("orders", 4)]).all()
        for member_id in MEMBERS:
            join(client, member_id)
        seen = settle(client)
    assert [len(member.assignment.active_tasks[0].partitions) for member in seen.members] == [2, 2]
    assert [len(member.assignment.standby_tasks[0].partitions) for member in seen.members] == [2, 2]
    dumped = kafka_dump_log(data / OFFSETS, "--offsets-decoder")
    for kind in (17, 19, 20, 21, 22, 23):
        assert f'"type":"{kind}"' in dumped, kind
    with kafka_on(data, tmp_path / "kafka", properties=PROPERTIES) as kafka:
        host, _, port = kafka.address.rpartition(":")
        with connected_to(host, int(port)) as client:
            assert described(client) == seen
            for member in seen.members:
                assert beat(client, member).member_epoch == member.member_epoch
            assert described(client) == seen, "the hash of the topics is Kafka's, so that no epoch begins"
            join(client, "member-c")
            settled = settle(client)
            assert settled.group_epoch > seen.group_epoch
            seen = settled
    with ThreadedBroker(PROPERTIES, data_dir=data) as broker, connected_to(broker.host, broker.port) as client:
        assert described(client) == seen
        for member in seen.members:
            assert beat(client, member).member_epoch == member.member_epoch
        assert described(client) == seen
    rows = [row for batch in read_table("group_history", data) for row in batch.to_pylist()]
    assert {row["member_id"] for row in rows} >= {*MEMBERS, "member-c"}


def records(log: Path) -> Iterator[tuple[Message, Message | None, int]]:
    """The records of streams groups in a log: key, value, and the length of the value in bytes."""
    for batch in read_batches(log.read_bytes()):
        for record in decode_records(batch):
            key, value = bytes(record.key or b""), bytes(record.value or b"")
            kind = KINDS.get(int.from_bytes(key[:2]))
            if kind is not None:
                decoded = kind[1].decode(value[2:], 0) if value else None
                yield kind[0].decode(key[2:], 0), _comparable(decoded), len(value)


def _comparable(value: Message | None) -> Message | None:
    """A value without the hash of ids of topics, and without times."""
    match value:
        case StreamsGroupMetadataValue():
            return replace(value, metadata_hash=bool(value.metadata_hash))
        case StreamsGroupTargetAssignmentMetadataValue():
            return replace(value, assignment_timestamp=bool(value.assignment_timestamp))
    return value


def test_records_are_those_of_apache_kafka(tmp_path: Path) -> None:
    """Random courses of members leave the same records at both, in the same order."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"

    def courses(host: str, port: int) -> None:
        talk = Talk(Side("a broker", host, port))
        for name, partitions in (("st-topic", 3), ("st-random", 5)):
            create(talk, name, partitions)
        for seed in range(8):
            random_course(talk, f"g{seed}", random.Random(seed))
        talk.close()

    with ThreadedBroker(PROPERTIES, data_dir=ours):
        pass
    shutil.copytree(ours, theirs)
    with ThreadedBroker(PROPERTIES, data_dir=ours) as broker:
        courses(broker.host, broker.port)
    with kafka_on(theirs, tmp_path / "kafka", properties=PROPERTIES) as kafka:
        host, _, port = kafka.address.rpartition(":")
        courses(host, int(port))
    found, expected = ([*records(data / OFFSETS)] for data in (ours, theirs))
    assert len(expected) > 500
    assert found == expected
