"""The part around groups that keeps their time."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.embedded.groups import opened_groups

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.groups.classic.group import Joining
from kafkawire.broker.groups.classic.live_groups import ClassicGroups
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.storage.errors import StorageError
from kafkawire.protocol import (
    GroupMetadataKey,
    GroupMetadataValue,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    OffsetCommitRequest,
    RemoveTopicRecord,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
)
from kafkawire.protocol.error_codes import ErrorCode

PROTOCOLS = (JoinGroupRequest.JoinGroupRequestProtocol("range"),)


def joining(group: str, session_ms: int) -> Joining:
    request = JoinGroupRequest(group, session_ms, 10_000, "", None, "consumer", PROTOCOLS)
    return Joining(request, 9, "c", "/h")


async def come(coordinator: GroupCoordinator, groups: ClassicGroups, group: str, session_ms: int) -> None:
    await coordinator.prepare([group])
    answer = await groups.join(joining(group, session_ms))
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED


async def passes(clock: ManualClock, seconds: float) -> None:
    """Let time pass, and groups be checked."""
    await asyncio.sleep(0.005)
    clock.advance(seconds)
    await asyncio.sleep(0.005)


def members_of(groups: ClassicGroups) -> list[str]:
    group = groups.group("g")
    assert group is not None
    return [*group.roster.members]


async def test_sessions_that_get_shorter_leave_no_traces(tmp_path: Path) -> None:
    """Each ends before the wait that was planned, and plans another one."""
    clock = ManualClock()
    async with opened_groups(tmp_path, clock=clock) as (coordinator, _):
        groups = ClassicGroups(coordinator, clock, GroupSettings())
        for session_ms in range(60_000, 56_000, -1):
            await come(coordinator, groups, "g", session_ms)
        assert groups.planned < 1100
        await groups.close()


async def test_the_timers_of_many_groups_fire_in_the_order_of_their_times(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened_groups(tmp_path, clock=clock) as (coordinator, _):
        groups = ClassicGroups(coordinator, clock, GroupSettings())
        for number in range(20):
            await come(coordinator, groups, f"g-{number}", 6000 + number * 7 % 20 * 1000)
        for seconds in range(6, 26):
            await passes(clock, seconds - clock.seconds())
            left = {number for number in range(20) if (group := groups.group(f"g-{number}")) and group.roster.pending}
            assert left == {number for number in range(20) if 6 + number * 7 % 20 > seconds}
        assert groups.planned == 0
        await groups.close()


@pytest.mark.parametrize("failure", [StorageError("the disk is full"), OSError(28, "No space left on device")])
async def test_the_timers_of_other_groups_fire_though_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    clock = ManualClock()
    async with opened_groups(tmp_path, clock=clock) as (coordinator, _):
        groups = ClassicGroups(coordinator, clock, GroupSettings())
        for number in range(3):
            await come(coordinator, groups, f"g-{number}", 6000 + number)
        prepare = coordinator.prepare

        async def prepare_others(owners: Collection[str]) -> None:
            if "g-1" in owners:
                raise failure
            await prepare(owners)

        monkeypatch.setattr(coordinator, "prepare", prepare_others)
        await passes(clock, 7)
        left = [number for number in range(3) if (group := groups.group(f"g-{number}")) and group.roster.pending]
        assert left == [1]
        assert [record.getMessage() for record in caplog.records] == [
            f"Group 'g-1': its record cannot be written: {failure}"
        ]
        await groups.close()


async def test_the_shorter_session_of_a_static_member_that_returned_begins_with_its_first_commit(
    tmp_path: Path,
) -> None:
    """As in Apache Kafka, where it returns with the time of its earlier session."""
    clock = ManualClock()
    async with opened_groups(tmp_path, clock=clock) as (coordinator, _):
        groups = ClassicGroups(coordinator, clock, GroupSettings(initial_delay_ms=0))

        async def come_back(session_ms: int) -> JoinGroupResponse:
            await coordinator.prepare(["g"])
            request = JoinGroupRequest("g", session_ms, 10_000, "", "one", "consumer", PROTOCOLS)
            return await groups.join(Joining(request, 9, "c", "/h"))

        first = await come_back(40_000)
        await groups.sync(SyncGroupRequest("g", first.generation_id, first.member_id, "one"))
        await passes(clock, 20)  # no check for the first generation is planned any more
        again = await come_back(10_000)
        commit = OffsetCommitRequest("g", again.generation_id, again.member_id, "one")
        assert groups.commit_error(commit) is ErrorCode.NONE
        await passes(clock, 9)
        assert members_of(groups) == [again.member_id]
        clock.advance(1)
        async with asyncio.timeout(10):
            while members_of(groups):  # noqa: ASYNC110 there is no event for it
                await asyncio.sleep(0.005)
        await groups.close()


async def test_a_transaction_of_a_member_has_no_offsets_in_a_group_that_does_not_exist(tmp_path: Path) -> None:
    async with opened_groups(tmp_path) as (coordinator, _):
        groups = ClassicGroups(coordinator, ManualClock(), GroupSettings())
        for generation, error in (
            (-1, ErrorCode.NONE),
            (0, ErrorCode.ILLEGAL_GENERATION),
            (1, ErrorCode.ILLEGAL_GENERATION),
        ):
            request = TxnOffsetCommitRequest("t", "g", generation_id_or_member_epoch=generation)
            assert groups.transactional_commit_error(request) is error
        await groups.close()


async def test_a_member_takes_its_memory_once_and_gives_it_back_when_it_leaves(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened_groups(tmp_path, clock=clock) as (coordinator, _):
        groups = ClassicGroups(coordinator, clock, GroupSettings(initial_delay_ms=0, most_bytes=100_000))
        protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", bytes(60_000)),)

        async def come_in(group: str) -> JoinGroupResponse:
            request = JoinGroupRequest(group, 10_000, 10_000, "", None, "consumer", protocols)
            await coordinator.prepare([group])
            return await groups.join(Joining(request, 3, "c", "/h"))

        for number in range(4):
            member = await come_in(f"g-{number}")
            assert member.error_code == ErrorCode.NONE
            for _ in range(4):
                groups.heartbeat(HeartbeatRequest(f"g-{number}", member.generation_id, member.member_id))
            assert (await come_in("other")).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
            await groups.leave(f"g-{number}", [LeaveGroupRequest.MemberIdentity(member.member_id)])
        assert (await come_in("other")).error_code == ErrorCode.NONE
        await groups.close()


async def test_small_members_join_however_much_large_ones_have(tmp_path: Path) -> None:
    clock = ManualClock()
    async with opened_groups(tmp_path, clock=clock) as (coordinator, _):
        groups = ClassicGroups(coordinator, clock, GroupSettings(initial_delay_ms=0, most_bytes=100_000))

        async def error(group: str, size: int) -> int:
            protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", bytes(size)),)
            request = JoinGroupRequest(group, 10_000, 10_000, "", None, "consumer", protocols)
            asked = Joining(request, 3, "c", "/h")
            await coordinator.prepare([group])
            return (groups.refusal(asked) or await groups.join(asked)).error_code

        full = [ErrorCode.NONE] * 3 + [ErrorCode.GROUP_MAX_SIZE_REACHED]
        assert [await error(f"large-{number}", 30_000) for number in range(4)] == full
        assert [await error(f"small-{number}", 12_000) for number in range(3)] == [ErrorCode.NONE] * 3
        await groups.close()


async def test_the_sessions_of_recorded_members_begin_when_the_broker_does(tmp_path: Path) -> None:
    """Groups without members have none."""
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range"),)
    for is_first in (True, False):
        clock = ManualClock()
        async with opened_groups(tmp_path, clock=clock) as (coordinator, _):
            groups = ClassicGroups(coordinator, clock, GroupSettings(initial_delay_ms=0))
            if is_first:
                await coordinator.prepare(["g"])
                coordinator.commit([(GroupMetadataKey("empty"), GroupMetadataValue("consumer", 1))])
                request = JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", protocols)
                member = await groups.join(Joining(request, 3, "c", "/h"))
                await groups.sync(SyncGroupRequest("g", member.generation_id, member.member_id))
            else:
                groups.load()
                assert groups.planned == 1
                await passes(clock, 9.999)
                assert len(members_of(groups)) == 1
                await passes(clock, 0.001)
                assert members_of(groups) == []
            await groups.close()


async def test_all_groups_are_gone_with_the_topic_of_their_records(tmp_path: Path) -> None:
    """Clients that wait find the coordinator again."""
    clock = ManualClock()
    async with opened_groups(tmp_path, clock=clock) as (coordinator, controller):
        groups = ClassicGroups(coordinator, clock, GroupSettings())
        await coordinator.prepare(["g", "h"])
        request = JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", PROTOCOLS)
        waiting = [
            asyncio.ensure_future(groups.join(Joining(replace(request, group_id=name), 3, "c", "/h"))) for name in "gh"
        ]
        await asyncio.sleep(0.01)
        assert not any(each.done() for each in waiting)
        topic = controller.image.topics.by_name["__consumer_offsets"]
        controller.commit([RemoveTopicRecord(topic.topic_id)])
        answers = await asyncio.wait_for(asyncio.gather(*waiting), 10)
        assert [each.error_code for each in answers] == [ErrorCode.NOT_COORDINATOR] * 2
        assert groups.group("g") is None
        assert groups.heartbeat(HeartbeatRequest("g", 1, "c")) is ErrorCode.UNKNOWN_MEMBER_ID
        await groups.close()


async def test_requests_that_wait_end_with_the_broker(tmp_path: Path) -> None:
    async with opened_groups(tmp_path) as (coordinator, _):
        groups = ClassicGroups(coordinator, ManualClock(), GroupSettings())
        await coordinator.prepare(["g"])
        request = JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", PROTOCOLS)
        waiting = asyncio.ensure_future(groups.join(Joining(request, 3, "c", "/h")))
        await asyncio.sleep(0)
        await groups.close()
        done, _ = await asyncio.wait([waiting], timeout=10)
        assert done == {waiting}
        assert waiting.cancelled()
