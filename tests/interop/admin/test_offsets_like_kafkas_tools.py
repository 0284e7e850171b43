"""Lag, resets and offsets of topics are what Kafka's own tools print: kafka-consumer-groups, kafka-get-offsets."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.java_admin import GroupKind, JavaAdminClient
from tests.apache_kafka.java_answers import Partition
from tests.apache_kafka.releases import broker_releases, is_at_least

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.group_lag import GroupLag, PartitionLag
from kafkawire.admin.offset_resets import ByDuration, ResetTarget, ShiftBy, ToCurrent, ToOffset, ToTime
from kafkawire.admin.operations.offset_resets import ResetOffsets
from kafkawire.model.groups.descriptions import GroupState, GroupType
from kafkawire.model.partitions import IsolationLevel, OffsetSpec, TopicPartition
from kafkawire.model.topics import NewTopic
from kafkawire.protocol.errors import (
    GroupIdNotFoundError,
    NonEmptyGroupError,
    UnknownTopicOrPartitionError,
)

pytestmark = [pytest.mark.interop, pytest.mark.extended]

GROUPS = "consumer.group.ConsumerGroupCommand"
NEWER = [release for release in broker_releases() if is_at_least(release, "4.1")]
TOMORROW = (datetime.now(UTC) + timedelta(days=1)).replace(microsecond=0)
SCENARIOS: list[tuple[ResetTarget, tuple[str, ...]]] = [
    (OffsetSpec.EARLIEST, ("--to-earliest",)),
    (OffsetSpec.LATEST, ("--to-latest",)),
    (ToOffset(4), ("--to-offset", "4")),
    (ToOffset(0), ("--to-offset", "0")),
    (ToOffset(99), ("--to-offset", "99")),
    (ShiftBy(-1), ("--shift-by", "-1")),
    (ShiftBy(99), ("--shift-by", "99")),
    (ToTime(TOMORROW), ("--to-datetime", TOMORROW.strftime("%Y-%m-%dT%H:%M:%S.000Z"))),
    (ToTime(datetime(2020, 1, 1, tzinfo=UTC)), ("--to-datetime", "2020-01-01T00:00:00.000Z")),
    (ByDuration(timedelta(days=1)), ("--by-duration", "P1D")),
    (ByDuration(timedelta(0)), ("--by-duration", "PT0S")),
    (ToCurrent(), ("--to-current",)),
]

Row = tuple[TopicPartition, str, str, str, str]
"""Partition, current offset, log end offset, lag and member, as kafka-consumer-groups prints them."""


@pytest.fixture
def topic(admin: BlockingAdminClient, java: JavaAdminClient) -> Iterator[str]:
    """Partition 0 has the offsets 2 to 5, partition 1 has 0 to 2, partition 2 is empty."""
    name = new("topic")
    admin.create_topics([NewTopic(name, num_partitions=3)]).all()
    eventually(lambda: admin.describe_topics([name]).errors(), lambda errors: not errors)
    java.produce(Partition(name, 0), list("abcdef"))
    java.produce(Partition(name, 1), list("abc"))
    admin.delete_records({TopicPartition(name, 0): 2}).all()
    yield name
    admin.delete_topics([name])


def new(kind: str) -> str:
    return f"offsets-{kind}-{time.monotonic_ns()}"


def shown(value: object) -> str:
    return "-" if value is None else str(value)


def rows_of(lag: GroupLag) -> set[Row]:
    """A lag as the tool prints it."""
    return {
        (at, shown(each.current_offset), shown(each.log_end_offset), shown(each.lag), "".join(each.member_ids) or "-")
        for at, each in lag.partitions.all().items()
    }


def described(java: JavaAdminClient, group: str) -> set[Row]:
    """What ``kafka-consumer-groups --describe`` prints."""
    rows = [line.split() for line in java.run_tool(GROUPS, "--describe", "--group", group).splitlines()]
    return {
        (TopicPartition(row[1], int(row[2])), row[3], row[4], row[5], row[6]) for row in rows if row and row[0] == group
    }


def new_offsets(printed: str, group: str) -> dict[TopicPartition, int]:
    rows = re.findall(rf"^{group} +(\S+) +(\d+) +(\d+) *$", printed, re.MULTILINE)
    return {TopicPartition(topic, int(number)): int(offset) for topic, number, offset in rows}


def offsets_of(reset: ResetOffsets) -> dict[TopicPartition, int]:
    return {partition: each.new_offset for partition, each in reset.all().items()}


def test_lag_of_an_empty_group(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    group = new("empty")
    committed = {TopicPartition(topic, 0): 3, TopicPartition(topic, 1): 3}
    admin.alter_consumer_group_offsets(group, committed).all()
    lag = admin.group_lag([group])[group]
    assert rows_of(lag) == described(java, group)
    assert (lag.total, lag.state) == (3, GroupState.EMPTY)
    assert lag.partitions[TopicPartition(topic, 0)] == PartitionLag(3, 2, 6, 3)


@pytest.mark.parametrize(
    ("broker", "kind"),
    [*((release, "classic") for release in broker_releases()), *((release, "consumer") for release in NEWER)],
    indirect=["broker"],
)
def test_lag_of_a_group_with_members(
    admin: BlockingAdminClient, java: JavaAdminClient, topic: str, kind: GroupKind
) -> None:
    group, below = new(kind), TopicPartition(topic, 0)
    admin.alter_consumer_group_offsets(group, {below: 1}).all()
    with java.member(group, [topic], kind):
        lag = eventually(lambda: admin.group_lag([group])[group], lambda found: found.state is GroupState.STABLE)
        assert lag.type == GroupType(kind)
        assert rows_of(lag) == described(java, group)
        assert {partition.partition for partition in lag.partitions} == {0, 1, 2}
        assert lag.partitions[below].lost == 1
        assert lag.partitions[TopicPartition(topic, 2)].lag is None
        refused = admin.reset_offsets([group], OffsetSpec.EARLIEST).errors()[group]
        assert isinstance(refused, NonEmptyGroupError)
        printed = java.run_tool(GROUPS, "--reset-offsets", "--group", group, "--to-earliest", "--all-topics")
        assert f"the current state is {lag.state}" in printed


def test_an_open_transaction_is_no_lag_of_readers_of_committed_records(
    admin: BlockingAdminClient, java: JavaAdminClient, topic: str
) -> None:
    group, at = new("committed"), TopicPartition(topic, 1)
    admin.alter_consumer_group_offsets(group, {at: 1}).all()
    with java.open_transaction(new("tx"), Partition(topic, 1), commit=False):
        read = [admin.group_lag([group], isolation=level)[group].partitions[at] for level in IsolationLevel]
        ends = [admin.list_topic_offsets([topic], isolation=level)[topic][at].end for level in IsolationLevel]
    assert [(each.log_end_offset, each.lag) for each in read] == [(4, 3), (3, 2)]
    assert ends == [4, 3]


def test_lag_of_topics_and_groups_that_are_gone(admin: BlockingAdminClient, topic: str) -> None:
    group, gone = new("gone"), TopicPartition("no-such-topic", 0)
    admin.alter_consumer_group_offsets(group, {TopicPartition(topic, 0): 6}).all()
    lags = admin.group_lag({group: [gone, TopicPartition(topic, 0)], "no-such-group": None})
    assert lags[group].partitions.values() == {TopicPartition(topic, 0): PartitionLag(6, 2, 6, 0)}
    assert isinstance(lags[group].partitions.errors()[gone], UnknownTopicOrPartitionError)
    assert isinstance(lags.errors()["no-such-group"], GroupIdNotFoundError)


def test_every_scenario_of_a_reset(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    group = new("reset")
    committed = {TopicPartition(topic, 0): 4, TopicPartition(topic, 1): 1, TopicPartition(topic, 2): 0}
    admin.alter_consumer_group_offsets(group, committed).all()
    for to, arguments in SCENARIOS:
        ours = admin.reset_offsets([group], to, dry_run=True)[group]
        printed = java.run_tool(GROUPS, "--reset-offsets", "--dry-run", "--group", group, "--all-topics", *arguments)
        assert offsets_of(ours) == new_offsets(printed, group), arguments
        assert {at: each.previous_offset for at, each in ours.all().items()} == committed
    assert committed_offsets(admin, group) == committed

    done = admin.reset_offsets([group], ShiftBy(1))[group]
    assert offsets_of(done) == committed_offsets(admin, group)
    assert [each.is_clamped for each in done.all().values()] == [False, False, True]


def committed_offsets(admin: BlockingAdminClient, group: str) -> dict[TopicPartition, int]:
    committed = admin.list_consumer_group_offsets([group])[group].all()
    return {partition: offset.offset for partition, offset in committed.items() if offset is not None}


def test_a_reset_of_whole_topics_makes_a_group(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    group, other = new("made"), new("other")
    ours = admin.reset_offsets([group], OffsetSpec.LATEST, topics=[topic])[group]
    java.run_tool(GROUPS, "--reset-offsets", "--execute", "--group", other, "--topic", topic, "--to-latest")
    assert committed_offsets(admin, group) == committed_offsets(admin, other)
    assert offsets_of(ours) == {TopicPartition(topic, number): end for number, end in enumerate((6, 3, 0))}
    unknown = admin.reset_offsets([group], OffsetSpec.LATEST, topics=[topic, "no-such-topic"]).errors()
    assert isinstance(unknown[group], UnknownTopicOrPartitionError)


def test_offsets_of_topics(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    ours = admin.list_topic_offsets([topic, "no-such-topic"])
    assert isinstance(ours.errors()["no-such-topic"], UnknownTopicOrPartitionError)
    for spec, ends in (
        ("earliest", {at: each.start for at, each in ours[topic].all().items()}),
        ("latest", {at: each.end for at, each in ours[topic].all().items()}),
    ):
        printed = java.run_tool("GetOffsetShell", "--topic", topic, "--time", spec)
        assert {f"{at.topic}:{at.partition}:{offset}" for at, offset in ends.items()} == set(printed.split())


@pytest.mark.parametrize("broker", NEWER, indirect=True)
def test_a_share_group(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    group, tool = new("share"), "consumer.group.ShareGroupCommand"
    with java.member(group, [topic], "share"):
        lag = eventually(
            lambda: admin.group_lag([group]).values().get(group),
            lambda found: found and len(found.partitions) == 3,
        )
        assert lag is not None
        assert lag.type is GroupType.SHARE
        assert isinstance(admin.reset_offsets([group], ToOffset(0)).errors()[group], NonEmptyGroupError)
    for to, argument in ((OffsetSpec.EARLIEST, "--to-earliest"), (OffsetSpec.LATEST, "--to-latest")):
        ours = admin.reset_offsets([group], to, topics=[topic], dry_run=True)[group]
        printed = java.run_tool(tool, "--reset-offsets", "--dry-run", "--group", group, "--topic", topic, argument)
        assert offsets_of(ours) == new_offsets(printed, group)
    admin.reset_offsets([group], OffsetSpec.EARLIEST, topics=[topic])[group].all()
    rows = [line.split() for line in java.run_tool(tool, "--describe", "--group", group).splitlines()]
    after = admin.group_lag([group])[group].partitions.all()
    assert {(TopicPartition(row[1], int(row[2])), row[3], row[4]) for row in rows if row and row[0] == group} == {
        (at, shown(each.current_offset), shown(each.lag)) for at, each in after.items()
    }
    assert [(each.current_offset, each.lag) for each in after.values()] == [(2, 4), (0, 3), (0, 0)]


@pytest.mark.parametrize("broker", NEWER, indirect=True)
def test_a_streams_group(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    group, tool = new("streams"), "streams.StreamsGroupCommand"
    with java.member(group, [topic], "streams"):
        lag = eventually(
            lambda: admin.group_lag([group]).values().get(group),
            lambda found: found and len(found.partitions) == 3 and found.state is GroupState.STABLE,
        )
        assert lag is not None
        assert lag.type is GroupType.STREAMS
        assert all(each.member_ids for each in lag.partitions.all().values())
        printed = java.run_tool(tool, "--describe", "--offsets", "--verbose", "--group", group)
        assert {
            (at, shown(each.current_offset), shown(each.log_end_offset), shown(each.lag))
            for at, each in lag.partitions.all().items()
        } == {
            (TopicPartition(row[1], int(row[2])), row[3], row[5], row[6])
            for row in map(str.split, printed.splitlines())
            if row and row[0] == group
        }
    assert admin.reset_offsets({group: [TopicPartition(topic, 1)]}, ToOffset(2))[group].all()
