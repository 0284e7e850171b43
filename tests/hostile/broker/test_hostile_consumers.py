"""Members of consumer groups that want too much: memory and time stay bounded, and others are served."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.embedded.connection import connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

JOIN = ConsumerGroupHeartbeatRequest("g", "m", 0, None, None, 1000, ("orders",), None, None, ())


async def test_heartbeats_without_joins_leave_nothing() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        for number in range(500):
            request = ConsumerGroupHeartbeatRequest(f"g{number}", f"m{number}", 1)
            answer = await client.ask(request, 1, ConsumerGroupHeartbeatResponse)
            assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
        listed = await client.ask(ListGroupsRequest(), 5, ListGroupsResponse)
        assert not listed.groups


@pytest.mark.extended
async def test_bounded_members_share_memory() -> None:
    """Large subscriptions are refused when there are many; small ones join nevertheless."""
    names = tuple(f"{number:0>249}" for number in range(4000))
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        errors = []
        for number in range(80):
            request = replace(JOIN, member_id=f"m{number}", group_id=f"g{number}", subscribed_topic_names=names)
            errors.append((await client.ask(request, 1, ConsumerGroupHeartbeatResponse)).error_code)
        assert {*errors} == {ErrorCode.NONE, ErrorCode.GROUP_MAX_SIZE_REACHED}
        assert errors.index(ErrorCode.GROUP_MAX_SIZE_REACHED) * len(names) * 249 <= (64 << 20) + len(names) * 249
        small = await client.ask(JOIN, 1, ConsumerGroupHeartbeatResponse)
        assert small.error_code == ErrorCode.NONE
        leave = ConsumerGroupHeartbeatRequest("g0", "m0", -1)
        assert not (await client.ask(leave, 1, ConsumerGroupHeartbeatResponse)).error_code
        again = replace(JOIN, member_id="again", subscribed_topic_names=names)
        assert not (await client.ask(again, 1, ConsumerGroupHeartbeatResponse)).error_code


async def test_a_slow_regular_expression_holds_up_no_other_client() -> None:
    topics = [f"{'ab' * 100}{number:0>10}" for number in range(100)]
    async with EmbeddedBroker(topics=topics) as broker, connected_to(broker) as slow, connected_to(broker) as other:
        request = replace(JOIN, subscribed_topic_names=None, subscribed_topic_regex="((a|b)*(a|b)*){1,90}c")
        assert not (await slow.ask(request, 1, ConsumerGroupHeartbeatResponse)).error_code
        for _ in range(20):
            assert not (await other.ask(replace(JOIN, group_id="other"), 1, ConsumerGroupHeartbeatResponse)).error_code
