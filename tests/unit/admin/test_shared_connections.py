"""Connections to nodes: shared, with pauses between attempts, and never to an old address of a node."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from tests.stand_ins.broker import StandInBroker

from kafkawire.admin.backoff import Backoff
from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.event_loop import shared
from kafkawire.admin.pool import Connect, ConnectionPool
from kafkawire.model.nodes import Node
from kafkawire.protocol import MetadataRequest, MetadataResponse
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ClosedError, ConnectionFailedError, DisconnectedError

SECONDS = 5.0
SETTINGS = ConnectionSettings(client_id="test")


def soon(seconds: float = SECONDS) -> float:
    return asyncio.get_running_loop().time() + seconds


async def connect(node: Node, deadline: float) -> Channel:
    return await Channel.connect(node.host, node.port, SETTINGS, deadline=deadline)


def pool(connect: Connect = connect, pause: float = 0.01) -> ConnectionPool:
    return ConnectionPool(connect, Backoff(pause, pause), SECONDS)


def broker() -> StandInBroker:
    return StandInBroker({MetadataRequest: lambda _: MetadataResponse()})


def refusing(attempts: list[float]) -> Connect:
    async def refuse(node: Node, _: float) -> Channel:
        attempts.append(asyncio.get_running_loop().time())
        raise ConnectionFailedError(f"{node}: refused")

    return refuse


def waiting(begun: asyncio.Event, until: asyncio.Event) -> Connect:
    async def wait(node: Node, deadline: float) -> Channel:
        begun.set()
        await until.wait()
        return await connect(node, deadline)

    return wait


async def test_callers_share_one_attempt_and_one_connection() -> None:
    async with broker() as peer:
        connections, node = pool(), Node(1, peer.host, peer.port)
        first, *others = await asyncio.gather(*(connections.channel(node, soon()) for _ in range(20)))
        assert all(other is first for other in others)
        assert len(peer.clients) == 1
        await connections.close()


async def test_a_failed_attempt_fails_all_waiting_calls_and_the_next_one_pauses() -> None:
    attempts: list[float] = []
    connections, node = pool(refusing(attempts), pause=0.1), Node(1, "nowhere", 1)
    failures = await asyncio.gather(*(connections.channel(node, soon()) for _ in range(3)), return_exceptions=True)
    assert [type(failure) for failure in failures] == [ConnectionFailedError] * 3
    assert len(attempts) == 1
    assert connections.is_resting(node)
    with pytest.raises(ConnectionFailedError):
        await connections.channel(node, soon())
    assert attempts[1] - attempts[0] >= 0.08
    await connections.close()


async def test_a_caller_that_gives_up_leaves_the_attempt_to_the_others() -> None:
    begun, until = asyncio.Event(), asyncio.Event()
    async with broker() as peer:
        connections, node = pool(waiting(begun, until)), Node(1, peer.host, peer.port)
        patient, hasty = (asyncio.create_task(connections.channel(node, soon())) for _ in range(2))
        await begun.wait()
        hasty.cancel()
        with pytest.raises(TimeoutError):
            await connections.channel(node, soon(0.01))
        until.set()
        assert (await patient).is_usable
        assert len(peer.clients) == 1
        await connections.close()


async def test_closing_while_connecting_is_reported_as_closed_and_cancels_no_caller() -> None:
    begun, never = asyncio.Event(), asyncio.Event()
    connections = pool(waiting(begun, never))
    caller = asyncio.create_task(connections.channel(Node(1, "host", 1), soon()))
    await begun.wait()
    await connections.close()
    with pytest.raises(ClosedError):
        await caller
    with pytest.raises(ClosedError):
        await connections.channel(Node(1, "host", 1), soon())


async def test_an_attempt_at_an_address_that_a_node_has_left_is_given_up() -> None:
    begun, never = asyncio.Event(), asyncio.Event()

    async def elsewhere(node: Node, deadline: float) -> Channel:
        if node.host == "old":
            begun.set()
            await never.wait()
        return await connect(node, deadline)

    async with broker() as peer:
        connections = pool(elsewhere)
        caller = asyncio.create_task(connections.channel(Node(1, "old", 1), soon()))
        await begun.wait()
        assert (await connections.channel(Node(1, peer.host, peer.port), soon())).is_usable
        with pytest.raises(ConnectionFailedError, match="no longer at this address"):
            await caller
        await connections.close()


async def test_the_connection_to_an_address_that_a_node_has_left_is_closed() -> None:
    async with broker() as old, broker() as new:
        connections = pool()
        left = await connections.channel(Node(1, old.host, old.port), soon())
        assert connections.connected(Node(1, new.host, new.port)) is None
        await connections.channel(Node(1, new.host, new.port), soon())
        assert not left.is_usable
        await old.no_clients()
        await connections.close()


async def test_a_bootstrap_connection_becomes_that_of_the_node_found_there() -> None:
    async with broker() as peer:
        connections, bootstrap, node = pool(), Node(-1, peer.host, peer.port), Node(7, peer.host, peer.port)
        channel = await connections.channel(bootstrap, soon())
        connections.adopt(bootstrap, node)
        assert connections.connected(node) is channel
        assert connections.connected(bootstrap) is None
        await connections.close()
        assert not channel.is_usable


async def test_a_bootstrap_connection_takes_the_place_of_one_that_broke_but_of_no_other() -> None:
    async with broker() as peer:
        connections, bootstrap, node = pool(), Node(-1, peer.host, peer.port), Node(7, peer.host, peer.port)
        first = await connections.channel(node, soon())
        second = await connections.channel(bootstrap, soon())
        connections.adopt(bootstrap, node)
        assert connections.connected(node) is first
        await first.close()
        connections.adopt(bootstrap, node)
        assert connections.connected(node) is second
        await connections.close()


async def test_shared_work_that_fails_fails_for_all() -> None:
    async def fail() -> None:
        raise ConnectionFailedError("refused")

    stopped: Callable[[], ClosedError] = lambda: ClosedError("stopped")  # noqa: E731
    work = asyncio.create_task(fail())
    for outcome in await asyncio.gather(*(shared(work, soon(), stopped) for _ in range(2)), return_exceptions=True):
        assert isinstance(outcome, ConnectionFailedError)


async def test_starting_over_closes_idle_connections_and_lets_requests_in_flight_end() -> None:
    begun, until = asyncio.Event(), asyncio.Event()

    async def slow(_: Request) -> Message:
        begun.set()
        await until.wait()
        return MetadataResponse()

    async with StandInBroker({MetadataRequest: slow}) as busy, StandInBroker() as idle:
        connections = pool()
        working = await connections.channel(Node(1, busy.host, busy.port), soon())
        waiting = await connections.channel(Node(2, idle.host, idle.port), soon())
        answer = asyncio.create_task(working.request(MetadataRequest(topics=()), MetadataResponse, 12, soon()))
        await begun.wait()
        await connections.start_over()
        until.set()
        assert await answer == MetadataResponse()
        with pytest.raises(DisconnectedError):
            await waiting.request(MetadataRequest(topics=()), MetadataResponse, 12, soon())
        assert connections.connected(Node(1, busy.host, busy.port)) is None
        assert await connections.channel(Node(1, busy.host, busy.port), soon()) is not working
        await connections.close()


async def test_a_connection_that_is_left_is_closed_after_its_last_answer() -> None:
    """Not only by the pool, which forgets it when more connections are left."""
    begun, until = asyncio.Event(), asyncio.Event()

    async def slow(_: Request) -> Message:
        begun.set()
        await until.wait()
        return MetadataResponse()

    async with StandInBroker({MetadataRequest: slow}) as peer:
        connections, node = pool(), Node(1, peer.host, peer.port)
        left = await connections.channel(node, soon())
        answer = asyncio.create_task(left.request(MetadataRequest(topics=()), MetadataResponse, 12, soon()))
        await begun.wait()
        await connections.start_over()
        until.set()
        assert await answer == MetadataResponse()
        await peer.no_clients()
        await connections.close()


async def test_an_idle_connection_to_an_address_that_a_node_has_left_is_closed_for_a_bootstrap_connection() -> None:
    async with broker() as old, broker() as new:
        connections, bootstrap = pool(), Node(-1, new.host, new.port)
        await connections.channel(Node(7, old.host, old.port), soon())
        adopted = await connections.channel(bootstrap, soon())
        connections.adopt(bootstrap, Node(7, new.host, new.port))
        assert connections.connected(Node(7, new.host, new.port)) is adopted
        await old.no_clients()
        await connections.close()
