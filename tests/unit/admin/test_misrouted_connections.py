"""Connections to the wrong node (KIP-1242), and brokers that let clients start again (KIP-1102)."""

from __future__ import annotations

import msgspec
from tests.stand_ins.broker import Handler, StandInBroker, listed_versions
from tests.stand_ins.cluster import FAST, StandInCluster

from kafkawire.admin.client import AdminClient
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import RebootstrapRequiredError
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ConnectionFailedError, OperationTimeoutError

CLUSTER_ID = "stand-in"


def log_dirs(*_: object) -> Message:
    result = DescribeLogDirsResponse.DescribeLogDirsResult
    return DescribeLogDirsResponse(results=(result(error_code=0, log_dir="/data", topics=()),))


def checks(broker: StandInBroker, cluster_id: str, node_id: int) -> list[tuple[str | None, int]]:
    """Have a broker check who it should be, as those of 4.4 do; the ids that clients sent."""
    sent: list[tuple[str | None, int]] = []

    def answer(request: Request) -> Message:
        assert isinstance(request.body, ApiVersionsRequest)
        expected = request.body.cluster_id, request.body.node_id
        sent.append(expected)
        if expected not in {(None, -1), (cluster_id, node_id)}:
            return ApiVersionsResponse(ErrorCode.REBOOTSTRAP_REQUIRED)
        return ApiVersionsResponse(api_keys=listed_versions(broker.versions))

    broker._answer_api_versions = answer
    return sent


def client_of(broker: StandInBroker) -> AdminClient:
    """A client with the address of this broker only to begin with."""
    return AdminClient(f"{broker.host}:{broker.port}", settings=FAST)


async def test_connections_name_the_node_that_they_should_lead_to_except_at_bootstrap_addresses() -> None:
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster:
        sent = [checks(broker, CLUSTER_ID, node) for node, broker in cluster.brokers.items()]
        first = cluster.brokers[1]
        async with client_of(first) as client:
            (await client.describe_log_dirs([1, 2])).all()
            await first.stop()
            await first.start_again()
            (await client.describe_log_dirs([1, 2])).all()
        assert sent == [[(None, -1), (CLUSTER_ID, 1)], [(CLUSTER_ID, 2)]]


async def test_no_ids_are_sent_if_the_check_is_switched_off() -> None:
    settings = msgspec.structs.replace(FAST, cluster_check=False)
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client(settings) as client:
        sent = [checks(broker, CLUSTER_ID, node) for node, broker in cluster.brokers.items()]
        (await client.describe_log_dirs([1, 2])).all()
        assert {identity for each in sent for identity in each} == {(None, -1)}


async def test_a_client_that_is_led_elsewhere_finds_the_cluster_again_within_the_call() -> None:
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster, StandInBroker() as stranger:
        checks(stranger, "another", 2)
        real = cluster.brokers[2]

        def metadata(request: Request) -> MetadataResponse:
            cluster.brokers[2] = stranger if len(asked) == 0 else real
            asked.append(request)
            return cluster._metadata(request)

        asked: list[Request] = []
        handler: Handler = metadata
        cluster.brokers[1]._handlers[ApiKey.METADATA] = handler
        async with client_of(cluster.brokers[1]) as client:
            (await client.describe_log_dirs([1, 2])).all()
        assert len(stranger.clients) == 1
        assert len(real.requests) == 1
        assert len(asked) == 2  # the second time from the bootstrap address, by a new connection
        assert len(cluster.brokers[1].clients) == 2


async def test_a_client_that_always_reaches_the_wrong_node_raises_an_error() -> None:
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster, StandInBroker() as stranger:
        checks(stranger, "another", 5)
        cluster.brokers[2] = stranger
        async with client_of(cluster.brokers[1]) as client:
            results = await client.describe_log_dirs([1, 2], timeout=0.5)
            assert list(results.values()) == [1]
            error = results.errors()[2]
    assert isinstance(error, OperationTimeoutError)
    cause = error.__cause__
    assert isinstance(cause, ConnectionFailedError)
    assert f"is not node 2 of the cluster {CLUSTER_ID}" in str(cause)
    assert isinstance(cause.__cause__, RebootstrapRequiredError)


async def test_a_cluster_that_took_the_place_of_another_is_adopted() -> None:
    async with StandInCluster(1, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client() as client:
        broker = cluster.brokers[1]
        (await client.describe_log_dirs([1])).all()

        def metadata(request: Request) -> MetadataResponse:
            answer = cluster._metadata(request)
            return msgspec.structs.replace(answer, cluster_id="another")

        broker._handlers[ApiKey.METADATA] = metadata
        checks(broker, "another", 1)
        await broker.stop()
        await broker.start_again()
        (await client.describe_log_dirs([1])).all()
        assert client._cluster.cluster_id == "another"


async def test_a_broker_that_sends_its_clients_away_is_left_with_all_connections() -> None:
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client() as client:
        (await client.describe_log_dirs([1, 2])).all()
        before = [client_ for broker in cluster.brokers.values() for client_ in broker.clients]
        sent_away: list[int] = []

        def metadata(request: Request) -> MetadataResponse:
            if not sent_away:
                sent_away.append(1)
                return MetadataResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
            return cluster._metadata(request)

        for broker in cluster.brokers.values():
            broker._handlers[MetadataRequest.API_KEY] = metadata
        client._cluster.outdate()
        (await client.describe_log_dirs([1, 2])).all()
        assert sent_away
        assert all(client_.reader.at_eof() for client_ in before)
