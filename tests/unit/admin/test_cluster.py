"""Nodes, the controller, and how they are found again when they move (admin-bootstrap)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest
from tests.stand_ins.broker import Answer, StandInBroker
from tests.stand_ins.cluster import FAST, StandInCluster

from kafkawire.admin.client import AdminClient
from kafkawire.admin.settings import AdminSettings
from kafkawire.protocol import (
    ApiVersionsRequest,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeQuorumRequest,
    MetadataRequest,
    MetadataResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import MismatchedEndpointTypeError, UnsupportedEndpointTypeError
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ClosedError, ConnectionFailedError, KafkaError, OperationTimeoutError


def soon(seconds: float = 2.0) -> float:
    return asyncio.get_running_loop().time() + seconds


def log_dirs(*_: object) -> Message:
    result = DescribeLogDirsResponse.DescribeLogDirsResult
    return DescribeLogDirsResponse(results=(result(error_code=0, log_dir="/data", topics=()),))


async def test_bootstrap_addresses_are_replaced_by_the_nodes_that_live_there() -> None:
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client() as client:
        (await client.describe_log_dirs([1, 2])).all()
        (await client.describe_log_dirs([1, 2])).all()
        assert [len(broker.clients) for broker in cluster.brokers.values()] == [1, 1]


async def test_a_node_that_moved_is_found_at_its_new_address() -> None:
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client() as client:
        (await client.describe_log_dirs([2])).all()
        old = cluster.brokers[2]
        async with StandInBroker({DescribeLogDirsRequest: log_dirs}) as moved:
            cluster.brokers[2] = moved
            await old.stop()
            (await client.describe_log_dirs([2])).all()
            assert len(moved.requests) == 1


async def test_a_node_that_moved_while_its_old_place_still_answers_is_followed_after_a_refresh() -> None:
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client() as client:
        (await client.describe_log_dirs([2])).all()
        old = cluster.brokers[2]
        async with StandInBroker({DescribeLogDirsRequest: log_dirs}) as moved:
            cluster.brokers[2] = moved
            await client._cluster.refresh(soon())
            (await client.describe_log_dirs([2])).all()
            assert len(moved.requests) == 1
            await old.no_clients()


async def test_a_client_survives_the_loss_of_its_only_bootstrap_server() -> None:
    async with StandInCluster(2) as cluster:
        first = cluster.brokers[1]
        async with AdminClient(f"{first.host}:{first.port}", settings=FAST) as client:
            await client.list_topics()
            await first.stop()
            await client.list_topics()


async def test_a_client_starts_over_from_the_bootstrap_servers_when_all_nodes_are_gone() -> None:
    async with StandInCluster(1) as cluster, StandInCluster(1) as elsewhere:
        bootstrap, later = cluster.brokers[1], elsewhere.brokers[1]
        cluster.brokers = {7: later}  # the bootstrap server names a node elsewhere, as behind a load balancer
        async with AdminClient(f"{bootstrap.host}:{bootstrap.port}", settings=FAST) as client:
            assert [node.id for node in await client._cluster.nodes(soon())] == [7]
            await later.stop()
            async with StandInBroker({MetadataRequest: cluster._metadata}) as replacement:
                cluster.brokers = {8: replacement}
                assert await client.list_topics() == {}
                assert [node.id for node in await client._cluster.nodes(soon())] == [8]
        await bootstrap.stop()


async def test_a_broker_that_asks_for_it_is_left_for_the_bootstrap_servers() -> None:
    answers: Iterator[int] = iter([ErrorCode.REBOOTSTRAP_REQUIRED])

    def metadata(request: Request) -> MetadataResponse:
        code = next(answers, 0)
        return MetadataResponse(error_code=code) if code else cluster._metadata(request)

    async with StandInCluster(1) as cluster, cluster.client() as client:
        cluster.brokers[1]._handlers[ApiKey.METADATA] = metadata
        assert await client.list_topics() == {}


async def test_metadata_without_brokers_is_ignored() -> None:
    answers = iter([MetadataResponse(), MetadataResponse()])

    def metadata(request: Request) -> MetadataResponse:
        return next(answers, None) or cluster._metadata(request)

    async with StandInCluster(1, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client() as client:
        cluster.brokers[1]._handlers[ApiKey.METADATA] = metadata
        (await client.describe_log_dirs([1])).all()


async def test_an_unknown_node_is_waited_for_and_then_reported_with_the_known_nodes() -> None:
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client() as client:
        results = await client.describe_log_dirs([1, 9], timeout=0.3)
        assert list(results.values()) == [1]
        error = results.errors()[9]
        assert isinstance(error, OperationTimeoutError)
        assert isinstance(error.__cause__, ConnectionFailedError)
        assert "no live node 9; live nodes: 1, 2" in str(error)


async def test_a_node_that_comes_back_is_used_again_within_the_call() -> None:
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client() as client:
        (await client.describe_log_dirs([2])).all()
        await cluster.brokers[2].stop()
        call = asyncio.create_task(client.describe_log_dirs([1, 2]))
        await asyncio.sleep(0.05)
        await cluster.brokers[2].start_again()
        assert list((await call).all()) == [1, 2]


async def test_a_node_that_does_not_answer_is_asked_last() -> None:
    def silent_at_first(request: Request) -> Message | Answer:
        return Answer() if not silenced.is_set() else cluster._metadata(request)

    silenced = asyncio.Event()
    settings = AdminSettings(request_timeout=0.1, call_timeout=2.0, retry_backoff=0.005, retry_backoff_maximum=0.01)
    async with StandInCluster(2) as cluster:
        cluster.brokers[1]._handlers[ApiKey.METADATA] = silent_at_first
        async with cluster.client(settings) as client:
            for _ in range(5):
                await client.list_topics()
            # Once for the members or the topics, at most once more before it was known to be silent.
            assert len(cluster.brokers[1].requests) <= 2


async def test_callers_that_want_the_members_at_the_same_time_share_one_request() -> None:
    async with StandInCluster(1, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client() as client:
        await asyncio.gather(*(client.describe_log_dirs([1]) for _ in range(20)))
        asked = [request.body for request in cluster.brokers[1].requests]
        assert sum(isinstance(body, MetadataRequest) for body in asked) == 1


async def test_members_are_asked_for_again_when_they_are_old() -> None:
    settings = AdminSettings(metadata_maximum_age=0.01)
    async with StandInCluster(1, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client(settings) as client:
        for _ in range(2):
            (await client.describe_log_dirs([1])).all()
            await asyncio.sleep(0.02)
        asked = [request.body for request in cluster.brokers[1].requests]
        assert sum(isinstance(body, MetadataRequest) for body in asked) == 2


async def test_a_lookup_that_is_cancelled_goes_on_for_the_others() -> None:
    async def slow(request: Request) -> Message:
        await asyncio.sleep(0.05)
        return cluster._metadata(request)

    async with StandInCluster(1) as cluster, cluster.client() as client:
        cluster.brokers[1]._handlers[ApiKey.METADATA] = slow
        first, second = (asyncio.create_task(client._cluster.refresh(soon())) for _ in range(2))
        await asyncio.sleep(0.01)
        first.cancel()
        await second
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_controllers_are_distinguished_from_brokers() -> None:
    """KIP-919: a client that was pointed at the wrong kind of node says so, at once."""
    no_metadata = StandInBroker({DescribeClusterRequest: lambda _: DescribeClusterResponse()})
    async with no_metadata as controller, AdminClient(f"{controller.host}:{controller.port}", settings=FAST) as client:
        with pytest.raises(MismatchedEndpointTypeError, match="bootstrap_controllers"):
            await client.describe_cluster()


async def test_a_broker_refuses_to_be_taken_for_a_controller() -> None:
    def refuse(_: Request) -> Message:
        return DescribeClusterResponse(error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE, error_message="a broker")

    async with (
        StandInBroker({DescribeClusterRequest: refuse, DescribeQuorumRequest: refuse}) as broker,
        AdminClient(bootstrap_controllers=f"{broker.host}:{broker.port}", settings=FAST) as client,
    ):
        with pytest.raises(MismatchedEndpointTypeError, match="a broker"):
            await client.describe_metadata_quorum()


async def test_a_node_too_old_for_controllers_is_recognized() -> None:
    versions: dict[int, range] = {ApiKey.DESCRIBE_CLUSTER: range(1)}
    async with (
        StandInBroker({DescribeClusterRequest: lambda _: DescribeClusterResponse()}, versions=versions) as broker,
        AdminClient(bootstrap_controllers=f"{broker.host}:{broker.port}", settings=FAST) as client,
    ):
        with pytest.raises(UnsupportedEndpointTypeError):
            await client.describe_metadata_quorum()


async def _outcome(call: asyncio.Task[object]) -> KafkaError | None:
    try:
        await call
    except KafkaError as error:
        return error
    return None


@pytest.mark.parametrize("silent", [ApiVersionsRequest, MetadataRequest], ids=["connecting", "asking for members"])
async def test_closing_ends_calls_that_are_still_reaching_a_node(silent: type[Message]) -> None:
    async def never(_: Request) -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    connecting = silent is ApiVersionsRequest
    async with StandInBroker({MetadataRequest: never}, answer_api_versions=never if connecting else None) as broker:
        client = AdminClient(f"{broker.host}:{broker.port}", settings=FAST)
        call: asyncio.Task[object] = asyncio.create_task(client.list_topics())
        others: asyncio.Task[object] = asyncio.create_task(client.delete_topics(["a"]))
        await asyncio.sleep(0.05)
        await client.close(grace=0)
        assert isinstance(await _outcome(call), ClosedError)
        with suppress(KafkaError):
            assert "ClosedError" in repr(await others)
