"""Faults as clients see them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import NotControllerError, PolicyViolationError

CREATE = CreateTopicsRequest((CreateTopicsRequest.CreatableTopic("t", 1, 1),))
ALL_TOPICS = MetadataRequest(None)


@pytest.fixture
async def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def broker(clock: ManualClock) -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker({"connections.max.idle.ms": "-1"}, clock=clock) as broker:
        yield broker


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[BrokerConnection]:
    async with connected_to(broker) as client:
        yield client


async def create(client: BrokerConnection, version: int = 7) -> int:
    return (await client.ask(CREATE, version, CreateTopicsResponse)).topics[0].error_code


async def topics(client: BrokerConnection) -> list[str | None]:
    return [topic.name for topic in (await client.ask(ALL_TOPICS, 12, MetadataResponse)).topics]


async def is_closed(answer: Awaitable[object]) -> bool:
    try:
        await answer
    except (asyncio.IncompleteReadError, ConnectionError):
        return True
    return False


async def test_a_request_is_refused_the_given_number_of_times(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    fault = broker.faults.refuse(CreateTopicsRequest, error=NotControllerError, times=2)
    assert [await create(client) for _ in range(3)] == [41, 41, 0]
    assert fault.hits == 2


async def test_nothing_is_done_that_is_refused(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    with broker.faults.refuse(ApiKey.CREATE_TOPICS, error=12_345, message="not today"):
        answer = await client.ask(CREATE, 7, CreateTopicsResponse)
        assert [(t.name, t.error_code, t.error_message) for t in answer.topics] == [("t", 12_345, "not today")]
    assert await topics(client) == []


async def test_faults_of_one_kind_come_one_after_the_other(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    broker.faults.refuse(CreateTopicsRequest, error=NotControllerError, times=1)
    broker.faults.refuse(CreateTopicsRequest, error=PolicyViolationError, times=1)
    assert [await create(client) for _ in range(3)] == [41, 44, 0]


async def test_a_connection_is_dropped_before_anything_is_done(broker: EmbeddedBroker) -> None:
    broker.faults.drop(CreateTopicsRequest, times=1)
    async with connected_to(broker) as client:
        assert await is_closed(create(client))
    async with connected_to(broker) as client:
        assert await topics(client) == []


async def test_a_connection_is_dropped_after_it_was_done(broker: EmbeddedBroker) -> None:
    broker.faults.drop(CreateTopicsRequest, after_handling=True, times=1)
    async with connected_to(broker) as client:
        assert await is_closed(create(client))
    async with connected_to(broker) as client:
        assert await topics(client) == ["t"]


async def test_a_request_waits_on_the_clock_of_the_broker(
    broker: EmbeddedBroker, client: BrokerConnection, clock: ManualClock
) -> None:
    broker.faults.delay(CreateTopicsRequest, seconds=3600.0, times=1)
    created = asyncio.ensure_future(create(client))
    async with connected_to(broker) as other:
        while not clock.sleepers:
            assert await topics(other) == []
    clock.advance(3600.0)
    assert await created == 0


async def test_a_client_is_throttled(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    with broker.faults.throttle(milliseconds=777):
        assert (await client.ask(DescribeClusterRequest(), 1, DescribeClusterResponse)).throttle_time_ms == 777
        assert (await client.ask(MetadataRequest(()), 1, MetadataResponse)).throttle_time_ms == 0  # has no place for it
    assert (await client.ask(DescribeClusterRequest(), 1, DescribeClusterResponse)).throttle_time_ms == 0


async def test_only_some_versions_and_clients_meet_a_fault(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    broker.faults.refuse(CreateTopicsRequest, error=41, versions=range(6))
    broker.faults.refuse(MetadataRequest, error=41, client_id="other")
    assert [await create(client, version) for version in (5, 7)] == [41, 0]
    assert await topics(client) == ["t"]


async def test_a_fault_without_an_api_concerns_all_except_those_for_connecting(broker: EmbeddedBroker) -> None:
    broker.faults.drop()
    async with connected_to(broker) as client:
        await client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)
        assert await is_closed(topics(client))


async def test_versions_are_capped(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    async def highest() -> dict[int, int]:
        answer = await client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)
        return {api.api_key: api.max_version for api in answer.api_keys}

    before = await highest()
    cap = broker.faults.cap_versions(CreateTopicsRequest, highest=4)
    broker.faults.hide(DescribeClusterRequest)
    capped = await highest()
    assert capped.pop(ApiKey.CREATE_TOPICS) == 4
    assert capped == {k: v for k, v in before.items() if k not in {ApiKey.CREATE_TOPICS, ApiKey.DESCRIBE_CLUSTER}}
    assert await create(client, 4) == 0
    async with connected_to(broker) as other:
        assert await is_closed(create(other, 5))
    cap.remove()
    broker.faults.clear()
    assert await highest() == before


async def test_a_refused_request_without_an_answer_gets_none(broker: EmbeddedBroker) -> None:
    broker.faults.refuse(ProduceRequest, error=NotControllerError)
    async with connected_to(broker) as client:
        client.send(ProduceRequest(acks=0), 9)
        assert await is_closed(client.frame())


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("drop", {"times": 0}),
        ("delay", {"seconds": -1.0}),
        ("throttle", {"milliseconds": -1}),
        ("refuse", {"error": 1 << 15}),
    ],
)
def test_faults_that_make_no_sense(method: str, arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"times|delay|throttle|error code"):
        getattr(EmbeddedBroker().faults, method)(**arguments)


def test_responses_are_no_requests() -> None:
    with pytest.raises(ValueError, match="CreateTopicsResponse"):
        EmbeddedBroker().faults.drop(CreateTopicsResponse)


def test_a_misspelt_limit_is_no_fault_without_limit() -> None:
    faults = EmbeddedBroker().faults
    limits: dict[str, Any] = {"time": 2}
    other: dict[str, Any] = {"x": 1}
    with pytest.raises(TypeError, match="no limit 'time'; did you mean times"):
        faults.refuse(CreateTopicsRequest, error=41, **limits)
    with pytest.raises(TypeError, match="no limit 'x'; there are versions, client_id, topic, partition, group"):
        faults.drop(CreateTopicsRequest, **other)
    assert not faults


def test_a_fault_takes_no_name_in_place_of_a_class() -> None:
    name: Any = "CreateTopicsRequest"
    with pytest.raises(TypeError, match="class of a request, got 'CreateTopicsRequest'"):
        EmbeddedBroker().faults.drop(name)


def test_faults_say_what_they_do() -> None:
    faults = EmbeddedBroker().faults
    faults.refuse(CreateTopicsRequest, error=41, times=1)
    faults.drop()
    text = repr(faults)
    assert "Refuse(code=41) for CREATE_TOPICS, 0 hits" in text
    assert "Drop() for all APIs" in text
