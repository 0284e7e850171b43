"""Resets of offsets: every scenario of ``kafka-consumer-groups --reset-offsets``, and its rules."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.stand_ins.cluster import StandInCluster
from tests.stand_ins.groups import Group, Log, StandInGroups

from kafkawire.admin.offset_resets import (
    ByDuration,
    ResetOffset,
    ResetTarget,
    ShiftBy,
    ToCurrent,
    ToOffset,
    ToTime,
)
from kafkawire.model.partitions import OffsetSpec, TopicPartition
from kafkawire.protocol import (
    AlterShareGroupOffsetsRequest,
    ListOffsetsRequest,
    OffsetCommitRequest,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    GroupIdNotFoundError,
    InvalidRequestError,
    LeaderNotAvailableError,
    NonEmptyGroupError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
)

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
LEADERS: Mapping[str, Mapping[int, int]] = {"t": {0: 1, 1: 2}, "u": {0: 2}}
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
NOON_MS = int(NOON.timestamp() * 1000)


def logs() -> dict[TopicPartition, Log]:
    return {T0: Log(10, 100, stable=60, times={NOON_MS: 55}), T1: Log(0, 7), U0: Log(3, 3)}


@pytest.mark.parametrize(
    ("to", "t0", "t1"),
    [
        (OffsetSpec.EARLIEST, ResetOffset(40, 10), ResetOffset(5, 0)),
        (OffsetSpec.LATEST, ResetOffset(40, 100), ResetOffset(5, 7)),
        (OffsetSpec.MAX_TIMESTAMP, ResetOffset(40, 100), ResetOffset(5, 7)),
        (ToOffset(50), ResetOffset(40, 50), ResetOffset(5, 7, is_clamped=True)),
        (ToOffset(3), ResetOffset(40, 10, is_clamped=True), ResetOffset(5, 3)),
        (ShiftBy(-10), ResetOffset(40, 30), ResetOffset(5, 0, is_clamped=True)),
        (ShiftBy(2), ResetOffset(40, 42), ResetOffset(5, 7)),
        (ShiftBy(61), ResetOffset(40, 100, is_clamped=True), ResetOffset(5, 7, is_clamped=True)),
        (ToTime(NOON), ResetOffset(40, 55), ResetOffset(5, 7)),
        (ToCurrent(), ResetOffset(40, 40), ResetOffset(5, 5)),
    ],
    ids=repr,
)
async def test_every_scenario_first_as_a_dry_run(to: ResetTarget, t0: ResetOffset, t1: ResetOffset) -> None:
    group = Group(offsets={T0: 40, T1: 5})
    async with StandInCluster(2, StandInGroups({"g": group}, logs()).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        tried = (await client.reset_offsets(["g"], to, dry_run=True))["g"].all()
        assert tried == {T0: t0, T1: t1}
        assert group.offsets == {T0: 40, T1: 5}
        assert not any(isinstance(body, OffsetCommitRequest) for _, body in cluster.asked)
        assert (await client.reset_offsets(["g"], to))["g"].all() == tried
        assert group.offsets == {T0: t0.new_offset, T1: t1.new_offset}


async def test_a_duration_is_counted_back_from_now() -> None:
    group = Group(offsets={T0: 40})
    async with StandInCluster(2, StandInGroups({"g": group}, logs()).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        before = int(time.time() * 1000)
        (await client.reset_offsets(["g"], ByDuration(timedelta(hours=1)), dry_run=True)).all()
        after = int(time.time() * 1000)
        times = {
            partition.timestamp
            for _, body in cluster.asked
            if isinstance(body, ListOffsetsRequest)
            for topic in body.topics
            for partition in topic.partitions
        } - {OffsetSpec.LATEST}
        assert len(times) == 1
        assert before <= times.pop() + 3_600_000 <= after


@pytest.mark.parametrize(
    ("time_", "timestamp_ms"),
    [
        (NOON, NOON_MS),
        (NOON.astimezone(timezone(timedelta(hours=9))), NOON_MS),
        (NOON + timedelta(microseconds=1), NOON_MS + 1),
        (NOON + timedelta(milliseconds=1), NOON_MS + 1),
        (datetime(1960, 1, 1, tzinfo=UTC), 0),
    ],
)
def test_times_in_milliseconds(time_: datetime, timestamp_ms: int) -> None:
    assert ToTime(time_).timestamp_ms == timestamp_ms


def test_durations_that_begin_before_1970_begin_in_1970() -> None:
    assert ByDuration(timedelta(days=10**6)).before(NOON_MS) == 0


def test_times_without_a_zone_and_durations_into_the_future_are_refused() -> None:
    with pytest.raises(ValueError, match=r"has no time zone: give one, such as tzinfo=datetime\.UTC"):
        ToTime(datetime(2026, 5, 1))  # noqa: DTZ001 that is what is refused
    with pytest.raises(ValueError, match="must not be below 0"):
        ByDuration(timedelta(seconds=-1))


async def test_whole_topics_also_where_nothing_is_committed() -> None:
    group = Group(offsets={U0: 3, T0: 40})
    async with StandInCluster(2, StandInGroups({"g": group}, logs()).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        reset = await client.reset_offsets(["g"], ToCurrent(), topics=["t"])
        assert reset["g"].all() == {T0: ResetOffset(40, 40), T1: ResetOffset(None, 7)}
        shifted = await client.reset_offsets({"g": [T0], "new": None}, ShiftBy(-1), topics=["t"], dry_run=True)
        assert shifted["g"].all() == {T0: ResetOffset(40, 39)}
        assert {type(error) for error in shifted["new"].errors().values()} == {InvalidRequestError}
        assert "no offset to shift from" in str(shifted["new"].errors()[T1])


async def test_a_topic_that_does_not_exist_fails_the_groups_that_are_reset_in_topics() -> None:
    known = {"g": Group(offsets={T0: 40}), "h": Group(offsets={T0: 40})}
    async with StandInCluster(2, StandInGroups(known, logs()).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        reset = await client.reset_offsets({"g": None, "h": [T0]}, OffsetSpec.EARLIEST, topics=["t", "typo"])
        assert isinstance(reset.errors()["g"], UnknownTopicOrPartitionError)
        assert (known["g"].offsets, known["h"].offsets) == ({T0: 40}, {T0: 10})


async def test_groups_with_members_are_refused_and_others_are_reset() -> None:
    known = {
        "busy": Group("consumer", "Stable", {"m": (T0,)}, {T0: 40}),
        "moving": Group("classic", "PreparingRebalance", {}, {T0: 40}),
        "dead": Group("classic", "Dead", {"ghost": ()}, {T0: 40}),
        "consumer": Group("consumer", "Empty", {}, {T0: 40}),
        "streams": Group("streams", "Empty", {}, {T0: 40}),
    }
    async with StandInCluster(2, StandInGroups(known, logs()).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        reset = await client.reset_offsets(list(known), OffsetSpec.EARLIEST)
        assert {name: type(error) for name, error in reset.errors().items()} == {
            "busy": NonEmptyGroupError, "moving": NonEmptyGroupError,
        }  # fmt: skip
        assert "the group busy is Stable; stop its members" in str(reset.errors()["busy"])
        assert {name: group.offsets[T0] for name, group in known.items()} == {
            "busy": 40, "moving": 40, "dead": 10, "consumer": 10, "streams": 10,
        }  # fmt: skip


async def test_a_group_is_made_if_it_is_said_where_it_is_to_read() -> None:
    groups = StandInGroups({"workers": Group("connect", "Empty")}, logs())
    async with StandInCluster(2, groups.handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        reset = await client.reset_offsets({"new": [T0], "nothing": None, "workers": [T0]}, OffsetSpec.LATEST)
        assert reset["new"].all() == {T0: ResetOffset(None, 100)}
        assert "name topics or partitions to make it" in str(reset.errors()["nothing"])
        assert isinstance(reset.errors()["workers"], GroupIdNotFoundError)
        committed = [body.group_id for _, body in cluster.asked if isinstance(body, OffsetCommitRequest)]
        assert committed == ["new"]


async def test_share_groups_are_altered_by_their_own_request() -> None:
    group = Group("share", "Empty", {}, {T0: 50}, {T0: 20})
    async with StandInCluster(2, StandInGroups({"g": group}, logs()).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        reset = await client.reset_offsets({"g": [T0, T1]}, OffsetSpec.EARLIEST)
        assert reset["g"].all() == {T0: ResetOffset(50, 10), T1: ResetOffset(None, 0)}
        assert group.offsets == {T0: 10, T1: 0}
        altered = [node for node, body in cluster.asked if isinstance(body, AlterShareGroupOffsetsRequest)]
        assert len(altered) == 1


async def test_a_partition_fails_alone() -> None:
    nowhere = TopicPartition("t", 9)
    known = {
        "g": Group(offsets={T0: 40, T1: 5, nowhere: 1}),
        "raced": Group(offsets={T0: 40}, refuses=ErrorCode.UNKNOWN_MEMBER_ID),
    }
    async with StandInCluster(2, StandInGroups(known, logs()).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: -1}}
        reset = await client.reset_offsets(["g", "raced"], ToOffset(20))
        assert reset["g"].values() == {T0: ResetOffset(40, 20)}
        assert {at: type(error) for at, error in reset["g"].errors().items()} == {
            T1: LeaderNotAvailableError, nowhere: UnknownTopicOrPartitionError,
        }  # fmt: skip
        assert isinstance(reset["raced"].errors()[T0], UnknownMemberIdError)


async def test_a_group_that_is_given_twice_is_reset_once_and_reported_twice() -> None:
    known = {"g": Group(offsets={T0: 40})}
    async with StandInCluster(2, StandInGroups(known, logs()).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        reset = await client.reset_offsets(iter(["g", "g"]), ShiftBy(1))
        assert list(reset) == ["g", "g"]
        assert known["g"].offsets == {T0: 41}
        assert list(await client.group_lag(iter(["g", "none", "g"]))) == ["g", "none", "g"]


async def test_many_groups_share_the_requests_for_offsets_and_commit_side_by_side() -> None:
    known = {f"g{number}": Group(offsets={T0: number, T1: 1}) for number in range(50)}
    async with StandInCluster(2, StandInGroups(known, logs()).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        (await client.reset_offsets(list(known), OffsetSpec.EARLIEST)).all()
        kinds = [type(body) for _, body in cluster.asked]
        assert kinds.count(ListOffsetsRequest) == 2  # one for each leader
        assert kinds.count(OffsetCommitRequest) == 50
        assert all(group.offsets == {T0: 10, T1: 0} for group in known.values())
