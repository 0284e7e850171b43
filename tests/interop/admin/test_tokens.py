"""Delegation tokens at real brokers: made, logged in by, renewed, expired, and what is refused (KIP-48, KIP-373)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Literal

import pytest
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.releases import broker_releases
from tests.apache_kafka.secure_broker import PASSWORDS, SUPER_USER, USER, SecureBroker

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.connection.sasl.credentials import Credentials, PlainCredentials, ScramCredentials
from kafkawire.admin.tokens import DelegationToken
from kafkawire.protocol.errors import (
    DelegationTokenAuthorizationFailedError,
    DelegationTokenExpiredError,
    DelegationTokenNotFoundError,
    DelegationTokenOwnerMismatchError,
    DelegationTokenRequestNotAllowedError,
    InvalidPrincipalTypeError,
    SaslAuthenticationFailedError,
)
from kafkawire.wire.kafka_errors import KafkaError

pytestmark = [pytest.mark.interop, pytest.mark.extended]

ME = f"User:{SUPER_USER}"
HOUR_MS = 3_600_000


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    return secure_kafka_brokers(request.param)


def as_user(broker: SecureBroker, credentials: Credentials) -> BlockingAdminClient:
    return BlockingAdminClient(f"{broker.broker.host}:{broker.sasl_plaintext_port}", credentials=credentials)


@pytest.fixture
def admin(broker: SecureBroker) -> Iterator[BlockingAdminClient]:
    """Logged in, and may do everything."""
    with as_user(broker, ScramCredentials(SUPER_USER, PASSWORDS[SUPER_USER])) as client:
        yield client


@pytest.fixture
def alice(broker: SecureBroker) -> Iterator[BlockingAdminClient]:
    """Logged in, and may do nothing."""
    with as_user(broker, PlainCredentials(USER, PASSWORDS[USER])) as client:
        yield client


def logs_in(broker: SecureBroker, credentials: Credentials) -> bool:
    with as_user(broker, credentials) as client:
        try:
            return client.describe_cluster().cluster_id == broker.broker.cluster_id
        except SaslAuthenticationFailedError:
            return False


def known(admin: BlockingAdminClient, token: DelegationToken) -> DelegationToken:
    """A token as the broker describes it, as soon as it does."""
    described = eventually(
        lambda: {other.token_id: other for other in admin.describe_delegation_token()},
        lambda tokens: token.token_id in tokens,
    )
    return described[token.token_id]


def refusal(admin: BlockingAdminClient, token: DelegationToken) -> KafkaError | None:
    """Why a token cannot be renewed."""
    try:
        admin.renew_delegation_token(token.hmac)
    except KafkaError as error:
        return error
    return None


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_token_logs_in_until_it_is_expired(
    broker: SecureBroker, admin: BlockingAdminClient, mechanism: Literal["SCRAM-SHA-256", "SCRAM-SHA-512"]
) -> None:
    token = admin.create_delegation_token(renewers=[f"User:{USER}"], max_lifetime_ms=HOUR_MS)
    assert (token.owner, token.requester, token.renewers) == (ME, ME, (f"User:{USER}",))
    assert token.max_timestamp_ms - token.issue_timestamp_ms == HOUR_MS
    assert known(admin, token) == token
    credentials = token.credentials(mechanism)
    assert eventually(lambda: logs_in(broker, credentials), bool)
    assert admin.expire_delegation_token(token.hmac) <= time.time() * 1000 + 60_000
    eventually(lambda: logs_in(broker, credentials), lambda allowed: not allowed)


def test_a_token_is_renewed_and_given_an_end(admin: BlockingAdminClient, alice: BlockingAdminClient) -> None:
    token = admin.create_delegation_token(renewers=[f"User:{USER}"], max_lifetime_ms=HOUR_MS)
    known(admin, token)
    assert admin.renew_delegation_token(token.hmac) == token.max_timestamp_ms
    in_a_minute = alice.renew_delegation_token(token.hmac, renew_period_ms=60_000)  # a renewer
    assert in_a_minute < token.max_timestamp_ms
    eventually(lambda: known(admin, token).expiry_timestamp_ms, lambda until: until == in_a_minute)
    sooner = admin.expire_delegation_token(token.hmac, expiry_period_ms=30_000)
    assert sooner < in_a_minute
    admin.expire_delegation_token(token.hmac)
    eventually(admin.describe_delegation_token, lambda tokens: token.token_id not in {t.token_id for t in tokens})
    with pytest.raises(DelegationTokenNotFoundError, match="no token has this HMAC"):
        admin.renew_delegation_token(token.hmac)


def test_tokens_of_others(admin: BlockingAdminClient, alice: BlockingAdminClient) -> None:
    token = admin.create_delegation_token(owner=f"User:{USER}")
    assert (token.owner, token.requester) == (f"User:{USER}", ME)
    mine = admin.create_delegation_token()
    known(admin, token)
    known(admin, mine)
    by_owner = admin.describe_delegation_token([f"User:{USER}"])  # and those that the user may renew
    for seen in ({t.token_id for t in by_owner}, {t.token_id for t in alice.describe_delegation_token()}):
        assert token.token_id in seen
        assert mine.token_id not in seen
    assert admin.describe_delegation_token([]) == ()
    with pytest.raises(DelegationTokenOwnerMismatchError, match="only the owner and the renewers"):
        alice.renew_delegation_token(mine.hmac)
    with pytest.raises(DelegationTokenOwnerMismatchError):
        alice.expire_delegation_token(mine.hmac)
    with pytest.raises(DelegationTokenAuthorizationFailedError):
        alice.create_delegation_token(owner=ME)
    admin.expire_delegation_token(mine.hmac)
    alice.expire_delegation_token(token.hmac)


def test_refused_tokens(admin: BlockingAdminClient) -> None:
    with pytest.raises(DelegationTokenNotFoundError):
        admin.expire_delegation_token(b"of no token")
    with pytest.raises(InvalidPrincipalTypeError, match="renewers must be of the type User"):
        admin.create_delegation_token(renewers=["Group:g"])
    token = admin.create_delegation_token(max_lifetime_ms=1)
    eventually(lambda: refusal(admin, token), lambda error: isinstance(error, DelegationTokenExpiredError))
    admin.expire_delegation_token(token.hmac)  # or else it would be described for another hour


def test_error_64_on_connections_without_authentication(broker: SecureBroker, admin: BlockingAdminClient) -> None:
    token = admin.create_delegation_token()
    known(admin, token)
    credentials = token.credentials()
    eventually(lambda: logs_in(broker, credentials), bool)
    with BlockingAdminClient(broker.broker.address) as anonymous, as_user(broker, credentials) as by_token:
        for client in (anonymous, by_token):
            with pytest.raises(DelegationTokenRequestNotAllowedError, match="a login by a token does not count"):
                client.create_delegation_token()
            with pytest.raises(DelegationTokenRequestNotAllowedError):
                client.renew_delegation_token(token.hmac)
            with pytest.raises(DelegationTokenRequestNotAllowedError):
                client.expire_delegation_token(token.hmac)
        with pytest.raises(DelegationTokenRequestNotAllowedError):
            anonymous.describe_delegation_token()
    admin.expire_delegation_token(token.hmac)
