"""When a consumer group removes members and may assign again, to the millisecond."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.embedded.driven_consumer_group import DrivenConsumer, DrivenConsumerGroup
from tests.embedded.driven_mixed_groups import ClassicClient, DrivenMixedGroups

from kafkawire.broker.groups.classic.group import Joining
from kafkawire.broker.groups.consumer.states import GroupState
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    SyncGroupRequest,
)
from kafkawire.protocol.error_codes import ErrorCode

SESSION_MS, CLASSIC_SESSION_MS, CLASSIC_REBALANCE_MS = 45_001, 10_001, 20_001


def group_with_topic(**properties: str) -> DrivenConsumerGroup:
    driven = DrivenConsumerGroup(
        **{
            "group_consumer_assignment_interval_ms": "0",
            "group_consumer_session_timeout_ms": str(SESSION_MS),
            **properties,
        }
    )
    driven.create("orders", 4)
    return driven


def members_at(driven: DrivenConsumerGroup, at_ms: int) -> list[str]:
    """Who is there some milliseconds after the group has begun."""
    driven.seconds = 1000.0 + at_ms / 1000
    driven.wait(0.0)
    return [*driven.state.members]


@pytest.mark.parametrize("begins", ["joins", "beats", "is read"])
def test_a_session_ends_to_the_millisecond(begins: str) -> None:
    driven = group_with_topic()
    member = DrivenConsumer(driven, "a", "orders")
    member.join()
    driven.wait(0.007)
    if begins == "joins":
        member.join()
    elif begins == "beats":
        member.beat()
    else:
        driven.restart()
    assert members_at(driven, 7 + SESSION_MS - 1) == ["a"]
    assert members_at(driven, 7 + SESSION_MS) == []
    assert driven.state.state is GroupState.EMPTY


@pytest.mark.parametrize("is_read", [False, True], ids=["lives", "is read"])
@pytest.mark.parametrize("rebalance_ms", [30_000, 1, 0, -2])
def test_a_rebalance_timeout_ends_to_the_millisecond(rebalance_ms: int, *, is_read: bool) -> None:
    """It begins when the member is to give up partitions."""
    driven = group_with_topic()
    member, other = (DrivenConsumer(driven, name, "orders", rebalance_ms=rebalance_ms) for name in "ab")
    member.join()
    other.join()
    driven.send(member.short())
    if is_read:
        driven.restart()
    if rebalance_ms > 0:
        assert members_at(driven, rebalance_ms - 1) == ["a", "b"]
    assert members_at(driven, max(rebalance_ms, 0)) == ["b"]


@pytest.mark.parametrize("interval", [1500, 1])
def test_the_interval_between_assignments_ends_to_the_millisecond(interval: int) -> None:
    driven = group_with_topic(group_consumer_assignment_interval_ms=str(interval))
    DrivenConsumer(driven, "a", "orders").join()
    other = DrivenConsumer(driven, "b", "orders")
    other.join()
    for at_ms, is_assigned in ((0, False), (interval - 1, False), (interval, True)):
        members_at(driven, at_ms)
        other.beat()
        assert (driven.state.assignment_epoch == driven.state.epoch) is is_assigned


@pytest.fixture
async def groups() -> AsyncIterator[DrivenMixedGroups]:
    """A classic group of one member, and a consumer that joins it."""
    made = DrivenMixedGroups(group_consumer_assignment_interval_ms="0", group_initial_rebalance_delay_ms="0")
    made.create("orders", 4)
    yield made
    await made.close()


async def mixed(groups: DrivenMixedGroups, rebalance_ms: int = CLASSIC_REBALANCE_MS) -> ClassicClient:
    client = ClassicClient(groups, "orders", session_ms=CLASSIC_SESSION_MS, rebalance_ms=rebalance_ms)
    await client.step()
    await groups.send(ConsumerGroupHeartbeatRequest("g", "new", 0, None, None, 20_000, ("orders",), None, None, ()))
    return client


async def beat(groups: DrivenMixedGroups) -> None:
    """The consumer lives."""
    group = groups.consumer_group
    assert group is not None
    await groups.send(ConsumerGroupHeartbeatRequest("g", "new", group.state.members["new"].epoch))


def members(groups: DrivenMixedGroups) -> set[str]:
    group = groups.consumer_group
    return set() if group is None else {*group.state.members}


async def test_the_session_of_a_classic_member_ends_to_the_millisecond(groups: DrivenMixedGroups) -> None:
    client = await mixed(groups)
    await groups.restart()
    await groups.wait((CLASSIC_SESSION_MS - 1) / 1000)
    assert members(groups) == {"new", client.member_id}
    await groups.wait(0.001)
    assert members(groups) == {"new"}


async def test_the_time_to_join_again_ends_to_the_millisecond(groups: DrivenMixedGroups) -> None:
    """It begins with the first heartbeat that says so, and not again with the next."""
    client = await mixed(groups)
    request = HeartbeatRequest("g", client.generation, client.member_id)
    for _ in range(4):
        assert groups.members.heartbeat(request) is ErrorCode.REBALANCE_IN_PROGRESS
        await groups.wait(4.0)
        await beat(groups)
    groups.members.heartbeat(request)
    await groups.wait(4.0)
    assert members(groups) == {"new", client.member_id}
    await groups.wait(0.001)
    assert members(groups) == {"new"}


async def test_the_time_to_join_again_begins_with_a_sync_that_is_refused(groups: DrivenMixedGroups) -> None:
    """And not again with a heartbeat after that."""
    client = await mixed(groups, rebalance_ms=5001)
    request = SyncGroupRequest("g", client.generation, client.member_id)
    assert (await groups.members.sync(request)).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    await groups.wait(3.0)
    groups.members.heartbeat(HeartbeatRequest("g", client.generation, client.member_id))
    await groups.wait(2.0)
    assert members(groups) == {"new", client.member_id}
    await groups.wait(0.001)
    assert members(groups) == {"new"}


async def test_the_time_to_sync_ends_to_the_millisecond(groups: DrivenMixedGroups) -> None:
    client = await mixed(groups)
    metadata = b"\0\1\0\0\0\1\0\6orders\xff\xff\xff\xff\0\0\0\0"
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", metadata),)
    request = JoinGroupRequest(
        "g", CLASSIC_SESSION_MS, CLASSIC_REBALANCE_MS, client.member_id, None, "consumer", protocols
    )
    joined = await groups.members.join(Joining(request, 9, "client", "/127.0.0.1"), lambda _: True)
    for _ in range(4):
        await groups.wait(4.0)
        groups.members.heartbeat(HeartbeatRequest("g", joined.generation_id, client.member_id))
        await beat(groups)
    await groups.wait(4.0)
    assert members(groups) == {"new", client.member_id}
    await groups.wait(0.001)
    assert members(groups) == {"new"}
