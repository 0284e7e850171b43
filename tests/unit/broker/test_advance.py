"""A test moves the clock of a broker, and sees at once what became due."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.embedded.connection import BrokerConnection, connected_to
from tests.unit.broker.test_cleaning import produce
from tests.unit.broker.test_records_on_disk import create, listed

from kafkawire.broker import EmbeddedBroker, ManualClock, ThreadedBroker
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FetchRequest,
    FetchResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)

JOIN = JoinGroupRequest("g", 10_000, 60_000, "", None, "consumer", (JoinGroupRequest.JoinGroupRequestProtocol("p"),))


async def states(client: BrokerConnection) -> tuple[str, int]:
    (group,) = (await client.ask(DescribeGroupsRequest(("g",)), 5, DescribeGroupsResponse)).groups
    return group.group_state, len(group.members)


@pytest.mark.parametrize("on_disk", [False, True])
async def test_a_session_ends_when_the_clock_says_so(*, on_disk: bool, tmp_path: Path) -> None:
    data_dir = tmp_path if on_disk else None
    async with EmbeddedBroker(clock=ManualClock(), data_dir=data_dir) as broker, connected_to(broker) as client:
        joining = asyncio.create_task(client.ask(JOIN, 3, JoinGroupResponse))
        await until_in_the_group(broker)
        await broker.advance(3)  # group.initial.rebalance.delay.ms
        joined = await joining
        sync = SyncGroupRequest("g", joined.generation_id, joined.member_id)
        assert (await client.ask(sync, 3, SyncGroupResponse)).error_code == 0
        assert await states(client) == ("Stable", 1)
        await broker.advance(9.9)
        assert await states(client) == ("Stable", 1)
        await broker.advance(0.2)
        assert await states(client) == ("Empty", 0)


async def until_in_the_group(broker: EmbeddedBroker) -> None:
    while not await in_the_group(broker):
        pass


async def in_the_group(broker: EmbeddedBroker) -> int:
    async with connected_to(broker) as other:
        return (await states(other))[1]


async def test_what_follows_from_a_timer_is_on_time_too() -> None:
    """The session begins when the wait for more members is over, at second 3, not where the clock was moved to."""
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        client.send(JOIN, 3)
        await until_in_the_group(broker)
        await broker.advance(3 + 9.9)
        assert await in_the_group(broker) == 1
        await broker.advance(0.2)
        assert await in_the_group(broker) == 0


async def test_records_are_gone_on_return(tmp_path: Path) -> None:
    properties = {"connections.max.idle.ms": "-1"}
    async with (
        EmbeddedBroker(properties, clock=ManualClock(), data_dir=tmp_path) as broker,
        connected_to(broker) as client,
    ):
        await create(client, {"retention.ms": "3600000"})
        await produce(client, broker.clock.now_ms(), (b"k", b"v"))
        await broker.advance(3600)
        assert (await listed(client, -2)).offset == 0
        await broker.advance(301)  # log.retention.check.interval.ms
        assert (await listed(client, -2)).offset == 1
        assert not (tmp_path / "t-0" / f"{0:020}.log").exists()


async def test_a_fetch_waits_by_the_clock() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        await create(client)
        partition = (FetchRequest.FetchPartition(0, partition_max_bytes=1000),)
        fetch = FetchRequest(
            max_wait_ms=60_000, min_bytes=1, topics=(FetchRequest.FetchTopic("t", partitions=partition),)
        )
        answer = asyncio.create_task(client.ask(fetch, 12, FetchResponse))
        async with connected_to(broker) as other:
            await other.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)
        await broker.advance(59)
        assert not answer.done()
        await broker.advance(1)
        assert (await answer).responses[0].partitions[0].error_code == 0


async def test_idle_connections_are_closed_by_the_clock() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        await client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)
        await broker.advance(600)
        await client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)
        await broker.advance(601)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)


def test_a_broker_in_a_thread_has_a_clock_too() -> None:
    clock = ManualClock()
    with ThreadedBroker(clock=clock) as broker:
        assert broker.clock is clock
        broker.advance(3600)
        assert clock.seconds() == 3600


def test_the_clock_of_the_machine_cannot_be_moved() -> None:
    with ThreadedBroker() as broker:
        with pytest.raises(RuntimeError, match=r"SystemClock, which cannot be moved: .* clock=ManualClock"):
            _ = broker.clock
        with pytest.raises(RuntimeError, match="cannot be moved"):
            broker.advance(1)


def test_only_a_broker_that_runs_can_do_what_becomes_due() -> None:
    with pytest.raises(RuntimeError, match="does not run"):
        ThreadedBroker(clock=ManualClock()).advance(1)
    with pytest.raises(RuntimeError, match="does not run"):
        asyncio.run(EmbeddedBroker(clock=ManualClock()).advance(1))
