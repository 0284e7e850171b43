"""The engine finds the leaders of partitions and the coordinators of groups, and follows them (admin-routing)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

import pytest
from tests.stand_ins.cluster import NodeHandler, StandInCluster

from kafkawire import protocol
from kafkawire.admin.client import AdminClient
from kafkawire.admin.engine.batch_call import BatchCall
from kafkawire.admin.engine.operation import Operation, Outcomes, Request
from kafkawire.admin.engine.route import CoordinatorOf, CoordinatorType, LeaderOf, Route
from kafkawire.admin.results import Results
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol import (
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    RequestTimedOutError,
    UnknownTopicOrPartitionError,
    error_of,
)
from kafkawire.rpc import Request as Received
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import (
    OperationTimeoutError,
)


class _LowWatermarks(Operation[TopicPartition, int, "protocol.DeleteRecordsResponse"]):
    """An operation for the leaders of partitions."""

    name = "low_watermarks"
    api = ApiKey.DELETE_RECORDS
    retried_codes: ClassVar[frozenset[int]] = frozenset()

    def route_of(self, item: TopicPartition) -> Route:
        return LeaderOf(item)

    def build(self, request: Request[TopicPartition]) -> Message:
        topic = DeleteRecordsRequest.DeleteRecordsTopic
        partition = DeleteRecordsRequest.DeleteRecordsPartition
        return DeleteRecordsRequest(
            topics=tuple(topic(item.topic, (partition(item.partition, 0),)) for item in request.items)
        )

    def read(
        self, request: Request[TopicPartition], response: protocol.DeleteRecordsResponse
    ) -> Outcomes[TopicPartition, int]:
        return {
            TopicPartition(topic.name, found.partition_index): error_of(found.error_code, None)
            if found.error_code
            else found.low_watermark
            for topic in response.topics
            for found in topic.partitions
        }


def _watermarks(code: Callable[[int, str, int], int]) -> dict[type[Message], NodeHandler]:
    def answer(node: int, request: Received) -> Message:
        assert isinstance(request.body, DeleteRecordsRequest)
        partition = DeleteRecordsResponse.DeleteRecordsPartitionResult
        return DeleteRecordsResponse(
            topics=tuple(
                DeleteRecordsResponse.DeleteRecordsTopicResult(
                    topic.name,
                    tuple(
                        partition(p.partition_index, node, code(node, topic.name, p.partition_index))
                        for p in topic.partitions
                    ),
                )
                for topic in request.body.topics
            )
        )

    return {DeleteRecordsRequest: answer}


async def _run(client: AdminClient, *items: TopicPartition, seconds: float = 2.0) -> Results[TopicPartition, int]:
    deadline = asyncio.get_running_loop().time() + seconds
    return await BatchCall[TopicPartition, int](client._cluster, deadline).run(_LowWatermarks(), items)


async def test_partitions_are_asked_of_their_leaders_and_share_requests() -> None:
    async with StandInCluster(3, _watermarks(lambda *_: 0)) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 2, 2: 1}, "u": {0: 3}}
        items = [TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("t", 2), TopicPartition("u", 0)]
        assert list((await _run(client, *items)).all().values()) == [1, 2, 1, 3]
        assert sorted(node for node, _ in cluster.asked) == [1, 2, 3]


async def test_a_moved_leader_is_looked_up_again_for_the_partitions_concerned() -> None:
    def code(node: int, _: str, partition: int) -> int:
        if partition == 1 and node == 2:
            cluster.leaders = {"t": {0: 1, 1: 3}}
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return 0

    async with StandInCluster(3, _watermarks(code)) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 2}}
        results = await _run(client, TopicPartition("t", 0), TopicPartition("t", 1))
        assert list(results.all().values()) == [1, 3]
        assert sorted(node for node, _ in cluster.asked) == [1, 2, 3]


async def test_an_unknown_topic_fails_at_once_where_the_operation_does_not_wait_for_it() -> None:
    async with StandInCluster(1, _watermarks(lambda *_: 0)) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1}}
        results = await _run(client, TopicPartition("nope", 0), TopicPartition("t", 0), TopicPartition("t", 9))
        assert list(results.values()) == [TopicPartition("t", 0)]
        assert [type(error) for error in results.errors().values()] == [UnknownTopicOrPartitionError] * 2


async def test_a_partition_without_leader_is_waited_for_until_the_deadline() -> None:
    async with StandInCluster(1, _watermarks(lambda *_: 0)) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: -1}}
        error = (await _run(client, TopicPartition("t", 0), seconds=0.2)).errors()[TopicPartition("t", 0)]
        assert isinstance(error, OperationTimeoutError)
        assert "LEADER_NOT_AVAILABLE" in str(error)


async def test_a_passing_error_that_is_read_when_the_time_is_up_is_the_cause_of_the_timeout() -> None:
    """And not the outcome itself, as it would be if time was up a moment before it was read."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 0.2

    class ReadLate(_LowWatermarks):
        retried_codes: ClassVar[frozenset[int]] = frozenset({ErrorCode.REQUEST_TIMED_OUT})

        def read(
            self, request: Request[TopicPartition], response: protocol.DeleteRecordsResponse
        ) -> Outcomes[TopicPartition, int]:
            while loop.time() <= deadline:
                pass
            return super().read(request, response)

    async with (
        StandInCluster(1, _watermarks(lambda *_: ErrorCode.REQUEST_TIMED_OUT)) as cluster,
        cluster.client() as client,
    ):
        cluster.leaders = {"t": {0: 1}}
        item = TopicPartition("t", 0)
        error = (await BatchCall[TopicPartition, int](client._cluster, deadline).run(ReadLate(), [item])).errors()[item]
        assert isinstance(error, OperationTimeoutError)
        assert isinstance(error.__cause__, RequestTimedOutError)


class _States(Operation[str, str, "protocol.DescribeGroupsResponse"]):
    """An operation for the coordinators of groups."""

    name = "states"
    api = ApiKey.DESCRIBE_GROUPS

    def route_of(self, item: str) -> Route:
        return CoordinatorOf(CoordinatorType.GROUP, item)

    def build(self, request: Request[str]) -> Message:
        return DescribeGroupsRequest(groups=tuple(request.items))

    def read(self, request: Request[str], response: protocol.DescribeGroupsResponse) -> Outcomes[str, str]:
        return {
            group.group_id: error_of(group.error_code, None) if group.error_code else group.group_state
            for group in response.groups
        }


def _groups(code: Callable[[int, str], int], home: Callable[[str], int]) -> dict[type[Message], NodeHandler]:
    def describe(node: int, request: Received) -> Message:
        assert isinstance(request.body, DescribeGroupsRequest)
        group = DescribeGroupsResponse.DescribedGroup
        return DescribeGroupsResponse(
            groups=tuple(
                group(error_code=code(node, name), group_id=name, group_state=f"on {node}")
                for name in request.body.groups
            )
        )

    def find(_: int, request: Received) -> Message:
        assert isinstance(request.body, FindCoordinatorRequest)
        body = request.body
        if request.header.request_api_version < 4:
            return FindCoordinatorResponse(node_id=home(body.key), host="h", port=1)
        found = FindCoordinatorResponse.Coordinator
        return FindCoordinatorResponse(
            coordinators=tuple(found(key, home(key), "h", 1, 0, None) for key in body.coordinator_keys)
        )

    return {DescribeGroupsRequest: describe, FindCoordinatorRequest: find}


@pytest.mark.parametrize("newest", [6, 3])
async def test_groups_are_asked_of_their_coordinators_which_old_brokers_name_one_by_one(newest: int) -> None:
    handlers = _groups(lambda *_: 0, lambda name: int(name[-1]))
    versions: dict[int, range] = {ApiKey.FIND_COORDINATOR: range(newest + 1)}
    async with StandInCluster(2, handlers, versions=versions) as cluster, cluster.client() as client:
        deadline = asyncio.get_running_loop().time() + 2
        results = await BatchCall[str, str](client._cluster, deadline).run(_States(), ["g1", "g2", "h1"])
        assert results.all() == {"g1": "on 1", "g2": "on 2", "h1": "on 1"}
        asked = [type(request) for _, request in cluster.asked]
        assert asked.count(DescribeGroupsRequest) == 2
        assert asked.count(FindCoordinatorRequest) == (1 if newest == 6 else 3)


async def test_a_moved_coordinator_is_looked_up_again() -> None:
    home = {"g": 1}

    def code(node: int, name: str) -> int:
        home[name] = 2
        return ErrorCode.NOT_COORDINATOR if node == 1 else 0

    async with StandInCluster(2, _groups(code, home.__getitem__)) as cluster, cluster.client() as client:
        deadline = asyncio.get_running_loop().time() + 2
        assert (await BatchCall[str, str](client._cluster, deadline).run(_States(), ["g"])).all() == {"g": "on 2"}
