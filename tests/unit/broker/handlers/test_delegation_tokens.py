"""Delegation tokens where time, a restart or secrets matter; other tests compare the rest with Apache Kafka."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kafkawire.admin import AdminClient, PlainCredentials
from kafkawire.admin.tokens import DelegationToken
from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.protocol.errors import (
    DelegationTokenAuthDisabledError,
    DelegationTokenExpiredError,
    DelegationTokenNotFoundError,
    DelegationTokenRequestNotAllowedError,
    PolicyViolationError,
    SaslAuthenticationFailedError,
)

HOUR_MS = 3_600_000
KEY = "a key of the broker"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
PROPERTIES = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:0,PLAINTEXT://127.0.0.1:0",
    "listener.security.protocol.map": "SASL_PLAINTEXT:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        f'{PLAIN} required user_admin="admin-secret" user_alice="alice-secret";'
    ),
    "connection.failed.authentication.delay.ms": "0",
    "delegation.token.secret.key": KEY,
}


@asynccontextmanager
async def as_user(broker: EmbeddedBroker, name: str = "admin") -> AsyncIterator[AdminClient]:
    credentials = PlainCredentials(name, f"{name}-secret")
    async with AdminClient(broker.address("SASL_PLAINTEXT"), credentials=credentials) as admin:
        yield admin


async def logs_in(broker: EmbeddedBroker, token: DelegationToken) -> bool:
    async with AdminClient(broker.address("SASL_PLAINTEXT"), credentials=token.credentials()) as client:
        try:
            return bool((await client.describe_cluster()).cluster_id)
        except SaslAuthenticationFailedError:
            return False


async def test_a_token_and_its_logins_are_kept_over_a_restart(tmp_path: Path) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=tmp_path) as broker:
        async with as_user(broker) as admin:
            token = await admin.create_delegation_token(renewers=["User:alice"])
            assert await logs_in(broker, token)
        await broker.restart()
        assert await logs_in(broker, token)
        async with as_user(broker, "alice") as alice:
            assert await alice.describe_delegation_token() == (token,)
            await alice.renew_delegation_token(token.hmac, renew_period_ms=HOUR_MS)


async def test_another_key_makes_other_secrets(tmp_path: Path) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=tmp_path) as broker, as_user(broker) as admin:
        token = await admin.create_delegation_token()
    other = {**PROPERTIES, "delegation.token.secret.key": "another key"}
    async with EmbeddedBroker(other, data_dir=tmp_path) as broker, as_user(broker) as admin:
        assert not await logs_in(broker, token)
        with pytest.raises(DelegationTokenNotFoundError):
            await admin.expire_delegation_token(token.hmac)
        (found,) = await admin.describe_delegation_token()
        assert await logs_in(broker, found)


async def test_expired_token_logins_fail_and_the_token_goes_after_a_while() -> None:
    clock = ManualClock()
    async with EmbeddedBroker(PROPERTIES, clock=clock) as broker:
        async with as_user(broker) as admin:
            token = await admin.create_delegation_token(max_lifetime_ms=2 * HOUR_MS)
            kept = await admin.create_delegation_token()
            assert token.max_timestamp_ms == token.expiry_timestamp_ms == clock.now_ms() + 2 * HOUR_MS
            assert await logs_in(broker, token)
            assert await admin.expire_delegation_token(token.hmac, expiry_period_ms=1000) == clock.now_ms() + 1000
        clock.advance(2)
        assert not await logs_in(broker, token)
        async with as_user(broker) as admin:
            with pytest.raises(DelegationTokenExpiredError):
                await admin.renew_delegation_token(token.hmac)
            assert len(await admin.describe_delegation_token()) == 2
        clock.advance(3600)
        async with as_user(broker) as admin:
            assert [one.token_id for one in await admin.describe_delegation_token()] == [kept.token_id]


async def test_a_session_ends_with_its_token() -> None:
    clock = ManualClock()
    async with EmbeddedBroker(PROPERTIES, clock=clock) as broker, as_user(broker) as admin:
        token = await admin.create_delegation_token(max_lifetime_ms=60_000)
        async with AdminClient(broker.address("SASL_PLAINTEXT"), credentials=token.credentials()) as borrower:
            await borrower.describe_cluster()
            with pytest.raises(DelegationTokenRequestNotAllowedError):
                await borrower.create_delegation_token()
            clock.advance(61)
            with pytest.raises(SaslAuthenticationFailedError):
                await borrower.describe_cluster()


async def test_there_are_none_without_a_key() -> None:
    properties = {name: value for name, value in PROPERTIES.items() if value != KEY}
    async with EmbeddedBroker(properties) as broker, as_user(broker) as admin:
        with pytest.raises(DelegationTokenAuthDisabledError):
            await admin.create_delegation_token()
        with pytest.raises(DelegationTokenAuthDisabledError):
            await admin.describe_delegation_token()


async def test_clients_without_a_login_may_not_ask() -> None:
    async with EmbeddedBroker(PROPERTIES) as broker, AdminClient(broker.address("PLAINTEXT")) as admin:
        with pytest.raises(DelegationTokenRequestNotAllowedError):
            await admin.create_delegation_token()


async def test_neither_the_log_nor_a_representation_has_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with EmbeddedBroker(PROPERTIES) as broker, as_user(broker) as admin:
        token = await admin.create_delegation_token()
        await logs_in(broker, token)
        await admin.renew_delegation_token(token.hmac)
        await admin.describe_delegation_token()
        shown = f"{broker!r} {list(broker.requests)} {token!r} {caplog.text}"
        shown += "".join(f"{received.request!r} {received.response!r}" for received in broker.requests)
    assert token.token_id in shown
    for secret in (KEY, token.hmac.hex(), repr(token.hmac), token.credentials().password):
        assert secret not in shown


async def test_bounded_tokens_have_few_renewers() -> None:
    async with EmbeddedBroker(PROPERTIES) as broker, as_user(broker) as admin:
        renewers = [f"User:{'r' * 32_000}{number}" for number in range(500)]
        await admin.create_delegation_token(renewers=renewers)
        with pytest.raises(PolicyViolationError):
            await admin.create_delegation_token(renewers=renewers)
        (token,) = await admin.describe_delegation_token()
        await admin.expire_delegation_token(token.hmac)
        await admin.create_delegation_token(renewers=renewers[:1])
