"""Lag of groups of every kind: its definition, its partitions, and the number of requests."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.stand_ins.cluster import StandInCluster
from tests.stand_ins.groups import Group, Log, StandInGroups

from kafkawire.admin import AdminSettings
from kafkawire.admin.group_lag import PartitionLag
from kafkawire.model.groups.descriptions import GroupState, GroupType
from kafkawire.model.partitions import IsolationLevel, TopicPartition
from kafkawire.protocol import (
    ConsumerGroupDescribeRequest,
    DescribeGroupsRequest,
    ListOffsetsRequest,
    OffsetFetchRequest,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    GroupIdNotFoundError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)

PATIENT = AdminSettings(request_timeout=60, call_timeout=60)
"""A request that is slow on a busy machine is not sent again."""

T0, T1, T2, U0, GONE = (
    TopicPartition("t", 0),
    TopicPartition("t", 1),
    TopicPartition("t", 2),
    TopicPartition("u", 0),
    TopicPartition("gone", 0),
)
LOGS = {T0: Log(10, 100, stable=90), T1: Log(0, 7), T2: Log(0, 0), U0: Log(3, 3)}
LEADERS = {"t": {0: 1, 1: 2, 2: 1}, "u": {0: 2}}


async def test_lag_is_the_distance_from_the_committed_offset_to_the_end() -> None:
    groups = StandInGroups({"g": Group(offsets={T0: 40, T1: 7})}, LOGS)
    async with StandInCluster(2, groups.handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        lag = (await client.group_lag(["g"]))["g"]
        assert (lag.group_id, lag.type, lag.state) == ("g", GroupType.CLASSIC, GroupState.EMPTY)
        assert lag.partitions.all() == {T0: PartitionLag(40, 10, 100, 60), T1: PartitionLag(7, 0, 7, 0)}
        assert lag.total == 60


async def test_open_transactions_count_unless_committed_records_are_meant() -> None:
    groups = StandInGroups({"g": Group(offsets={T0: 40})}, LOGS)
    async with StandInCluster(2, groups.handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        committed = await client.group_lag(["g"], isolation=IsolationLevel.READ_COMMITTED)
        assert committed["g"].partitions[T0] == PartitionLag(40, 10, 90, 50)


async def test_offsets_outside_of_the_log() -> None:
    groups = StandInGroups({"below": Group(offsets={T0: 4}), "beyond": Group(offsets={T0: 130})}, LOGS)
    async with StandInCluster(2, groups.handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        lags = await client.group_lag(["below", "beyond"])
        below, beyond = lags["below"].partitions[T0], lags["beyond"].partitions[T0]
        assert (below.lag, below.lost) == (96, 6)
        assert (beyond.lag, beyond.lost, beyond.current_offset) == (0, 0, 130)


async def test_members_bring_partitions_without_a_commit_whose_lag_is_not_known() -> None:
    known = {"consumer": Group("consumer", "Stable", {"m1": (T0,), "m2": (T1,)}, {T0: 99, U0: 3}),
             "classic": Group("classic", "Stable", {"m1": (T1,)})}  # fmt: skip
    async with StandInCluster(2, StandInGroups(known, LOGS).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        lags = await client.group_lag(["consumer", "classic"])
        assert lags["consumer"].type is GroupType.CONSUMER
        assert lags["consumer"].partitions.all() == {
            T0: PartitionLag(99, 10, 100, 1, ("m1",)),
            T1: PartitionLag(None, 0, 7, None, ("m2",)),
            U0: PartitionLag(3, 3, 3, 0),
        }
        assert lags["consumer"].total == 1
        assert lags["classic"].partitions.all() == {T1: PartitionLag(None, 0, 7, None, ("m1",))}


async def test_only_the_wanted_partitions_of_a_group_in_the_order_in_which_they_are_given() -> None:
    groups = StandInGroups({"g": Group("consumer", "Stable", {"m": (T1,)}, {T0: 99, T1: 1})}, LOGS)
    async with StandInCluster(2, groups.handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        lag = (await client.group_lag({"g": [U0, T0]}))["g"]
        assert list(lag.partitions.all().items()) == [
            (U0, PartitionLag(None, 3, 3, None)),
            (T0, PartitionLag(99, 10, 100, 1)),
        ]


async def test_the_lag_of_a_share_group_is_the_brokers() -> None:
    group = Group("share", "Stable", {"m2": (T0,), "m1": (T0, T1)}, {T0: 50, U0: 3}, {T0: 20})
    async with StandInCluster(2, StandInGroups({"g": group}, LOGS).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        lag = (await client.group_lag(["g"]))["g"]
        assert lag.type is GroupType.SHARE
        assert lag.partitions.all() == {
            T0: PartitionLag(50, 10, 100, 20, ("m1", "m2")),
            T1: PartitionLag(None, 0, 7, None, ("m1",)),
            U0: PartitionLag(3, 3, 3, None),
        }


async def test_tasks_of_a_streams_group_stand_for_partitions_of_their_topics() -> None:
    group = Group("streams", "Stable", {"m": (T0, T1)}, {T0: 60}, source_topics=("t", "u"))
    async with StandInCluster(2, StandInGroups({"g": group}, LOGS).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        lag = (await client.group_lag(["g"]))["g"]
        assert lag.type is GroupType.STREAMS
        assert lag.partitions.all() == {  # the topic u has no partition 1
            T0: PartitionLag(60, 10, 100, 40, ("m",)),
            T1: PartitionLag(None, 0, 7, 7, ("m",)),
            U0: PartitionLag(None, 3, 3, 0, ("m",)),
        }


async def test_partitions_that_are_gone_leaderless_or_refused_fail_alone_and_at_once() -> None:
    logs = {**LOGS, T1: Log(error=ErrorCode.TOPIC_AUTHORIZATION_FAILED)}
    groups = StandInGroups({"g": Group(offsets={T0: 99, T1: 1, T2: 0, GONE: 5})}, logs)
    async with StandInCluster(2, groups.handlers()) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 2, 2: -1}}
        lag = (await client.group_lag(["g"]))["g"]
        assert {at: type(error) for at, error in lag.partitions.errors().items()} == {
            GONE: UnknownTopicOrPartitionError,
            T1: TopicAuthorizationFailedError,
            T2: LeaderNotAvailableError,
        }
        assert lag.total == 1


async def test_groups_that_do_not_exist_or_are_not_of_consumers() -> None:
    groups = StandInGroups({"workers": Group("connect", "Stable"), "g": Group()}, LOGS)
    async with StandInCluster(1, groups.handlers()) as cluster, cluster.client() as client:
        lags = await client.group_lag(["none", "workers", "g"])
        assert {name: type(error) for name, error in lags.errors().items()} == {
            "none": GroupIdNotFoundError, "workers": GroupIdNotFoundError,
        }  # fmt: skip
        assert "there is no group none" in str(lags.errors()["none"])
        assert "protocol type is 'connect'" in str(lags.errors()["workers"])
        assert len(lags["g"].partitions) == 0


async def test_brokers_that_have_classic_groups_only() -> None:
    versions: dict[int, range] = {ApiKey.OFFSET_FETCH: range(10), ApiKey.DESCRIBE_GROUPS: range(6)}
    groups = StandInGroups({"g": Group(offsets={T0: 99})}, LOGS)
    handlers = {
        kind: handler
        for kind, handler in groups.handlers().items()
        if kind.__name__
        not in {"ConsumerGroupDescribeRequest", "ShareGroupDescribeRequest", "StreamsGroupDescribeRequest"}
    }
    async with StandInCluster(2, handlers, versions=versions) as cluster, cluster.client() as client:
        cluster.leaders = LEADERS
        lags = await client.group_lag(["g", "none"])
        assert lags["g"].total == 1
        assert isinstance(lags.errors()["none"], GroupIdNotFoundError)


@pytest.mark.usefixtures("one_engine")
async def test_many_groups_with_many_partitions_share_requests() -> None:
    partitions = [TopicPartition("wide", number) for number in range(3000)]
    known = {f"g{number}": Group(offsets=dict.fromkeys(partitions, number)) for number in range(40)}
    groups = StandInGroups(known, {partition: Log(0, 1000) for partition in partitions})
    homes = {name: 1 + number % 2 for number, name in enumerate(known)}
    async with StandInCluster(2, groups.handlers(homes=homes)) as cluster, cluster.client(PATIENT) as client:
        cluster.leaders = {"wide": {partition.partition: 1 + partition.partition % 2 for partition in partitions}}
        lags = (await client.group_lag(list(known))).all()
        assert {name: lag.total for name, lag in lags.items()} == {
            f"g{number}": 3000 * (1000 - number) for number in range(40)
        }
        sent = Counter((type(body).__name__, node) for node, body in cluster.asked)
    for kind, times in {
        ConsumerGroupDescribeRequest: 1, DescribeGroupsRequest: 1, OffsetFetchRequest: 1, ListOffsetsRequest: 2,
    }.items():  # fmt: skip
        assert (sent[kind.__name__, 1], sent[kind.__name__, 2]) == (times, times), kind.__name__
