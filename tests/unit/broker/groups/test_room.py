"""The memory of all groups of a kind, to the byte: the deviation ``bounded-members``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.embedded.configurations import configuration_of
from tests.embedded.groups import opened_groups
from tests.embedded.streams_members import joining as joining_streamer

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.groups.classic.group import Joining
from kafkawire.broker.groups.classic.live_groups import ClassicGroups
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.consumer.live_groups import ConsumerGroups
from kafkawire.broker.groups.consumer.settings import ConsumerGroupSettings
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.live_groups import StreamsGroups
from kafkawire.broker.groups.streams.settings import StreamsGroupSettings
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    PartitionRecord,
    RemoveTopicRecord,
    StreamsGroupHeartbeatRequest,
    TopicRecord,
)
from kafkawire.protocol.error_codes import ErrorCode

MOST = 60_000
LARGE = 16_384


def joining(group: str, size: int, version: int = 3) -> Joining:
    """A JoinGroup request of a size."""
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", bytes(size - len("c" + "consumer" + "range"))),)
    return Joining(JoinGroupRequest(group, 10_000, 10_000, "", None, "consumer", protocols), version, "c", "/h")


async def test_a_classic_member_joins_if_there_is_room_for_it_to_the_byte(tmp_path: Path) -> None:
    """Groups that are gone take none; small members need none."""
    clock = ManualClock()
    async with opened_groups(tmp_path, clock=clock) as (coordinator, _):
        groups = ClassicGroups(coordinator, clock, GroupSettings(initial_delay_ms=0, most_bytes=MOST))

        async def join(group: str, size: int, version: int = 3) -> JoinGroupResponse:
            await coordinator.prepare([group])
            return await groups.join(joining(group, size, version))

        for group in ("gone-1", "gone-2"):
            gone = [await join(group, 20_000), await join(group, 20_000, 9)]
            assert gone[1].error_code == ErrorCode.MEMBER_ID_REQUIRED
            await groups.leave(group, [LeaveGroupRequest.MemberIdentity(each.member_id) for each in gone])
        assert groups.refusal(joining("other", MOST)) is None
        assert groups.refusal(joining("other", MOST + 1)) is not None
        member_id = (await join("g", 20_000)).member_id
        pending = (await join("g", 20_000, 9)).member_id
        found = groups.group("g")
        assert found is not None
        kept = 20_000 - len("consumer") + len(member_id) + len(pending)
        assert found.roster.size == kept
        assert groups.refusal(joining("other", MOST - kept)) is None
        refused = groups.refusal(joining("other", MOST - kept + 1))
        assert refused is not None
        assert refused.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
        await join("h", MOST - kept)
        assert groups.refusal(joining("other", LARGE)) is None
        assert groups.refusal(joining("other", LARGE + 1)) is not None
        await groups.close()


async def test_a_consumer_joins_if_there_is_room_for_it_to_the_byte(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened_groups(tmp_path, clock=clock) as (coordinator, controller):
        settings = ConsumerGroupSettings(configuration_of(), lambda _: {}, most_bytes=MOST)
        topics = KnownTopics(controller.image.topics, lambda: controller.end_offset, lambda _: None)
        classic = ClassicGroups(coordinator, clock, settings.classic)
        groups = ConsumerGroups(coordinator, classic, clock, settings, topics)

        async def send(group: str, size: int, epoch: int = 0) -> ErrorCode:
            """Send a heartbeat of a size; returns its error."""
            text = "x" * (size - len("m" + "i" + "rr"))
            names = (text[:28_000], text[28_000:]) if len(text) > 28_000 else (text,)
            request = ConsumerGroupHeartbeatRequest(group, "m", epoch, "i", "rr", 9, names, None, None, ())
            try:
                await groups.heartbeat(request, 1, ("c", "/h"), lambda _: True)
            except GroupError as refused:
                return refused.code
            return ErrorCode.NONE

        full = ErrorCode.GROUP_MAX_SIZE_REACHED
        for group in ("gone-1", "gone-2"):
            assert await send(group, 20_000) is ErrorCode.NONE
            assert await send(group, 5, -1) is ErrorCode.NONE
        assert await send("g", 20_000) is ErrorCode.NONE
        for number in range(3):
            groups.forget(f"never-{number}")
        found = groups.group("g")
        assert found is not None
        assert found.size == 20_000 + len("c")
        assert await send("h", MOST - found.size + 1) is full
        assert await send("h", MOST - found.size) is ErrorCode.NONE
        assert await send("other", LARGE + 1) is full
        assert await send("other", LARGE) is ErrorCode.NONE
        assert await send("h", 5, -1) is ErrorCode.NONE
        left = MOST - found.size - LARGE - len("c")
        assert await send("h", left + 1) is full
        assert await send("h", left) is ErrorCode.NONE
        await groups.close()
        await classic.close()


Streamer = StreamsGroupHeartbeatRequest
LARGE_STREAMER = replace(joining_streamer("m"), process_id="p" * 20_000)
SIZE = len(Streamer(topology=LARGE_STREAMER.topology).encode(0)) + 20_001


@pytest.mark.parametrize(
    ("changed", "more"),
    [
        ({}, 0),
        ({"rack_id": "rack"}, 4),
        ({"user_endpoint": Streamer.Endpoint("host", 80)}, 4),
        ({"client_tags": (Streamer.KeyValue("k", "value"), Streamer.KeyValue("", ""))}, 206),
        ({"task_offsets": (Streamer.TaskOffset("00", 1, 5),), "task_end_offsets": ()}, 202),
        ({"task_end_offsets": (Streamer.TaskOffset("0", 1, 5), Streamer.TaskOffset("1", 1, 5))}, 402),
        ({"member_id": "member"}, 5),
    ],
)
async def test_a_streamer_joins_if_there_is_room_for_it_to_the_byte(
    changed: Mapping[str, object], more: int, tmp_path: Path
) -> None:
    request = replace(LARGE_STREAMER, **changed)
    async with opened_groups(tmp_path, clock=ManualClock()) as (coordinator, controller):
        topic_id = Uuid.random()
        controller.commit([TopicRecord("orders", topic_id), PartitionRecord(0, topic_id, (1,), (1,), leader=1)])
        topics = KnownTopics(controller.image.topics, lambda: controller.end_offset, lambda _: None)
        for most, error in ((SIZE + more, ErrorCode.NONE), (SIZE + more - 1, ErrorCode.GROUP_MAX_SIZE_REACHED)):
            settings = StreamsGroupSettings(configuration_of(), lambda _: {}, most_bytes=most, is_later=True)
            classic = ClassicGroups(coordinator, ManualClock(), GroupSettings())
            groups = StreamsGroups(coordinator, classic, ManualClock(), settings, topics)
            found = ErrorCode.NONE
            try:
                await groups.heartbeat(replace(request, group_id=f"g-{most}"), ("c", "/h"))
            except GroupError as refused:
                found = refused.code
            assert found is error
            await groups.close()
            await classic.close()


async def test_a_streamer_without_a_topology_needs_room_for_its_names_only(tmp_path: Path) -> None:
    """It is refused for what it lacks, not for its size."""
    request = Streamer("g", "m", 1, process_id="p" * LARGE)
    async with opened_groups(tmp_path, clock=ManualClock()) as (coordinator, controller):
        topics = KnownTopics(controller.image.topics, lambda: controller.end_offset, lambda _: None)
        for most, error in ((LARGE + 1, ErrorCode.GROUP_ID_NOT_FOUND), (LARGE, ErrorCode.GROUP_MAX_SIZE_REACHED)):
            settings = StreamsGroupSettings(configuration_of(), lambda _: {}, most_bytes=most)
            classic = ClassicGroups(coordinator, ManualClock(), GroupSettings())
            groups = StreamsGroups(coordinator, classic, ManualClock(), settings, topics)
            with pytest.raises(GroupError) as refused:
                await groups.heartbeat(request, ("c", "/h"))
            assert refused.value.code is error
            await groups.close()
            await classic.close()


async def test_groups_are_gone_with_the_topic_of_their_records(tmp_path: Path) -> None:
    """And their room is free."""
    clock = ManualClock()
    async with opened_groups(tmp_path, clock=clock) as (coordinator, controller):
        settings = ConsumerGroupSettings(configuration_of(), lambda _: {}, most_bytes=LARGE + 10_000)
        topics = KnownTopics(controller.image.topics, lambda: controller.end_offset, lambda _: None)
        classic = ClassicGroups(coordinator, clock, settings.classic)
        groups = ConsumerGroups(coordinator, classic, clock, settings, topics)
        request = ConsumerGroupHeartbeatRequest("g", "m", 0, None, None, 9, ("x" * (LARGE + 1),), None, None, ())
        for name in ("g", "h", "g"):
            await groups.heartbeat(replace(request, group_id=name), 1, ("c", "/h"), lambda _: True)
            with pytest.raises(GroupError):
                await groups.heartbeat(replace(request, group_id="other"), 1, ("c", "/h"), lambda _: True)
            topic = controller.image.topics.by_name["__consumer_offsets"]
            controller.commit([RemoveTopicRecord(topic.topic_id)])
            async with asyncio.timeout(10):
                while coordinator.state.by_id:  # noqa: ASYNC110 there is no event for it
                    await asyncio.sleep(0.005)
            assert groups.group(name) is None
        await groups.close()
        await classic.close()
