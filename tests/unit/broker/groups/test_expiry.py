"""Which offsets expire: those that no member of their group can use, a while after the last use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.embedded.groups import opened_groups_by_kind
from tests.embedded.streams_members import joining

from kafkawire.broker import ManualClock
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.groups.by_kind import GroupsByKind
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.expiry import OffsetExpiry
from kafkawire.broker.storage.errors import StorageError
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerProtocolSubscription,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    StreamsGroupHeartbeatRequest,
)
from kafkawire.records.consumer_protocol import encode_subscription

INTERVAL_MS = 600_001
WEEK = 7 * 24 * 3600.0
JOIN = ConsumerGroupHeartbeatRequest("consumers", "m", 0, None, None, 1000, ("orders",), None, None, ())
SUBSCRIPTION = encode_subscription(ConsumerProtocolSubscription(("orders",)), 1)
MEMBER = GroupMetadataValue.MemberMetadata("m", None, "c", "/h", 10_000, 10_000, SUBSCRIPTION, b"")


@asynccontextmanager
async def expiring(
    data_dir: Path, clock: ManualClock
) -> AsyncIterator[tuple[GroupCoordinator, GroupsByKind, OffsetExpiry]]:
    """The groups of a data directory, and what lets their offsets expire."""
    configuration = BrokerConfiguration({"offsets.retention.check.interval.ms": str(INTERVAL_MS)})
    async with opened_groups_by_kind(data_dir, clock) as (coordinator, groups):
        yield coordinator, groups, OffsetExpiry(coordinator, groups, clock=clock, configuration=configuration)


async def test_offsets_of_subscribed_topics_and_of_groups_that_were_used_stay(tmp_path: Path) -> None:
    clock = ManualClock()
    async with expiring(tmp_path, clock) as (coordinator, groups, expiry):
        begun = clock.now_ms()
        await groups.consumer.heartbeat(JOIN, 1, ("c", "/h"), lambda _: True)
        group_ids = ("classic", "consumers", "left-lately", "simple")
        await coordinator.prepare(group_ids)
        for group_id in group_ids:
            for topic in ("orders", "others"):
                commit = OffsetCommitValue(1, metadata="", commit_timestamp=begun)
                coordinator.commit([(OffsetCommitKey(group_id, topic, 0), commit)])
        stable = GroupMetadataValue("consumer", 1, "range", "m", begun, (MEMBER,))
        lately = GroupMetadataValue("consumer", 1, None, None, begun + 1000)
        coordinator.commit([(GroupMetadataKey("classic"), stable), (GroupMetadataKey("left-lately"), lately)])
        clock.advance(WEEK)
        await expiry.expire()
        left = {
            group_id: sorted(topic for topic, _ in each.commits) for group_id, each in coordinator.state.by_id.items()
        }
        assert left == {"classic": ["orders"], "consumers": ["orders"], "left-lately": ["orders", "others"]}
        assert coordinator.state.by_id["left-lately"].metadata == lately, "it is not deleted before its offsets"
        clock.advance(1.0)
        await expiry.expire()
        assert "left-lately" not in coordinator.state.by_id


@pytest.mark.parametrize(("emptied", "is_left"), [(-1, True), (0, False), (1, False), (1000, True)])
async def test_the_time_counts_at_which_the_last_member_left_and_else_that_of_the_commit(
    tmp_path: Path, emptied: int, *, is_left: bool
) -> None:
    """As in Apache Kafka, -1 is no time; old records have none."""
    clock = ManualClock(0)
    async with expiring(tmp_path, clock) as (coordinator, _, expiry):
        await coordinator.prepare(["g"])
        commit = OffsetCommitValue(1, metadata="", commit_timestamp=500)
        coordinator.commit([(GroupMetadataKey("g"), GroupMetadataValue("consumer", 1, None, None, emptied))])
        coordinator.commit([(OffsetCommitKey("g", "orders", 0), commit)])
        clock.advance(WEEK + 0.001)
        await expiry.expire()
        assert ("g" in coordinator.state.by_id) is is_left


@pytest.mark.parametrize(
    ("expires_ms", "is_left"), [(-1, True), (-2, False), (0, False), (599, False), (600, False), (601, True)]
)
async def test_offsets_with_a_time_of_their_own_expire_at_that_time(
    tmp_path: Path, expires_ms: int, *, is_left: bool
) -> None:
    """As in Apache Kafka, no other number than -1 is no time."""
    clock = ManualClock(0)
    async with expiring(tmp_path, clock) as (coordinator, _, expiry):
        await coordinator.prepare(["g"])
        commit = OffsetCommitValue(1, metadata="", commit_timestamp=500, expire_timestamp=expires_ms)
        coordinator.commit([(OffsetCommitKey("g", "orders", 0), commit)])
        clock.advance(0.6)
        await expiry.expire()
        assert ("g" in coordinator.state.by_id) is is_left


async def test_groups_are_looked_at_at_an_interval(tmp_path: Path) -> None:
    """To the millisecond, and again after that."""
    clock = ManualClock(0)
    async with expiring(tmp_path, clock) as (coordinator, _, expiry):
        await coordinator.prepare(["g"])
        expiry.begin()
        await asyncio.sleep(0)
        for _ in range(2):
            commit = OffsetCommitValue(1, metadata="", commit_timestamp=0, expire_timestamp=0)
            coordinator.commit([(OffsetCommitKey("g", "orders", 0), commit)])
            for seconds, is_left in ((INTERVAL_MS / 1000 - 0.25, True), (0.249, True), (0.001, False)):
                clock.advance(seconds)
                await asyncio.sleep(0.01)
                await expiry.settled()
                assert ("g" in coordinator.state.by_id) is is_left
        await expiry.end()


@pytest.mark.parametrize("failure", [StorageError("the disk is full"), OSError(28, "No space left on device")])
async def test_offsets_that_cannot_be_deleted_are_deleted_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    clock = ManualClock(0)

    async def fail(_: Collection[str]) -> None:
        raise failure

    async with expiring(tmp_path, clock) as (coordinator, _, expiry):
        await coordinator.prepare(["g"])
        commit = OffsetCommitValue(1, metadata="", commit_timestamp=0, expire_timestamp=0)
        coordinator.commit([(OffsetCommitKey("g", "orders", 0), commit)])
        expiry.begin()
        for is_left in (True, False):
            with monkeypatch.context() as patched:
                if is_left:
                    patched.setattr(coordinator, "prepare", fail)
                await asyncio.sleep(0)
                clock.advance(INTERVAL_MS / 1000)
                await asyncio.sleep(0.01)
                await expiry.settled()
            assert ("g" in coordinator.state.by_id) is is_left
        await expiry.end()
    assert caplog.messages == [f"Offsets that are due cannot be deleted: {failure}"]


@pytest.mark.parametrize("has_member", [True, False])
async def test_offsets_of_topics_that_an_application_reads_stay_while_it_has_members(
    tmp_path: Path, *, has_member: bool
) -> None:
    clock = ManualClock()
    async with expiring(tmp_path, clock) as (coordinator, groups, expiry):
        await groups.streams.heartbeat(joining("m"), ("c", "/h"))
        if not has_member:
            await groups.streams.heartbeat(StreamsGroupHeartbeatRequest("g", "m", -1), ("c", "/h"))
        for topic in ("orders", "others"):
            commit = OffsetCommitValue(1, metadata="", commit_timestamp=clock.now_ms())
            coordinator.commit([(OffsetCommitKey("g", topic, 0), commit)])
        clock.advance(WEEK)
        await expiry.expire()
        left = coordinator.state.by_id.get("g")
        assert (left is not None) is has_member
        assert left is None or [topic for topic, _ in left.commits] == ["orders"]
        assert (groups.streams.group("g") is not None) is has_member
