"""Connections to nodes, with real sockets."""

from __future__ import annotations

import asyncio

import pytest
from tests.stand_ins.broker import StandInBroker
from tests.stand_ins.channels import SECONDS, SETTINGS, ask, echo, run, soon

from kafkawire.admin.backoff import Backoff
from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.pool import ConnectionPool
from kafkawire.model.nodes import Node
from kafkawire.protocol import MetadataRequest, MetadataResponse
from kafkawire.rpc import Request
from kafkawire.wire.kafka_errors import ClosedError, OperationTimeoutError


async def connect(node: Node, deadline: float) -> Channel:
    return await Channel.connect(node.host, node.port, SETTINGS, deadline=deadline)


def pool() -> ConnectionPool:
    return ConnectionPool(connect, Backoff(0.01, 0.01), SECONDS)


def test_a_connection_that_missed_a_deadline_is_replaced_and_closed_with_the_pool() -> None:
    async def body() -> None:
        held = asyncio.Event()

        async def late(request: Request) -> MetadataResponse:
            await held.wait()
            return echo(request)

        async with StandInBroker({MetadataRequest: late}) as broker:
            connections, node = pool(), Node(1, broker.host, broker.port)
            first = await connections.channel(node, soon())
            assert isinstance(first, Channel)
            neighbour = asyncio.ensure_future(ask(first))
            with pytest.raises(OperationTimeoutError):
                await ask(first, seconds=0.01)
            second = await connections.channel(node, soon())
            assert second is not first
            assert await connections.channel(node, soon()) is second
            await connections.close()
            with pytest.raises(ClosedError):
                await neighbour
            held.set()
            await broker.no_clients()

    run(body())
