"""The first and last offsets of all partitions of topics."""

from __future__ import annotations

from tests.stand_ins.cluster import StandInCluster
from tests.stand_ins.groups import Log, StandInGroups

from kafkawire.model.partitions import IsolationLevel, OffsetRange, TopicPartition
from kafkawire.protocol import ListOffsetsRequest
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownServerError,
    UnknownTopicOrPartitionError,
)

T = [TopicPartition("t", number) for number in range(4)]
U0 = TopicPartition("u", 0)


async def test_each_topic_has_its_partitions_in_order_with_first_and_last_offset() -> None:
    logs = {T[0]: Log(10, 100, stable=60), T[1]: Log(0, 7), U0: Log(3, 3)}
    async with StandInCluster(2, StandInGroups({}, logs).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {1: 2, 0: 1}, "u": {0: 2}}
        offsets = await client.list_topic_offsets(["u", "t"])
        assert list(offsets) == ["u", "t"]
        assert list(offsets["t"].all().items()) == [(T[0], OffsetRange(10, 100)), (T[1], OffsetRange(0, 7))]
        assert [each.count for each in offsets["t"].values().values()] == [90, 7]
        assert offsets["u"].all() == {U0: OffsetRange(3, 3)}
        assert sum(isinstance(body, ListOffsetsRequest) for _, body in cluster.asked) == 4  # two for each leader
        stable = await client.list_topic_offsets(["t"], isolation=IsolationLevel.READ_COMMITTED)
        assert stable["t"][T[0]] == OffsetRange(10, 60)


async def test_topics_and_partitions_fail_alone_and_at_once() -> None:
    logs = {T[0]: Log(0, 1), T[1]: Log(error=ErrorCode.TOPIC_AUTHORIZATION_FAILED), T[3]: Log(-1, 5)}
    async with StandInCluster(1, StandInGroups({}, logs).handlers()) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 1, 2: -1, 3: 1}}
        offsets = await client.list_topic_offsets(["t", "gone"])
        assert isinstance(offsets.errors()["gone"], UnknownTopicOrPartitionError)
        assert offsets["t"].values() == {T[0]: OffsetRange(0, 1)}
        assert {at: type(error) for at, error in offsets["t"].errors().items()} == {
            T[1]: TopicAuthorizationFailedError, T[2]: LeaderNotAvailableError, T[3]: UnknownServerError,
        }  # fmt: skip
