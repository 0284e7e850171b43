"""The transport: requests over real sockets, to a broker whose answers the test chooses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.stand_ins.broker import Answer, StandInBroker
from tests.stand_ins.channels import SECONDS, ask, connected, echo, never, run, soon

from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.protocol import (
    ListGroupsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafkawire.protocol.errors import (
    InvalidRequestError,
)
from kafkawire.rpc import Request
from kafkawire.wire.kafka_errors import (
    BrokenStreamError,
    ClosedError,
    DisconnectedError,
    OperationTimeoutError,
)


def with_channel(
    test: Callable[[Channel], Awaitable[None]],
    handler: Callable[[Request], MetadataResponse | Answer] = echo,
) -> None:
    """Run a test with a connection to a broker that answers Metadata."""

    async def body() -> None:
        async with StandInBroker({MetadataRequest: handler}) as broker:
            channel = await connected(broker)
            await test(channel)
            await channel.close()

    run(body())


def test_requests_find_their_answers() -> None:
    async def test(channel: Channel) -> None:
        names = [f"topic-{number}" for number in range(500)]
        assert await asyncio.gather(*(ask(channel, name) for name in names)) == names
        assert channel.in_flight == 0
        assert channel.is_usable

    with_channel(test)


def test_requests_of_one_turn_leave_in_few_writes() -> None:
    async def test(channel: Channel) -> None:
        transport = channel._transport
        assert transport is not None
        writes: list[int] = []
        write = transport.write

        def counted(data: bytes) -> None:
            writes.append(len(data))
            write(data)

        transport.write = counted  # type: ignore[method-assign, assignment]
        await asyncio.gather(*(ask(channel) for _ in range(200)))
        assert len(writes) <= 200 // 64 + 1

    with_channel(test)


def test_a_throttle_time_is_a_time_of_the_loop() -> None:
    async def test(channel: Channel) -> None:
        assert channel.throttled_until == 0.0
        before = soon(0.0)
        await channel.request(MetadataRequest(), MetadataResponse, 12, soon())
        assert before + 30.0 <= channel.throttled_until <= soon(30.0)

    with_channel(test, lambda _: MetadataResponse(throttle_time_ms=30_000))


def test_large_answers_arrive() -> None:
    name = "n" * 30_000
    topics = tuple(MetadataResponse.MetadataResponseTopic(name=f"{name}{number}") for number in range(300))

    async def test(channel: Channel) -> None:
        answer = await channel.request(MetadataRequest(), MetadataResponse, 12, soon())
        assert answer.topics == topics

    with_channel(test, lambda _: MetadataResponse(topics=topics))


def test_requests_wait_while_the_network_is_full() -> None:
    async def test(channel: Channel) -> None:
        channel.pause_writing()
        waiting = asyncio.ensure_future(ask(channel))
        for _ in range(10):
            await asyncio.sleep(0)
        assert channel.in_flight == 0
        channel.resume_writing()
        assert await waiting == "a"

    with_channel(test)


def test_a_full_network_does_not_outlast_a_deadline_or_the_connection() -> None:
    async def test(channel: Channel) -> None:
        channel.pause_writing()
        with pytest.raises(OperationTimeoutError):
            await ask(channel, seconds=0.01)
        waiting = asyncio.ensure_future(ask(channel))
        await asyncio.sleep(0)
        await channel.close()
        with pytest.raises(DisconnectedError):
            await waiting

    with_channel(test)


def test_a_missed_deadline_names_the_request_and_lets_neighbours_finish() -> None:
    """New requests should use another connection, which does not wait for it; this one ends when it is not needed."""

    async def body() -> None:
        held = asyncio.Event()

        async def late(request: Request) -> MetadataResponse:
            await held.wait()
            return echo(request)

        async with StandInBroker({MetadataRequest: late}) as broker:
            channel = await connected(broker)
            neighbour = asyncio.ensure_future(ask(channel, "neighbour"))
            with pytest.raises(OperationTimeoutError, match=r"MetadataRequest timed out: 127\.0\.0\.1:.* did not"):
                await ask(channel, "late", seconds=0.01)
            assert not channel.is_usable
            assert channel.in_flight == 2
            last = asyncio.ensure_future(ask(channel, "last"))
            await asyncio.sleep(0)
            held.set()
            assert await neighbour == "neighbour"
            assert await last == "last"
            await asyncio.wait_for(channel._lost, SECONDS)

    run(body())


@pytest.mark.parametrize("answer", [Answer(close=True), Answer(MetadataResponse(), correlation_id=77)])
def test_any_end_of_the_connection_fails_all_waiting_requests(answer: Answer) -> None:
    async def test(channel: Channel) -> None:
        outcomes = await asyncio.gather(*(ask(channel) for _ in range(3)), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [DisconnectedError] * 3
        assert len({id(outcome) for outcome in outcomes}) == 3
        assert not channel.is_usable
        with pytest.raises(DisconnectedError, match="the connection is closed"):
            await ask(channel)

    with_channel(test, lambda _: answer)


def test_bytes_that_make_no_sense_end_the_connection() -> None:
    async def test(channel: Channel) -> None:
        with pytest.raises(DisconnectedError, match="a frame of -1 bytes") as raised:
            await ask(channel)
        assert isinstance(raised.value.__cause__, BrokenStreamError)

    with_channel(test, lambda _: Answer(b"\xff\xff\xff\xff"))


def test_an_answer_of_another_class_is_a_mistake_of_the_caller() -> None:
    async def test(channel: Channel) -> None:
        with pytest.raises(TypeError, match="ListGroupsResponse is no answer to MetadataRequest"):
            await channel.request(
                MetadataRequest((MetadataRequest.MetadataRequestTopic(name="a"),)), ListGroupsResponse, 12, soon()
            )

    with_channel(test)


def test_closing_fails_requests_in_flight_and_closing_twice_is_allowed() -> None:
    async def test(channel: Channel) -> None:
        waiting = asyncio.ensure_future(ask(channel))
        await asyncio.sleep(0)
        await channel.close()
        with pytest.raises(ClosedError, match="MetadataResponse: the connection was closed"):
            await waiting
        await channel.close()
        assert not channel.is_usable
        assert "CLOSED" in repr(channel)

    with_channel(test, never)


def test_closing_with_a_reason_passes_it_on() -> None:
    async def test(channel: Channel) -> None:
        waiting = asyncio.ensure_future(ask(channel))
        await asyncio.sleep(0)
        await channel.close(InvalidRequestError("why"))
        with pytest.raises(InvalidRequestError, match="why"):
            await waiting

    with_channel(test, never)


def test_an_idle_connection_is_closed() -> None:
    async def body() -> None:
        async with StandInBroker() as broker:
            channel = await connected(broker, settings=ConnectionSettings(idle_timeout=0.05))
            await asyncio.wait_for(channel._lost, SECONDS)
            assert not channel.is_usable

    run(body())
