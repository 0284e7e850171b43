"""The producers of partitions, and markers for hanging transactions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.stand_ins.cluster import NodeHandler, StandInCluster

from kafkawire.model.partitions import TopicPartition
from kafkawire.model.transactions import AbortTransactionSpec, ProducerState
from kafkawire.protocol import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    InvalidProducerEpochError,
    NotLeaderOrFollowerError,
    TopicAuthorizationFailedError,
    UnknownServerError,
    UnknownTopicOrPartitionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import OperationTimeoutError

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
SPEC = AbortTransactionSpec(T0, 7, 3, 5)


def describes(code: Callable[[int, TopicPartition], int]) -> dict[type[Message], NodeHandler]:
    def answer(node: int, request: Request) -> Message:
        response = DescribeProducersResponse
        assert isinstance(request.body, DescribeProducersRequest)
        producers = (response.ProducerState(7, 3, 9, 1_000, 5, 2), response.ProducerState(8, 0, -1, -1, -1, -1))
        return response(
            topics=tuple(
                response.TopicResponse(
                    topic.name,
                    tuple(
                        response.PartitionResponse(n, found, "as you see", ())
                        if (found := code(node, TopicPartition(topic.name, n)))
                        else response.PartitionResponse(n, 0, None, producers)
                        for n in topic.partition_indexes
                    ),
                )
                for topic in request.body.topics
            )
        )

    return {DescribeProducersRequest: answer}


def marks(code: Callable[[int], int | None]) -> dict[type[Message], NodeHandler]:
    """A code for each node; None for an answer that says nothing."""

    def answer(node: int, request: Request) -> Message:
        response = WriteTxnMarkersResponse
        assert isinstance(request.body, WriteTxnMarkersRequest)
        found = code(node)
        if found is None:
            return response(markers=())
        partition = response.WritableTxnMarkerPartitionResult(0, found)
        topic = response.WritableTxnMarkerTopicResult("t", (partition,))
        return response(markers=(response.WritableTxnMarkerResult(7, (topic,)),))

    return {WriteTxnMarkersRequest: answer}


async def test_producers_are_asked_of_the_leaders_each_partition_with_its_outcome() -> None:
    handlers = describes(lambda _, partition: ErrorCode.TOPIC_AUTHORIZATION_FAILED if partition == U0 else 0)
    async with StandInCluster(2, handlers) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 2}, "u": {0: 1}}
        results = await client.describe_producers([T0, T1, U0])
        assert sorted(node for node, _ in cluster.asked) == [1, 2]
    assert list(results.values()) == [T0, T1]
    assert results[T0] == (
        ProducerState(7, 3, 9, 1_000, 5, 2),
        ProducerState(8, 0, None, None, None, None),
    )
    error = results.errors()[U0]
    assert isinstance(error, TopicAuthorizationFailedError)
    assert error.message == "as you see"


async def test_a_partition_whose_leader_has_moved_is_asked_for_at_the_new_one() -> None:
    def code(node: int, partition: TopicPartition) -> int:
        if partition == T1 and node == 1:
            cluster.leaders = {"t": {0: 1, 1: 2}}
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return 0

    async with StandInCluster(2, describes(code)) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 1}}
        assert len((await client.describe_producers([T0, T1])).all()) == 2
        assert [node for node, _ in cluster.asked] == [1, 2]


async def test_a_topic_that_is_not_known_yet_is_waited_for() -> None:
    async with StandInCluster(1, describes(lambda *_: 0)) as cluster, cluster.client() as client:
        error = (await client.describe_producers([T0], timeout=0.2)).errors()[T0]
    assert isinstance(error, OperationTimeoutError)
    assert isinstance(error.__cause__, UnknownTopicOrPartitionError)


async def test_a_given_node_is_asked_instead_and_no_leader_looked_for() -> None:
    handlers = describes(lambda *_: ErrorCode.NOT_LEADER_OR_FOLLOWER)
    async with StandInCluster(2, handlers) as cluster, cluster.client() as client:
        errors = (await client.describe_producers([T0], node=2)).errors()
        assert [node for node, _ in cluster.asked] == [2]
    assert isinstance(errors[T0], NotLeaderOrFollowerError)


@pytest.mark.parametrize("newest", range(3))
async def test_a_marker_for_an_abort_is_written_at_the_leader(newest: int) -> None:
    versions: dict[int, range] = {ApiKey.WRITE_TXN_MARKERS: range(newest + 1)}
    async with StandInCluster(2, marks(lambda _: 0), versions=versions) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 2}}
        await client.abort_transaction(SPEC)
        ((node, request),) = cluster.asked
    topic = WriteTxnMarkersRequest.WritableTxnMarkerTopic("t", (0,))
    assert node == 2
    assert request == WriteTxnMarkersRequest((WriteTxnMarkersRequest.WritableTxnMarker(7, 3, False, (topic,), 5),))


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ],
)
async def test_a_marker_goes_to_the_new_leader(code: ErrorCode) -> None:
    def codes(node: int) -> int:
        cluster.leaders = {"t": {0: 2}}
        return code if node == 1 else 0

    async with StandInCluster(2, marks(codes)) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1}}
        await client.abort_transaction(SPEC)
        assert [node for node, _ in cluster.asked] == [1, 2]


@pytest.mark.parametrize(
    ("code", "expected"), [(ErrorCode.INVALID_PRODUCER_EPOCH, InvalidProducerEpochError), (None, UnknownServerError)]
)
async def test_the_error_of_a_marker_is_raised(code: int | None, expected: type[Exception]) -> None:
    async with StandInCluster(1, marks(lambda _: code)) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1}}
        with pytest.raises(expected):
            await client.abort_transaction(SPEC)
        assert len(cluster.asked) == 1
