"""Members of consumer groups that want too much: memory and time stay bounded, and others are served."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.embedded.connection import connected_to
from tests.embedded.groups import opened_groups

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.groups.classic.live_groups import ClassicGroups
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.consumer.live_groups import ConsumerGroups
from kafkawire.broker.groups.consumer.member import Member
from kafkawire.broker.groups.consumer.settings import ConsumerGroupSettings
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.topics import KnownTopics
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


async def test_bounded_members_share_memory(tmp_path: Path) -> None:
    """Large subscriptions are refused when there are many; small ones join nevertheless."""
    names = tuple(f"{number:0>100}" for number in range(300))
    clock = ManualClock()
    async with opened_groups(tmp_path, clock=clock) as (coordinator, controller):
        settings = ConsumerGroupSettings(BrokerConfiguration({}), lambda _: {}, most_bytes=100_000)
        topics = KnownTopics(controller.image.topics, lambda: controller.end_offset, lambda _: None)
        classic = ClassicGroups(coordinator, clock, GroupSettings())
        groups = ConsumerGroups(coordinator, classic, clock, settings, topics)

        async def send(request: ConsumerGroupHeartbeatRequest) -> ErrorCode:
            try:
                await groups.heartbeat(request, 1, ("c", "/h"), lambda _: True)
            except GroupError as refused:
                return refused.code
            return ErrorCode.NONE

        def members(group_id: str) -> list[Member]:
            group = groups.group(group_id)
            return [] if group is None else [*group.state.members.values()]

        large = [
            replace(JOIN, member_id=f"m{each}", group_id=f"g{each}", subscribed_topic_names=names) for each in "1234"
        ]
        errors = []
        for request in large:
            errors.append(await send(request))
            epochs = [each.epoch for each in members(request.group_id)]
            beats = [ConsumerGroupHeartbeatRequest(request.group_id, request.member_id, epoch) for epoch in epochs * 9]
            assert [await send(beat) for beat in beats] == [ErrorCode.NONE] * len(beats)  # they need no more memory
        assert errors == [ErrorCode.NONE] * 3 + [ErrorCode.GROUP_MAX_SIZE_REACHED]
        assert await send(JOIN) is ErrorCode.NONE
        small = [replace(JOIN, member_id=each, subscribed_topic_names=names[:50]) for each in "abcd"]
        assert [await send(request) for request in small] == [ErrorCode.NONE] * 4
        leaving = [ConsumerGroupHeartbeatRequest("g", each, -1) for each in "abcd"]
        assert [await send(request) for request in leaving] == [ErrorCode.NONE] * 4
        for number in range(50_000):
            groups.forget(f"other-{number}")  # groups that were never there free nothing
        grows = ConsumerGroupHeartbeatRequest("g", "m", 1, subscribed_topic_names=names)
        assert await send(grows) is ErrorCode.GROUP_MAX_SIZE_REACHED
        assert await send(ConsumerGroupHeartbeatRequest("g1", "m1", -1)) is ErrorCode.NONE
        assert await send(large[3]) is ErrorCode.NONE
        await groups.close()
        await classic.close()


async def test_a_slow_regular_expression_holds_up_no_other_client() -> None:
    topics = [f"{'ab' * 100}{number:0>10}" for number in range(100)]
    async with EmbeddedBroker(topics=topics) as broker, connected_to(broker) as slow, connected_to(broker) as other:
        request = replace(JOIN, subscribed_topic_names=None, subscribed_topic_regex="((a|b)*(a|b)*){1,90}c")
        assert not (await slow.ask(request, 1, ConsumerGroupHeartbeatResponse)).error_code
        for _ in range(20):
            assert not (await other.ask(replace(JOIN, group_id="other"), 1, ConsumerGroupHeartbeatResponse)).error_code


async def test_a_regular_expression_that_takes_too_long_matches_no_topic(caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(1)
    topics = ["".join(chance.choices("ab", k=249)) for _ in range(200)]
    async with EmbeddedBroker(topics=topics) as broker, connected_to(broker) as client:
        request = replace(JOIN, subscribed_topic_names=None, subscribed_topic_regex="(a|b)*a(a|b){200}")
        joined = await client.ask(request, 1, ConsumerGroupHeartbeatResponse)
        assert not joined.error_code
        beat = ConsumerGroupHeartbeatRequest("g", "m", joined.member_epoch)
        async with asyncio.timeout(30):
            while "matches no topic: '`(a|b)*a(a|b){200}` takes too long" not in caplog.text:
                assert not (await client.ask(beat, 1, ConsumerGroupHeartbeatResponse)).error_code
        assert not (await client.ask(beat, 1, ConsumerGroupHeartbeatResponse)).error_code
        assert not (await client.ask(replace(JOIN, group_id="other"), 1, ConsumerGroupHeartbeatResponse)).error_code
