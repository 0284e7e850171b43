"""Whatever comes down a socket: the broker answers or hangs up, goes on, and keeps nothing of it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import random
import struct
import tracemalloc
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.embedded.connection import BrokerConnection, connected_to
from tests.hostile.broker.asked_for import any_request

from kafkawire.broker import EmbeddedBroker
from kafkawire.layout import Uuid
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeConfigsRequest,
    MetadataRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
)
from kafkawire.rpc import encode_request

MEGABYTE = 1 << 20
LARGEST_FRAME = 104_857_600
SIZE = struct.Struct(">i")


@pytest.fixture
async def broker(caplog: pytest.LogCaptureFixture) -> AsyncIterator[EmbeddedBroker]:
    """A broker that still answers in the end, and in which nothing went wrong."""
    async with EmbeddedBroker({"unstable.api.versions.enable": "true"}) as broker:
        yield broker
        await asks(broker)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


async def asks(broker: EmbeddedBroker) -> ApiVersionsResponse:
    async with connected_to(broker) as client:
        return await client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)


async def rest(client: BrokerConnection) -> None:
    """Read answers until the broker hangs up."""
    try:
        while True:
            await client.frame()
    except (asyncio.IncompleteReadError, ConnectionError):
        return


async def throw(broker: EmbeddedBroker, content: bytes) -> None:
    """Send bytes and nothing more, and read whatever comes."""
    async with connected_to(broker) as client:
        client.send_bytes(content)
        client.send_end()
        await rest(client)


def mutated(rng: random.Random, frame: bytes) -> bytes:
    """A frame with some of its bytes changed, taken out or put in, and a true size most of the time."""
    content = bytearray(frame[4:])
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(content) + 1)
        match rng.randrange(4):
            case 0:
                content[at : at + 1] = rng.randbytes(1)
            case 1:
                del content[at : at + rng.randint(1, 8)]
            case 2:
                content[at:at] = rng.randbytes(rng.randint(1, 8))
            case _:
                content[at : at + 4] = rng.choice(
                    (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\0")
                )
    size = len(content) if rng.random() < 0.9 else rng.randint(-1, 2 * len(content))
    return SIZE.pack(size) + content


async def test_noise_is_hung_up_on(broker: EmbeddedBroker) -> None:
    rng = random.Random(3)
    await asyncio.gather(*(throw(broker, rng.randbytes(rng.randint(1, 4000))) for _ in range(100)))


async def test_mutated_frames_are_answered_or_hung_up_on(broker: EmbeddedBroker) -> None:
    rng = random.Random(4)
    served = [(api.api_key, api.min_version, api.max_version) for api in (await asks(broker)).api_keys]
    for _ in range(25):
        frames = []
        for key, lowest, highest in rng.choices(served, k=40):
            version = rng.randint(lowest, highest)
            request = any_request(rng, key, version, Uuid(bytes(16)))
            frames.append(mutated(rng, encode_request(request, version, correlation_id=1)))
        await asyncio.gather(*(throw(broker, frame) for frame in frames))


@pytest.mark.parametrize("size", [-1, -(1 << 31), LARGEST_FRAME + 1, (1 << 31) - 1])
async def test_a_frame_that_is_too_large_is_hung_up_on_at_once(broker: EmbeddedBroker, size: int) -> None:
    async with connected_to(broker) as client:
        client.send_bytes(SIZE.pack(size))
        await rest(client)


async def test_bounded_requests_without_records_are_hung_up_on_before_they_have_come(
    broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected_to(broker) as client:
        client.send_bytes(SIZE.pack(20 * MEGABYTE) + encode_request(MetadataRequest(()), 12, correlation_id=1)[4:])
        await rest(client)
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warning.endswith(
        "127.0.0.1: a frame of 20971520 bytes without records; 16777216 are allowed: split the request"
    )


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("traced")
async def test_no_memory_is_set_aside_for_what_has_not_come(broker: EmbeddedBroker) -> None:
    before = await held()
    clients = [await asyncio.open_connection(broker.host, broker.port) for _ in range(50)]
    for _, writer in clients:
        writer.write(SIZE.pack(LARGEST_FRAME) + b"only this much")
    await asks(broker)
    assert await held() - before < 5 * MEGABYTE
    for _, writer in clients:
        writer.transport.abort()


@pytest.mark.usefixtures("traced")
async def test_nothing_is_left_of_connections(broker: EmbeddedBroker) -> None:
    rng = random.Random(5)

    async def round_of_noise() -> None:
        for _ in range(20):
            await asyncio.gather(*(throw(broker, rng.randbytes(2000)) for _ in range(20)))
            await asks(broker)

    await round_of_noise()
    before = await held()
    await round_of_noise()
    assert await held() - before < MEGABYTE // 4


async def test_half_a_frame_delays_no_other_client(broker: EmbeddedBroker) -> None:
    whole = encode_request(ApiVersionsRequest(), 0, correlation_id=1)
    parts = [whole[:length] for length in range(1, len(whole))]
    halves = [await asyncio.open_connection(broker.host, broker.port) for _ in parts]
    for part, (_, writer) in zip(parts, halves, strict=True):
        writer.write(part)
    await asks(broker)
    for part, (reader, writer) in zip(parts, halves, strict=True):
        writer.write(whole[len(part) :])
        assert await reader.readexactly(8)
        writer.transport.abort()


async def test_a_thousand_connections_are_served(broker: EmbeddedBroker) -> None:
    frame = encode_request(ApiVersionsRequest(), 0, correlation_id=1)
    clients = [await asyncio.open_connection(broker.host, broker.port) for _ in range(1000)]
    for _, writer in clients:
        writer.write(frame)
    for reader, _ in clients:
        (size,) = SIZE.unpack(await reader.readexactly(4))
        await reader.readexactly(size)
    await asks(broker)
    for _, writer in clients:
        writer.transport.abort()


@pytest.mark.usefixtures("traced")
async def test_who_does_not_read_is_not_kept_for(broker: EmbeddedBroker) -> None:
    """A client requests many megabytes of answers and reads none: the buffer for it is limited."""
    resource = DescribeConfigsRequest.DescribeConfigsResource(4, "1")
    request = DescribeConfigsRequest((resource,) * 20, include_synonyms=True)
    async with connected_to(broker) as client:
        client.send(request, 4)
        size = len(await client.frame())
    before = await held()
    async with connected_to(broker) as client:
        for _ in range(100):
            client.send(request, 4)
        for _ in range(10):
            await asks(broker)
        assert 100 * size > 15 * MEGABYTE, size
        assert await held() - before < 8 * MEGABYTE


async def held() -> int:
    """Bytes that Python holds, once all tasks that could run have run."""
    for _ in range(10):
        await asyncio.sleep(0)
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


SASL = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
    "listener.security.protocol.map": "SASL_PLAINTEXT:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "connection.failed.authentication.delay.ms": "0",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="a secret";'
    ),
}


async def test_noise_before_the_login_opens_nothing(caplog: pytest.LogCaptureFixture) -> None:
    rng = random.Random(6)
    mechanisms = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")

    def token() -> bytes:
        parts = (b"n,,n=", b"\0", b"r=", b",c=biws", b"user", b"=2C", b"=", b",", b"p=", rng.randbytes(8))
        return b"".join(rng.choices(parts, k=rng.randint(0, 12)))

    async with EmbeddedBroker(SASL) as broker:

        async def intrude() -> None:
            shaking = encode_request(SaslHandshakeRequest(rng.choice(mechanisms)), 1, correlation_id=1)
            tokens = (encode_request(SaslAuthenticateRequest(token()), 2, correlation_id=2) for _ in range(3))
            wanted = encode_request(MetadataRequest(None), 9, correlation_id=4)
            async with connected_to(broker) as client:
                client.send_bytes(shaking + b"".join(tokens) + wanted)
                client.send_end()
                with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                    while True:
                        assert int.from_bytes((await client.frame())[:4]) != 4, "an answer without a login"

        for _ in range(10):
            await asyncio.gather(*(intrude() for _ in range(20)))
        await asks(broker)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
