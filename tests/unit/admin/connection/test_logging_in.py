"""Logging in over real sockets, by values and by callbacks, and again while requests flow."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from tests.stand_ins.broker import StandInBroker
from tests.stand_ins.channels import SECONDS, ask, connected, echo, never, run
from tests.stand_ins.sasl_server import PlainServer, SaslServer, ScramServer

from kafkawire.admin.connection.sasl.credentials import (
    Credentials,
    CredentialsSource,
    PlainCredentials,
    ScramCredentials,
)
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.protocol import (
    MetadataRequest,
)
from kafkawire.protocol.errors import (
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)
from kafkawire.wire.kafka_errors import (
    ConnectionFailedError,
    DisconnectedError,
    KafkaError,
)

RIGHT = PlainCredentials("alice", "secret")
SASL: dict[str, Callable[[], SaslServer]] = {
    "PLAIN": lambda: PlainServer("alice", "secret"),
    "SCRAM-SHA-512": lambda: ScramServer("alice", "secret"),
}


def give() -> Credentials:
    return RIGHT


async def give_later() -> Credentials:
    await asyncio.sleep(0)
    return RIGHT


class Giver:
    async def __call__(self) -> Credentials:
        return RIGHT


@pytest.mark.parametrize(
    "credentials",
    [RIGHT, ScramCredentials("alice", "secret"), give, give_later, Giver(), lambda: give_later()],  # noqa: PLW0108
)
def test_credentials_may_be_a_value_or_any_kind_of_callback(credentials: CredentialsSource) -> None:
    async def body() -> None:
        async with StandInBroker({MetadataRequest: echo}, sasl=SASL) as broker:
            channel = await connected(broker, credentials)
            assert await ask(channel) == "a"
            await channel.close()

    run(body())


def test_a_plain_callback_does_not_hold_up_the_loop() -> None:
    seen: list[threading.Thread] = []

    def callback() -> Credentials:
        seen.append(threading.current_thread())
        return RIGHT

    async def body() -> None:
        async with StandInBroker(sasl=SASL) as broker:
            await (await connected(broker, callback)).close()

    run(body())
    assert seen != []
    assert threading.main_thread() not in seen


def fail() -> Credentials:
    raise RuntimeError("the vault said: secret")


def give_nonsense() -> Credentials:
    return "alice:secret"  # type: ignore[return-value]


@pytest.mark.parametrize(("callback", "kind"), [(fail, RuntimeError), (give_nonsense, TypeError)])
def test_a_callback_that_fails_is_final_and_its_words_are_not_repeated(
    callback: Callable[[], Credentials], kind: type[Exception]
) -> None:
    async def body() -> None:
        async with StandInBroker(sasl=SASL) as broker:
            with pytest.raises(
                SaslAuthenticationFailedError, match=f"callback for credentials raised {kind.__name__}"
            ) as raised:
                await connected(broker, callback)
            assert isinstance(raised.value.__cause__, kind)
            assert "secret" not in str(raised.value)

    run(body())


@pytest.mark.parametrize(
    ("credentials", "kind", "told"),
    [
        (PlainCredentials("alice", "wrong"), SaslAuthenticationFailedError, "Invalid username or password"),
        (ScramCredentials("alice", "wrong"), SaslAuthenticationFailedError, "invalid credentials"),
        (
            ScramCredentials("alice", "secret", "SCRAM-SHA-256"),
            UnsupportedSaslMechanismError,
            "SCRAM-SHA-256 is not enabled on this listener, but: PLAIN, SCRAM-SHA-512",
        ),
    ],
)
def test_a_refused_login_is_final_and_gives_the_reason(
    credentials: Credentials, kind: type[KafkaError], told: str
) -> None:
    async def body() -> None:
        async with StandInBroker(sasl=SASL) as broker:
            with pytest.raises(kind, match=told):
                await connected(broker, credentials)
            assert len(broker.clients) == 1

    run(body())


@pytest.mark.parametrize("credentials", [RIGHT, give_later])
def test_logins_are_renewed_while_requests_flow(credentials: CredentialsSource) -> None:
    async def body() -> None:
        async with StandInBroker({MetadataRequest: echo}, sasl=SASL, session_lifetime_ms=60) as broker:
            channel = await connected(broker, credentials)
            asked = 0
            while broker.clients[0].logins < 4:
                names = [f"{asked}-{number}" for number in range(20)]
                assert await asyncio.gather(*(ask(channel, name) for name in names)) == names
                asked += len(names)
            assert len(broker.requests) == asked
            assert len(broker.clients) == 1
            await channel.close()

    run(body())


def test_closing_stops_a_callback_that_is_still_asked() -> None:
    async def body() -> None:
        stopped = asyncio.Event()

        async def forever() -> Credentials:
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()
            raise AssertionError

        async with StandInBroker(sasl=SASL) as broker:
            with pytest.raises(ConnectionFailedError, match="timed out"):
                await connected(broker, forever, ConnectionSettings(setup_timeout=0.05))
            await asyncio.wait_for(stopped.wait(), SECONDS)

    run(body())


def test_a_callback_that_fails_when_a_login_is_renewed_leaves_room_for_another_try() -> None:
    given: list[Credentials] = []

    def give_once() -> Credentials:
        if given:
            raise RuntimeError("the vault is closed")
        given.append(RIGHT)
        return RIGHT

    async def body() -> None:
        async with StandInBroker({MetadataRequest: never}, sasl=SASL, session_lifetime_ms=50) as broker:
            channel = await connected(broker, give_once)
            with pytest.raises(DisconnectedError, match="callback for credentials raised RuntimeError") as raised:
                await ask(channel)
            assert raised.value.retriable

    run(body())
