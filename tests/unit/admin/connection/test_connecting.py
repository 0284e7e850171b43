"""Connecting to a host and a port: a ready connection, or the reason why there is none."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.stand_ins.broker import Answer, StandInBroker
from tests.stand_ins.channels import SETTINGS, ask, connected, echo, never, run, soon

from kafkawire.admin.connection import sockets as reaching
from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.sockets import Place
from kafkawire.protocol import (
    ApiVersionsResponse,
    MetadataRequest,
)
from kafkawire.protocol.errors import (
    InvalidRequestError,
)
from kafkawire.wire.kafka_errors import (
    BrokenStreamError,
    ConnectionFailedError,
    ConnectionImpossibleError,
)


def test_every_address_of_a_host_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        async with StandInBroker({MetadataRequest: echo}) as broker:
            addresses = [("127.0.0.2", dead), ("127.0.0.1", broker.port)]

            async def resolved(*_: object, **__: object) -> list[tuple[object, ...]]:
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in addresses]

            monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolved)
            channel = await Channel.connect("kafka.example", 9092, SETTINGS, deadline=soon())
            assert await ask(channel) == "a"
            await channel.close()
            addresses[1] = ("127.0.0.3", dead)
            told = r"127\.0\.0\.2: connection refused; 127\.0\.0\.3: connection refused"
            with pytest.raises(ConnectionFailedError, match=told) as raised:
                await Channel.connect("kafka.example", 9092, SETTINGS, deadline=soon())
            assert isinstance(raised.value.__cause__, BaseExceptionGroup)

    dead = unused_port()
    run(body())


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def test_the_reason_is_that_no_server_listens() -> None:
    async def body() -> None:
        with pytest.raises(ConnectionFailedError, match=r"^127\.0\.0\.1:\d+: connection refused$") as raised:
            await Channel.connect("127.0.0.1", unused_port(), SETTINGS, deadline=soon())
        assert isinstance(raised.value.__cause__, ConnectionRefusedError)
        assert raised.value.retriable

    run(body())


def test_a_name_that_cannot_be_resolved_is_the_reason() -> None:
    async def body() -> None:
        with pytest.raises(
            ConnectionFailedError, match=r"nowhere\.invalid:9092: the name cannot be resolved"
        ) as raised:
            await Channel.connect("nowhere.invalid", 9092, SETTINGS, deadline=soon())
        assert isinstance(raised.value.__cause__, socket.gaierror)

    run(body())


def test_an_address_needs_no_resolver() -> None:
    async def body() -> list[Place]:
        asyncio.get_running_loop().set_default_executor(executor)
        return [*await reaching.places_of("127.0.0.1", 9), *await reaching.places_of("::1", 9)]

    executor = ThreadPoolExecutor(1)
    executor.shutdown()  # it refuses what it is given
    places = run(body())
    assert places == [Place(socket.AF_INET, ("127.0.0.1", 9)), Place(socket.AF_INET6, ("::1", 9, 0, 0))]
    assert [str(place) for place in places] == ["127.0.0.1", "::1"]


def test_a_name_has_all_its_addresses() -> None:
    assert Place(socket.AF_INET, ("127.0.0.1", 9)) in run(reaching.places_of("localhost", 9))


def test_a_connection_imports_no_module_for_international_names() -> None:
    program = (
        "import asyncio, sys; from kafkawire.admin.connection.sockets import places_of; "
        "asyncio.run(places_of('localhost', 9)); print('encodings.idna' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout.strip() == b"False"


def test_a_broker_that_says_nothing_is_given_up() -> None:
    async def body() -> None:
        async with StandInBroker(answer_api_versions=never) as broker:
            with pytest.raises(ConnectionFailedError, match="timed out before the login and the negotiation"):
                await connected(broker, settings=ConnectionSettings(setup_timeout=0.05))
            with pytest.raises(ConnectionFailedError, match="timed out"):
                await Channel.connect(broker.host, broker.port, SETTINGS, deadline=soon(0.05))

    run(body())


def test_a_broker_that_refuses_the_negotiation_is_not_asked_again() -> None:
    async def body() -> None:
        async with StandInBroker(answer_api_versions=lambda _: ApiVersionsResponse(42)) as broker:
            with pytest.raises(InvalidRequestError, match="refused to list its API versions"):
                await connected(broker)
            assert len(broker.clients) == 1

    run(body())


def test_a_broker_that_closes_at_once_is_a_failed_connection() -> None:
    async def body() -> None:
        async with StandInBroker(answer_api_versions=lambda _: Answer(close=True)) as broker:
            with pytest.raises(
                ConnectionFailedError,
                match="the listener may want TLS, a client certificate or SASL",
            ):
                await connected(broker)

    run(body())


def test_something_that_is_no_kafka_is_a_final_failure() -> None:
    async def body() -> None:
        async with StandInBroker(answer_api_versions=lambda _: Answer(b"HTTP/1.1 400 Bad Request")) as broker:
            with pytest.raises(ConnectionImpossibleError, match="this is no Kafka listener") as raised:
                await connected(broker)
            assert isinstance(raised.value.__cause__, BrokenStreamError)

    run(body())
