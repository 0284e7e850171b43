"""Channels to stand-in brokers, for the tests of the transport."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from tests.stand_ins.broker import Answer, StandInBroker

from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.sasl.credentials import CredentialsSource
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.protocol import MetadataRequest, MetadataResponse
from kafkawire.rpc import Request

SETTINGS = ConnectionSettings(client_id="test")
SECONDS = 10.0
R = TypeVar("R")


def echo(request: Request) -> MetadataResponse:
    """An answer by which its request is known."""
    assert isinstance(request.body, MetadataRequest)
    (topic,) = request.body.topics or ()
    return MetadataResponse(cluster_id=topic.name)


def never(_: Request) -> Answer:
    return Answer()


def soon(seconds: float = SECONDS) -> float:
    return asyncio.get_running_loop().time() + seconds


async def connected(
    broker: StandInBroker, credentials: CredentialsSource | None = None, settings: ConnectionSettings = SETTINGS
) -> Channel:
    return await Channel.connect(broker.host, broker.port, settings, credentials, deadline=soon())


async def ask(channel: Channel, name: str = "a", seconds: float = SECONDS) -> str | None:
    topic = MetadataRequest.MetadataRequestTopic(name=name)
    answer = await channel.request(MetadataRequest((topic,)), MetadataResponse, 12, soon(seconds))
    return answer.cluster_id


def run(test: Coroutine[object, object, R]) -> R:
    """Run a test in a loop that must report nothing: no forgotten tasks, no unretrieved errors."""
    complaints: list[str] = []

    async def with_ears() -> R:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(str(told)))
        return await test

    result = asyncio.run(with_ears())
    assert complaints == []
    return result
