"""Cancellation at every await (admin-closing): the connection stays whole, and neighbours get their own answers."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

import pytest
from tests.stand_ins.broker import StandInBroker
from tests.stand_ins.channels import SETTINGS, ask, connected, echo, soon
from tests.stand_ins.sasl_server import SaslServer, ScramServer

from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.sasl.credentials import Credentials, ScramCredentials
from kafkawire.protocol import MetadataRequest

MORE_TURNS_THAN_A_REQUEST_NEEDS = 40
RIGHT = ScramCredentials("alice", "secret")
SASL: dict[str, Callable[[], SaslServer]] = {"SCRAM-SHA-512": lambda: ScramServer("alice", "secret")}


async def give() -> Credentials:
    await asyncio.sleep(0)
    return RIGHT


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("is_full", [False, True])
def test_a_request_that_is_cancelled_leaves_its_neighbours_alone(is_full: bool) -> None:
    async def body() -> list[bool]:
        was_cancelled = []
        async with StandInBroker({MetadataRequest: echo}) as broker:
            channel = await connected(broker)
            for after in range(MORE_TURNS_THAN_A_REQUEST_NEEDS):
                if is_full:
                    channel.pause_writing()
                before, victim, behind = (
                    asyncio.create_task(ask(channel, f"{name}-{after}")) for name in ("before", "victim", "behind")
                )
                await turns(after)
                victim.cancel()
                channel.resume_writing()
                assert await before == f"before-{after}"
                assert await behind == f"behind-{after}"
                (outcome,) = await asyncio.gather(victim, return_exceptions=True)
                was_cancelled.append(isinstance(outcome, asyncio.CancelledError))
                assert await ask(channel, "next") == "next"
                assert channel.in_flight == 0
            assert len(broker.clients) == 1
            await channel.close()
        return was_cancelled

    was_cancelled = asyncio.run(body())
    assert was_cancelled[0]
    assert is_full or not was_cancelled[-1]


def test_cancelled_connecting_leaves_no_connection() -> None:
    async def body() -> list[bool]:
        was_cancelled = []
        async with StandInBroker({MetadataRequest: echo}, sasl=SASL) as broker:
            for after in itertools.count(0, 3):  # how many turns a connection needs depends on the machine
                connecting = asyncio.create_task(
                    Channel.connect(broker.host, broker.port, SETTINGS, give, deadline=soon())
                )
                await turns(after)
                connecting.cancel()
                (outcome,) = await asyncio.gather(connecting, return_exceptions=True)
                was_cancelled.append(isinstance(outcome, asyncio.CancelledError))
                if isinstance(outcome, Channel):
                    await outcome.close()
                await broker.no_clients()
                assert [task for task in asyncio.all_tasks() if "kafkawire/admin" in repr(task)] == []
                if not was_cancelled[-1]:
                    assert isinstance(outcome, Channel)
                    break
        return was_cancelled

    assert asyncio.run(body())[0]
