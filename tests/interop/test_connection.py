"""Connections to real brokers: negotiation, every login, TLS, and logins that are renewed while requests flow."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import pytest
import trustme
from cryptography.hazmat.primitives import serialization
from tests.apache_kafka.broker import Broker, running_broker
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.releases import broker_releases
from tests.stand_ins.channels import run, soon

from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.sasl.credentials import (
    Credentials,
    CredentialsSource,
    OAuthBearerCredentials,
    PlainCredentials,
    ScramCredentials,
)
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.tls import Tls
from kafkawire.protocol import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    MetadataRequest,
)
from kafkawire.protocol.errors import (
    IllegalSaslStateError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)
from kafkawire.wire.kafka_errors import ConnectionFailedError, ConnectionImpossibleError

pytestmark = [pytest.mark.interop, pytest.mark.extended]

SETTINGS = ConnectionSettings(client_id="test")
SESSION_MS = 1_500
JAAS = "org.apache.kafka.common.security"
PASSWORD = "alice-secret"


def unsecured_token(principal: str, *, seconds: int = 3600) -> str:
    """A token without a signature, which Kafka's validator for trials accepts."""
    now = int(time.time())
    parts = ({"alg": "none"}, {"sub": principal, "iat": now, "exp": now + seconds})
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + "."


LOGINS: dict[str, Credentials] = {
    "PLAIN": PlainCredentials("alice", PASSWORD),
    "SCRAM-SHA-256": ScramCredentials("alice", PASSWORD, "SCRAM-SHA-256"),
    "SCRAM-SHA-512": ScramCredentials("alice", PASSWORD, "SCRAM-SHA-512"),
    "OAUTHBEARER": OAuthBearerCredentials(unsecured_token("alice"), {"traceId": "17"}),
}
REFUSED: dict[str, tuple[Credentials, str]] = {
    "PLAIN": (PlainCredentials("alice", "wrong"), "Authentication failed: Invalid username or password"),
    "SCRAM-SHA-256": (
        ScramCredentials("alice", "wrong", "SCRAM-SHA-256"),
        "invalid credentials with SASL mechanism SCRAM",
    ),
    "SCRAM-SHA-512": (ScramCredentials("nobody", "wrong"), "invalid credentials with SASL mechanism SCRAM-SHA-512"),
    "OAUTHBEARER": (OAuthBearerCredentials(unsecured_token("alice", seconds=-60)), '{"status":"invalid_token"}'),
}


@dataclass(frozen=True)
class SecuredBroker:
    """A broker with logins and TLS.

    Attributes:
        broker: the broker; its further listeners are ``SASL``, ``SASLTLS``, ``ONLYPLAIN``, ``TLS`` and ``MUTUAL``.
        authority: has issued its certificate.
    """

    broker: Broker
    authority: trustme.CA

    def tls(self) -> Tls:
        return Tls(ca=self.authority.cert_pem.bytes().decode())

    async def connect(
        self, listener: str, credentials: CredentialsSource | None = None, tls: Tls | None = None
    ) -> Channel:
        context = None if tls is None else tls.context()
        port = self.broker.ports[listener]
        return await Channel.connect(self.broker.host, port, SETTINGS, credentials, context, deadline=soon(20.0))


@pytest.fixture(scope="module", params=broker_releases())
def secured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    authority = trustme.CA()
    listeners = {"SASL": "SASL_PLAINTEXT", "SASLTLS": "SASL_SSL", "ONLYPLAIN": "SASL_PLAINTEXT", "TLS": "SSL"}
    listeners["MUTUAL"] = "SSL"
    folder = tmp_path_factory.mktemp(f"secured-{request.param}")
    scram = [
        argument
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
        for argument in ("--add-scram", f'{mechanism}=[name="alice",password="{PASSWORD}",iterations=8192]')
    ]
    with running_broker(
        request.param, folder, listeners=listeners, properties=security(authority), format_arguments=scram
    ) as broker:
        yield SecuredBroker(broker, authority)


def security(authority: trustme.CA) -> dict[str, str]:
    """The properties of all logins and of TLS."""
    login_modules = {
        "plain": f'{JAAS}.plain.PlainLoginModule required user_alice="{PASSWORD}";',
        "scram-sha-256": f"{JAAS}.scram.ScramLoginModule required;",
        "scram-sha-512": f"{JAAS}.scram.ScramLoginModule required;",
        "oauthbearer": f'{JAAS}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";',
    }
    sasl = {
        f"listener.name.{listener}.{name}.sasl.jaas.config": module
        for listener in ("sasl", "sasltls", "onlyplain")
        for name, module in login_modules.items()
    }
    mine = authority.issue_cert("127.0.0.1", "localhost")
    key = serialization.load_pem_private_key(mine.private_key_pem.bytes(), None).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return {
        **sasl,
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "listener.name.onlyplain.sasl.enabled.mechanisms": "PLAIN",
        "delegation.token.secret.key": "secret of the tests",
        "connections.max.reauth.ms": str(SESSION_MS),
        "connection.failed.authentication.delay.ms": "20",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": one_line(b"".join(pem.bytes() for pem in mine.cert_chain_pems)),
        "ssl.keystore.key": one_line(key),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": one_line(authority.cert_pem.bytes()),
        "ssl.client.auth": "requested",
        "listener.name.mutual.ssl.client.auth": "required",
    }


def one_line(pem: bytes) -> str:
    """PEM as a value of a properties file."""
    return pem.decode().strip().replace("\n", "\\n")


async def cluster_id(channel: Channel) -> str:
    version = channel.versions.choose(DescribeClusterRequest)
    answer = await channel.request(DescribeClusterRequest(), DescribeClusterResponse, version, soon(20.0))
    assert answer.error_code == 0
    return answer.cluster_id


@pytest.mark.parametrize("release", broker_releases())
def test_versions_and_features_are_negotiated(release: str, kafka_brokers: Brokers) -> None:
    broker = kafka_brokers(release)

    async def body() -> None:
        for port in (broker.port, broker.controller_port):
            channel = await Channel.connect(broker.host, port, SETTINGS, deadline=soon(20.0))
            assert channel.versions.finalized_features["metadata.version"]
            assert channel.versions.supported_features.keys() >= {"metadata.version", "kraft.version"}
            assert channel.versions.finalized_features_epoch >= 0
            await channel.close()
            channel = await Channel.connect(broker.host, broker.port, SETTINGS, deadline=soon(20.0))
            assert channel.versions.choose(MetadataRequest) >= 12
            assert set(await asyncio.gather(*(cluster_id(channel) for _ in range(100)))) == {broker.cluster_id}
            await channel.close()

    run(body())


@pytest.mark.parametrize("login", LOGINS)
@pytest.mark.parametrize("listener", ["SASL", "SASLTLS"])
def test_every_mechanism_logs_in(login: str, listener: str, secured: SecuredBroker) -> None:
    async def body() -> None:
        channel = await secured.connect(listener, LOGINS[login], secured.tls() if listener == "SASLTLS" else None)
        assert await cluster_id(channel) == secured.broker.cluster_id
        await channel.close()

    run(body())


@pytest.mark.parametrize(("name", "password"), [("b=o,b", "=,secret"), ("carol", "ªK\u00ad\xa0")])
def test_names_and_passwords_may_hold_anything(name: str, password: str, secured: SecuredBroker) -> None:
    """The broker takes the bytes of a password as they are, and a salt of any length."""
    salt = b"salt"
    salted = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, 4096)
    upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion(name, 2, 4096, salt, salted)

    async def body() -> None:
        admin = await secured.connect("SASL", LOGINS["PLAIN"])
        request = AlterUserScramCredentialsRequest((), (upsertion,))
        answer = await admin.request(request, AlterUserScramCredentialsResponse, 0, soon(20.0))
        assert [result.error_code for result in answer.results] == [0]
        await admin.close()
        channel = await once_known(lambda: secured.connect("SASL", ScramCredentials(name, password)))
        assert await cluster_id(channel) == secured.broker.cluster_id
        await channel.close()

    run(body())


def test_a_delegation_token_logs_in(secured: SecuredBroker) -> None:
    async def body() -> None:
        admin = await secured.connect("SASL", LOGINS["SCRAM-SHA-512"])
        version = admin.versions.choose(CreateDelegationTokenRequest)
        request = CreateDelegationTokenRequest(owner_principal_type=None, owner_principal_name=None, max_lifetime_ms=-1)
        token = await admin.request(request, CreateDelegationTokenResponse, version, soon(20.0))
        assert token.error_code == 0
        await admin.close()
        password = base64.b64encode(token.hmac).decode()
        credentials = ScramCredentials(token.token_id, password, "SCRAM-SHA-256", is_delegation_token=True)
        channel = await once_known(lambda: secured.connect("SASL", credentials))
        assert await cluster_id(channel) == secured.broker.cluster_id
        await channel.close()

    run(body())


async def once_known(connect: Callable[[], Awaitable[Channel]]) -> Channel:
    """The controller has a user or a token a moment before the broker has it."""
    until = soon(20.0)
    while asyncio.get_running_loop().time() < until:
        try:
            return await connect()
        except SaslAuthenticationFailedError:
            continue
    return await connect()


@pytest.mark.parametrize("mechanism", REFUSED)
def test_wrong_credentials_fail_at_once_with_the_brokers_reason(mechanism: str, secured: SecuredBroker) -> None:
    async def body() -> None:
        credentials, reason = REFUSED[mechanism]
        with pytest.raises(SaslAuthenticationFailedError) as raised:
            await secured.connect("SASL", credentials)
        assert reason in str(raised.value)

    run(body())


def test_the_refusal_of_a_mechanism_names_the_enabled_ones(secured: SecuredBroker) -> None:
    async def body() -> None:
        with pytest.raises(UnsupportedSaslMechanismError, match=r"SCRAM-SHA-512 is not enabled .*, but: PLAIN$"):
            await secured.connect("ONLYPLAIN", LOGINS["SCRAM-SHA-512"])

    run(body())


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"])
def test_logins_are_renewed_while_requests_flow(mechanism: str, secured: SecuredBroker) -> None:
    """The broker closes connections whose session has ended, so that a request after two lifetimes proves it."""
    given: list[Credentials] = []

    def callback() -> Credentials:
        given.append(LOGINS[mechanism])
        return given[-1]

    async def body() -> None:
        channel = await secured.connect("SASL", callback)
        asked_until = soon(2.5 * SESSION_MS / 1000)
        while asyncio.get_running_loop().time() < asked_until:
            answers = await asyncio.gather(*(cluster_id(channel) for _ in range(20)))
            assert set(answers) == {secured.broker.cluster_id}
        assert channel.is_usable
        await channel.close()

    run(body())
    assert len(given) >= 3


def test_a_session_that_is_idle_is_renewed_too(secured: SecuredBroker) -> None:
    """Asked for the third time, the callback has seen more than one lifetime pass."""

    async def body() -> None:
        asked, thrice = 0, asyncio.Event()

        async def callback() -> Credentials:
            nonlocal asked
            asked += 1
            if asked == 3:
                thrice.set()
            return LOGINS["SCRAM-SHA-512"]

        channel = await secured.connect("SASL", callback)
        async with asyncio.timeout(20.0):
            await thrice.wait()
        assert await cluster_id(channel) == secured.broker.cluster_id
        await channel.close()

    run(body())


def test_the_error_of_a_login_on_a_listener_without_sasl_says_so(kafka_broker: Broker) -> None:
    async def body() -> None:
        with pytest.raises(IllegalSaslStateError, match="the listener has no SASL"):
            await Channel.connect(kafka_broker.host, kafka_broker.port, SETTINGS, LOGINS["PLAIN"], deadline=soon(20.0))

    run(body())


def test_a_certificate_of_an_unknown_authority_is_refused(secured: SecuredBroker) -> None:
    async def body() -> None:
        with pytest.raises(ConnectionFailedError, match="the broker's certificate is refused"):
            await secured.connect("TLS", None, Tls(ca=trustme.CA().cert_pem.bytes().decode()))
        channel = await secured.connect("TLS", None, secured.tls())
        assert await cluster_id(channel) == secured.broker.cluster_id
        await channel.close()

    run(body())


def test_plain_text_to_a_listener_with_tls_is_named(secured: SecuredBroker) -> None:
    async def body() -> None:
        with pytest.raises(ConnectionImpossibleError, match="the listener wants TLS"):
            await secured.connect("TLS")

    run(body())


def test_a_listener_that_wants_a_certificate_of_the_client_is_named(secured: SecuredBroker) -> None:
    async def body() -> None:
        with pytest.raises(ConnectionImpossibleError, match=r"the client.*give Tls\(certificate="):
            await secured.connect("MUTUAL", None, secured.tls())

    run(body())


@pytest.mark.parametrize("listener", ["SASL", "SASLTLS"])
def test_a_listener_that_wants_a_login_names_its_mechanisms(listener: str, secured: SecuredBroker) -> None:
    async def body() -> None:
        channel = await secured.connect(listener, None, secured.tls() if listener == "SASLTLS" else None)
        with pytest.raises(ConnectionImpossibleError, match=r"wants a login \(SASL; it has .*SCRAM-SHA-512.*give"):
            await cluster_id(channel)

    run(body())


def test_tls_to_a_listener_without_tls_is_named(secured: SecuredBroker) -> None:
    async def body() -> None:
        with pytest.raises(ConnectionImpossibleError, match="the listener has no TLS"):
            await secured.connect("SASL", None, secured.tls())

    run(body())
