"""Members of groups over time, over restarts and in memory; other tests compare the rest with Apache Kafka."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.logs import read_table
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MetadataRequest,
    MetadataResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
AT_ONCE = {"group.initial.rebalance.delay.ms": "0"}
SUBSCRIPTION = JoinGroupRequest.JoinGroupRequestProtocol("range", bytes(10))
CONSUMER_HEARTBEAT = ConsumerGroupHeartbeatRequest("g", "member")


def join(member_id: str = "", instance_id: str | None = None) -> JoinGroupRequest:
    return JoinGroupRequest("g", 10_000, 60_000, member_id, instance_id, "consumer", (SUBSCRIPTION,))


async def joined(client: BrokerConnection, member_id: str = "") -> JoinGroupResponse:
    return await client.ask(join(member_id), 3, JoinGroupResponse)


async def member_of(client: BrokerConnection) -> JoinGroupResponse:
    """A member that has its assignment, of a group of its own."""
    answer = await joined(client)
    assignments = (SyncGroupRequest.SyncGroupRequestAssignment(answer.member_id, b"everything"),)
    request = SyncGroupRequest("g", answer.generation_id, answer.member_id, assignments=assignments)
    assert (await client.ask(request, 3, SyncGroupResponse)).assignment == b"everything"
    return answer


async def beat(client: BrokerConnection, member: JoinGroupResponse) -> int:
    request = HeartbeatRequest("g", member.generation_id, member.member_id)
    return (await client.ask(request, 3, HeartbeatResponse)).error_code


async def state_of(client: BrokerConnection) -> tuple[str, int]:
    (group,) = (await client.ask(DescribeGroupsRequest(("g",)), 5, DescribeGroupsResponse)).groups
    return group.group_state, len(group.members)


async def until(client: BrokerConnection, state: tuple[str, int]) -> None:
    async with asyncio.timeout(10):
        while await state_of(client) != state:  # noqa: ASYNC110 there is no event for it
            await asyncio.sleep(0.005)


async def test_the_clock_of_the_broker_ends_waits_and_sessions() -> None:
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock) as broker, connected_to(broker) as client, connected_to(broker) as other:
        client.send(join(), 3)
        await until(other, ("PreparingRebalance", 1))
        clock.advance(2.9)
        await asyncio.sleep(0.05)
        assert await state_of(other) == ("PreparingRebalance", 1)
        clock.advance(0.1)
        await until(other, ("CompletingRebalance", 1))
        clock.advance(10)
        await until(other, ("Empty", 0))


async def test_a_heartbeat_moves_the_end_of_a_session() -> None:
    clock = ManualClock()
    async with EmbeddedBroker(AT_ONCE, clock=clock) as broker, connected_to(broker) as client:
        member = await member_of(client)
        for _ in range(5):
            clock.advance(9)
            assert await beat(client, member) == ErrorCode.NONE
        clock.advance(10)
        await until(client, ("Empty", 0))
        assert await beat(client, member) == ErrorCode.UNKNOWN_MEMBER_ID


async def test_members_are_there_after_a_restart_with_a_full_session(tmp_path: Path) -> None:
    clock = ManualClock()
    async with EmbeddedBroker(AT_ONCE, data_dir=tmp_path, clock=clock) as broker, connected_to(broker) as client:
        member = await member_of(client)
    clock.advance(1000)
    async with EmbeddedBroker(AT_ONCE, data_dir=tmp_path, clock=clock) as broker, connected_to(broker) as client:
        assert await state_of(client) == ("Stable", 1)
        clock.advance(9)
        assert await beat(client, member) == ErrorCode.NONE
        again = await joined(client, member.member_id)
        assert (again.error_code, again.generation_id) == (ErrorCode.NONE, member.generation_id + 1)
        clock.advance(61)
        await until(client, ("Empty", 0))
    async with EmbeddedBroker(AT_ONCE, data_dir=tmp_path, clock=clock) as broker, connected_to(broker) as client:
        assert await state_of(client) == ("Empty", 0)


async def test_members_are_in_the_history_of_the_log(tmp_path: Path) -> None:
    async with EmbeddedBroker(AT_ONCE, data_dir=tmp_path) as broker, connected_to(broker) as client:
        member = await member_of(client)
        leaving = (LeaveGroupRequest.MemberIdentity(member.member_id),)
        await client.ask(LeaveGroupRequest("g", members=leaving), 3, LeaveGroupResponse)
    rows = [row for batch in read_table("group_history", tmp_path) for row in batch.to_pylist()]
    assert [row["member_id"] for row in rows] == [None, member.member_id, None]


async def test_members_learn_that_the_topic_of_their_records_is_deleted() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client, connected_to(broker) as other:
        client.send(join(), 3)
        await until(other, ("PreparingRebalance", 1))
        deletion = DeleteTopicsRequest(topic_names=("__consumer_offsets",), timeout_ms=1000)
        await other.ask(deletion, 5, DeleteTopicsResponse)
        assert int.from_bytes((await client.frame())[8:10]) == ErrorCode.NOT_COORDINATOR
        assert await state_of(other) == ("Dead", 0)


async def test_consumers_are_no_members_any_more_when_the_topic_of_their_records_is_deleted() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        joining = ConsumerGroupHeartbeatRequest("consumers", "m", 0, None, None, 1000, ("orders",), None, None, ())
        joined = await client.ask(joining, 1, ConsumerGroupHeartbeatResponse)
        assert joined.error_code == ErrorCode.NONE
        deletion = DeleteTopicsRequest(topic_names=("__consumer_offsets",), timeout_ms=1000)
        await client.ask(deletion, 5, DeleteTopicsResponse)
        beat = ConsumerGroupHeartbeatRequest("consumers", "m", joined.member_epoch)
        assert (await client.ask(beat, 1, ConsumerGroupHeartbeatResponse)).error_code == ErrorCode.GROUP_ID_NOT_FOUND


async def test_members_of_groups_that_do_not_exist_make_no_topic() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        synced = await client.ask(SyncGroupRequest("g", 1, "m"), 3, SyncGroupResponse)
        beaten = await client.ask(HeartbeatRequest("g", 1, "m"), 3, HeartbeatResponse)
        leaving = LeaveGroupRequest("g", members=(LeaveGroupRequest.MemberIdentity("m"),))
        (left,) = (await client.ask(leaving, 3, LeaveGroupResponse)).members
        assert (synced.error_code, beaten.error_code, left.error_code) == (ErrorCode.UNKNOWN_MEMBER_ID,) * 3
        assert not (await client.ask(MetadataRequest(None), 12, MetadataResponse)).topics


async def test_a_broker_stops_while_clients_wait() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        client.send(join(), 3)
        client.send(HeartbeatRequest("g", 1, "m"), 3)
        await asyncio.sleep(0.05)


async def test_a_user_without_the_right_to_read_the_group_learns_only_that() -> None:
    async with EmbeddedBroker(AUTHORIZER) as broker, connected_to(broker) as client:
        answer = await client.ask(join(), 9, JoinGroupResponse)
        beaten = await client.ask(CONSUMER_HEARTBEAT, 1, ConsumerGroupHeartbeatResponse)
    assert (answer.error_code, beaten.error_code) == (ErrorCode.GROUP_AUTHORIZATION_FAILED,) * 2


async def test_a_client_id_that_leaves_no_room_for_a_member_id_is_refused() -> None:
    """A string has 32 767 bytes at most."""
    async with EmbeddedBroker(AT_ONCE) as broker, connected_to(broker, "c" * 32_750) as client:
        for version in (3, 9):
            answer = await client.ask(join(), version, JoinGroupResponse)
            assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
        assert (await client.ask(join(), 9, JoinGroupResponse)).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
