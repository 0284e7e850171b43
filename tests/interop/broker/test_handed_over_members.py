"""Members of a group move with the data directory: from this broker to Apache Kafka and back, without a rebalance."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from tests.apache_kafka.connection import Connection, connected_to
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.handed_over import kafka_on

from kafkawire.broker import ThreadedBroker
from kafkawire.protocol import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)

pytestmark = [pytest.mark.interop, pytest.mark.extended]

PROPERTIES: Final = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "2"}
PROTOCOLS: Final = (JoinGroupRequest.JoinGroupRequestProtocol("range", bytes(10)),)


def become_member(client: Connection, member_id: str, instance_id: str | None) -> JoinGroupResponse:
    """Join alone, and assign something to itself."""
    join = JoinGroupRequest("g", 60_000, 60_000, member_id, instance_id, "consumer", PROTOCOLS)
    joined = client.ask(join, 9, JoinGroupResponse)
    assert not joined.error_code
    assigned = (SyncGroupRequest.SyncGroupRequestAssignment(joined.member_id, f"{joined.generation_id}".encode()),)
    names = ("consumer", "range")
    sync = SyncGroupRequest("g", joined.generation_id, joined.member_id, instance_id, *names, assigned)
    assert not client.ask(sync, 5, SyncGroupResponse).error_code
    return joined


def described(client: Connection) -> DescribeGroupsResponse.DescribedGroup:
    """The group, once its coordinator has read the log."""
    request = DescribeGroupsRequest(("g",))
    return eventually(
        lambda: client.ask(request, 5, DescribeGroupsResponse), lambda answer: not answer.groups[0].error_code
    ).groups[0]


def check_is_member(client: Connection, member: JoinGroupResponse, seen: DescribeGroupsResponse.DescribedGroup) -> None:
    """It goes on with heartbeats as if nothing had happened."""
    assert described(client) == seen
    beat = HeartbeatRequest("g", member.generation_id, member.member_id, "one")
    assert client.ask(beat, 4, HeartbeatResponse).error_code == 0


def test_members_move_to_apache_kafka_and_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with ThreadedBroker(PROPERTIES, data_dir=data) as broker, connected_to(broker.host, broker.port) as client:
        become_member(client, "", "one")
        member = become_member(client, "", "one")
        seen = described(client)
    assert (seen.group_state, len(seen.members), seen.members[0].member_assignment) == ("Stable", 1, b"1")
    with kafka_on(data, tmp_path / "kafka") as kafka:
        host, _, port = kafka.address.rpartition(":")
        with connected_to(host, int(port)) as client:
            check_is_member(client, member, seen)
            member = become_member(client, member.member_id, "one")
            assert member.generation_id == 2
            seen = described(client)
    with ThreadedBroker(PROPERTIES, data_dir=data) as broker, connected_to(broker.host, broker.port) as client:
        check_is_member(client, member, seen)
        assert become_member(client, member.member_id, "one").generation_id == 3
