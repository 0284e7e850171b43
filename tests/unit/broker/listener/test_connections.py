"""Which connections are accepted, which requests they may send, and when they are closed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator

import pytest
from tests.embedded.connection import BrokerConnection

from kafkawire.broker import EmbeddedBroker
from kafkawire.broker.clock import ManualClock
from kafkawire.broker.listener.admission import address_text
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    MetadataResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

SASL = {
    "listeners": "PLAINTEXT://127.0.0.1:0,LOGIN://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.login.plain.sasl.jaas.config": 'PlainLoginModule required user_alice="alice-secret";',
}
QUICK = {"connection.failed.authentication.delay.ms": "0"}


class Client:
    """A connection that may be anything but well-behaved."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.connection = BrokerConnection(reader, writer, "test")

    async def works(self) -> bool:
        answer = await self.connection.ask(ApiVersionsRequest("test", "1"), 3, ApiVersionsResponse)
        return answer.error_code == 0

    async def is_closed(self) -> bool:
        """Wait until the broker closes the connection; nothing may come before that."""
        with contextlib.suppress(ConnectionError):
            return await asyncio.wait_for(self.reader.read(1), 10) == b""
        return True


@contextlib.asynccontextmanager
async def client_of(address: str, *, buffers: int = 0) -> AsyncIterator[Client]:
    """Connect; ``buffers`` are the bytes that the system keeps for the client, if they are few."""
    host, _, port = address.rpartition(":")
    connected = socket.socket()
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF) if buffers else ():
        connected.setsockopt(socket.SOL_SOCKET, option, buffers)
    connected.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connected, (host, int(port)))
    reader, writer = await asyncio.open_connection(sock=connected)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@pytest.mark.parametrize(
    "sent",
    [
        struct.pack(">i", -1),
        struct.pack(">i", 1001),
        struct.pack(">i", 0),
        struct.pack(">ihhih", 10, 999, 0, 1, -1),
        struct.pack(">ihhih", 10, 3, 99, 1, -1),
        struct.pack(">ihhih", 12, 3, 12, 1, -1) + b"\xff\xff",
        b"\0\0\0\x12GET / HTTP/1.1\r\n\r\n",
    ],
)
async def test_a_frame_that_makes_no_sense_closes_its_connection_and_no_other(sent: bytes) -> None:
    async with (
        EmbeddedBroker({"socket.request.max.bytes": "1000"}) as broker,
        client_of(broker.bootstrap_servers) as other,
        client_of(broker.bootstrap_servers) as bad,
    ):
        assert await other.works()
        bad.writer.write(sent)
        assert await bad.is_closed()
        assert await other.works()


async def test_bytes_before_the_login_are_bounded() -> None:
    async with EmbeddedBroker({**SASL, "sasl.server.max.receive.size": "100"}) as broker:
        async with client_of(broker.address("LOGIN")) as bad:
            bad.writer.write(struct.pack(">i", 101))
            assert await bad.is_closed()
        async with client_of(broker.address("LOGIN")) as good:
            await logged_in(good)
            request = MetadataRequest((MetadataRequest.MetadataRequestTopic(name="x" * 200),))
            answer = await good.connection.ask(request, 12, MetadataResponse)
            assert len(answer.topics) == 1


async def test_a_login_without_sasl_is_refused_and_affects_no_other_client() -> None:
    async with EmbeddedBroker() as broker, client_of(broker.bootstrap_servers) as client:
        for version in (0, 1):
            shaken = await client.connection.ask(SaslHandshakeRequest("PLAIN"), version, SaslHandshakeResponse)
            assert shaken == SaslHandshakeResponse(34)
        answer = await client.connection.ask(SaslAuthenticateRequest(b"x"), 2, SaslAuthenticateResponse)
        assert answer.error_code == 34
        assert await client.works()


async def logged_in(client: Client) -> None:
    await client.connection.ask(SaslHandshakeRequest("PLAIN"), 1, SaslHandshakeResponse)
    token = SaslAuthenticateRequest(b"\0alice\0alice-secret")
    answer = await client.connection.ask(token, 2, SaslAuthenticateResponse)
    assert answer.error_code == 0


async def test_a_wrong_login_is_answered_later_and_closed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    clock = ManualClock()
    properties = {**SASL, "connections.max.idle.ms": "-1"}  # nothing but the failed login waits for the clock
    async with EmbeddedBroker(properties, clock=clock) as broker, client_of(broker.address("LOGIN")) as bad:
        await bad.connection.ask(SaslHandshakeRequest("PLAIN"), 1, SaslHandshakeResponse)
        bad.connection.send(SaslAuthenticateRequest(b"\0alice\0wrong-secret"), 2)
        async with client_of(broker.bootstrap_servers) as other:
            while not clock.sleepers:
                assert await other.works()
        clock.advance(0.1)
        assert b"Invalid username or password" in await bad.connection.frame()
        assert await bad.is_closed()
    assert "secret" not in caplog.text
    assert "LOGIN" in caplog.text


async def test_the_connections_of_an_address_are_limited() -> None:
    async with (
        EmbeddedBroker({"max.connections.per.ip": "1"}) as broker,
        client_of(broker.bootstrap_servers) as first,
    ):
        assert await first.works()
        async with client_of(broker.bootstrap_servers) as second:
            assert await second.is_closed()
        first.writer.close()
        await eventually_served(broker.bootstrap_servers)


async def eventually_served(address: str) -> None:
    async with asyncio.timeout(10):
        while True:
            async with client_of(address) as client:
                with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                    if await client.works():
                        return


async def test_some_addresses_have_other_limits() -> None:
    properties = {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "10.0.0.1:0, 127.0.0.1:1"}
    async with EmbeddedBroker(properties) as broker, client_of(broker.bootstrap_servers) as first:
        assert await first.works()
        async with client_of(broker.bootstrap_servers) as second:
            assert await second.is_closed()


@pytest.mark.parametrize(
    "properties",
    [
        {"max.connections": "1"},
        {
            "listeners": "INTERNAL://127.0.0.1:0",
            "listener.security.protocol.map": "INTERNAL:PLAINTEXT",
            "listener.name.internal.max.connections": "1",
        },
    ],
)
async def test_a_connection_above_the_limit_waits_until_another_ends(properties: dict[str, str]) -> None:
    async with (
        EmbeddedBroker(properties) as broker,
        client_of(broker.bootstrap_servers) as first,
        client_of(broker.bootstrap_servers) as second,
    ):
        assert await first.works()
        served = asyncio.create_task(second.works())
        assert await first.works()
        assert not served.done()
        first.writer.close()
        assert await asyncio.wait_for(served, 10)


async def test_connections_on_which_nothing_happens_are_closed() -> None:
    clock = ManualClock()
    async with (
        EmbeddedBroker({"connections.max.idle.ms": "500"}, clock=clock) as broker,
        client_of(broker.bootstrap_servers) as idle,
        client_of(broker.bootstrap_servers) as silent,
    ):
        assert await idle.works()
        clock.advance(0.4)
        assert await idle.works()
        clock.advance(0.4)
        assert await silent.is_closed()
        assert await idle.works()
        clock.advance(0.6)
        assert await idle.is_closed()


async def test_a_login_in_time_or_none() -> None:
    clock = ManualClock()
    async with (
        EmbeddedBroker({**SASL, "connections.max.idle.ms": "500"}, clock=clock) as broker,
        client_of(broker.address("LOGIN")) as slow,
    ):
        assert await slow.works()
        clock.advance(0.4)
        await slow.connection.ask(SaslHandshakeRequest("PLAIN"), 1, SaslHandshakeResponse)
        clock.advance(0.4)
        assert await slow.is_closed()


@pytest.mark.usefixtures("one_engine")
async def test_answers_to_a_client_that_does_not_read_are_limited() -> None:
    """The broker stops reading from a client that does not read, serves others, and continues when it reads again."""
    count = 2_000
    request = MetadataRequest(tuple(MetadataRequest.MetadataRequestTopic(name=f"{n}" * 200) for n in range(9)))
    async with (
        EmbeddedBroker({"auto.create.topics.enable": "false"}) as broker,
        client_of(broker.bootstrap_servers, buffers=4096) as slow,
        client_of(broker.bootstrap_servers) as other,
    ):
        for _ in range(count):
            slow.connection.send(request, 9)
        for _ in range(200):
            assert await other.works()
        assert slow.writer.transport.get_write_buffer_size() > 1 << 20  # much is not read
        for _ in range(count):
            await slow.connection.frame()


async def test_the_broker_stops_with_clients_that_are_connected_and_do_not_read() -> None:
    async with EmbeddedBroker() as broker:
        host, port = broker.host, broker.port
        reader, writer = await asyncio.open_connection(host, port)
        client = Client(reader, writer)
        assert await client.works()
        for _ in range(5000):
            client.connection.send(ApiVersionsRequest("test", "1"), 3)
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(host, port)


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1"),
        ("2001:db8::ff00:42:8329", "2001:db8:0:0:0:ff00:42:8329"),
    ],
)
def test_addresses_are_written_as_java_writes_them(host: str, text: str) -> None:
    assert address_text(host) == text
