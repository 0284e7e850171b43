"""Members that want too much cost little memory, and leave the others alone."""

from __future__ import annotations

from time import process_time

from tests.embedded.connection import BrokerConnection, connected_to
from tests.traced_memory import takes_less

from kafkawire.broker import EmbeddedBroker
from kafkawire.broker.groups.classic.group import ClassicGroup, Joining
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.timers import Now
from kafkawire.protocol import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

AT_ONCE = {"group.initial.rebalance.delay.ms": "0"}
MEBIBYTE = 1 << 20


def join(group: str, member_id: str = "", metadata: bytes = b"") -> JoinGroupRequest:
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", metadata),)
    return JoinGroupRequest(group, 10_000, 10_000, member_id, None, "consumer", protocols)


async def joined(client: BrokerConnection, group: str, metadata: bytes = b"") -> JoinGroupResponse:
    return await client.ask(join(group, metadata=metadata), 3, JoinGroupResponse)


def test_a_group_that_is_full_costs_nothing_however_many_want_to_join() -> None:
    group = ClassicGroup("g", None, GroupSettings(initial_delay_ms=0, most_members=2), Now(0, 0))

    def refused(count: int) -> None:
        for number in range(count):
            joining = Joining(join("g"), 3 if number % 2 else 9, f"client {number}", "/h")
            group.join(joining, number, Now(0, 0))
            (answer,) = group.outcome().answers.values()
            assert isinstance(answer, JoinGroupResponse)
            assert answer.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED

    for ticket in range(2):
        group.join(Joining(join("g"), 3, "c", "/h"), ticket, Now(0, 0))
    group.expire(Now(1, 1000))
    group.outcome()
    assert takes_less(lambda: refused(20_000), MEBIBYTE // 4)
    assert len(group.roster.members) == 2


def test_clients_that_only_get_ids_cost_little() -> None:
    group = ClassicGroup("g", None, GroupSettings(most_pending=100), Now(0, 0))

    def come(count: int) -> None:
        for ticket in range(count):
            group.join(Joining(join("g"), 9, "c", "/h"), ticket, Now(0, 0))
            group.outcome()

    come(100)
    assert takes_less(lambda: come(10_000), MEBIBYTE // 4)


def test_a_rebalance_takes_time_in_proportion_to_the_members() -> None:
    """A fifth of a second for 20 000 on a slow machine; with their squares it would be ten."""
    count = 20_000
    group = ClassicGroup("g", None, GroupSettings(initial_delay_ms=0), Now(0, 0))
    for ticket in range(count):
        group.join(Joining(join("g"), 3, "c", "/h"), ticket, Now(0, 0))
    begun = process_time()
    group.expire(Now(1, 1000))
    group.expire(Now(2, 2000))
    assert len(group.outcome().answers) == count
    assert process_time() - begun < 3


async def test_requests_of_strangers_make_no_group() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        for number in range(300):
            group = f"g-{number}"
            beaten = await client.ask(HeartbeatRequest(group, 1, "m"), 3, HeartbeatResponse)
            synced = await client.ask(SyncGroupRequest(group, 1, "m"), 3, SyncGroupResponse)
            rejoined = await client.ask(join(group, "m"), 3, JoinGroupResponse)
            leaving = LeaveGroupRequest(group, members=(LeaveGroupRequest.MemberIdentity("m"),))
            left = await client.ask(leaving, 3, LeaveGroupResponse)
            codes = (beaten.error_code, synced.error_code, rejoined.error_code, left.members[0].error_code)
            assert codes == (ErrorCode.UNKNOWN_MEMBER_ID,) * 4
        assert (await client.ask(ListGroupsRequest(), 4, ListGroupsResponse)).groups == ()


async def test_large_subscriptions_are_bounded_and_small_ones_join_nevertheless() -> None:
    """Kafka keeps them all; a group with so much can never be recorded."""
    large = bytes(12 * MEBIBYTE)
    async with EmbeddedBroker(AT_ONCE) as broker, connected_to(broker) as client:
        codes = [(await joined(client, f"large-{number}", large)).error_code for number in range(6)]
        assert codes == [ErrorCode.NONE] * 5 + [ErrorCode.GROUP_MAX_SIZE_REACHED]
        small = await joined(client, "small", b"x" * 100)
        request = SyncGroupRequest("small", small.generation_id, small.member_id)
        assert (await client.ask(request, 3, SyncGroupResponse)).error_code == ErrorCode.NONE
        leaving = LeaveGroupRequest("large-0", members=(LeaveGroupRequest.MemberIdentity("stranger"),))
        await client.ask(leaving, 3, LeaveGroupResponse)
        assert (await joined(client, "large-6", large)).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
