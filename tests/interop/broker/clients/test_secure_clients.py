"""Other clients log in at the embedded broker, over TLS, and have the rights that ACLs give them."""

from __future__ import annotations

import asyncio
import importlib
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import trustme
from cryptography.hazmat.primitives import serialization
from tests.apache_kafka.java_admin import JavaAdmin, JavaAdminError

from kafkawire.admin import (
    AclBinding,
    AclOperation,
    BlockingAdminClient,
    NewTopic,
    PatternType,
    ResourceType,
    ScramMechanism,
    ScramUpsertion,
)
from kafkawire.broker import ThreadedBroker

Untyped: TypeAlias = Any
"""What these clients are made of."""

pytestmark = [
    pytest.mark.interop,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

PASSWORD = "alice-secret"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
MODULES = "org.apache.kafka.common.security"
ALICE, CERTIFIED = "User:alice", "User:CN=alice,OU=Billing,O=Example"


@dataclass(frozen=True, slots=True)
class Secure:
    """A broker where alice may see the topic ``orders`` and no other.

    Attributes:
        broker: the broker.
        sasl, mutual: addresses of its listeners with logins and with certificates of clients.
        trusted, certificate: PEM files: the authority, and alice's certificate with its key.
    """

    broker: ThreadedBroker
    sasl: str
    mutual: str
    trusted: Path
    certificate: Path


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    folder = tmp_path_factory.mktemp("secure")
    authority = trustme.CA()
    alice = authority.issue_cert(
        "alice.example", common_name="alice", organization_name="Example", organization_unit_name="Billing"
    )
    files = {
        "trusted": authority.cert_pem.bytes(),
        "server": authority.issue_cert("127.0.0.1", "localhost").private_key_and_cert_chain_pem.bytes(),
        "certificate": pkcs8(alice) + alice.cert_chain_pems[0].bytes(),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    properties = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_SSL://127.0.0.1:0,SSL://127.0.0.1:0",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "listener.name.sasl_ssl.plain.sasl.jaas.config": (
            f'{MODULES}.plain.PlainLoginModule required user_alice="{PASSWORD}";'
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "server"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "trusted"),
        "listener.name.ssl.ssl.client.auth": "required",
    }
    with ThreadedBroker(properties) as broker:
        set_up(broker)
        addresses = broker.address("SASL_SSL"), broker.address("SSL")
        yield Secure(broker, *addresses, folder / "trusted", folder / "certificate")


def pkcs8(certificate: trustme.LeafCert) -> bytes:
    """The key in the form that Java reads."""
    key = serialization.load_pem_private_key(certificate.private_key_pem.bytes(), None)
    no_password = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, no_password)


def set_up(broker: ThreadedBroker) -> None:
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders"), NewTopic("invoices")]).all()
        acls = [AclBinding(ResourceType.TOPIC, "ord", who, AclOperation.READ, pattern_type=PatternType.PREFIXED)
                for who in (ALICE, CERTIFIED)]  # fmt: skip
        admin.create_acls(acls).all()
        upsertions = [
            ScramUpsertion("alice", mechanism, PASSWORD)
            for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
        ]
        admin.alter_user_scram_credentials(upsertions).all()


def java_login(secure: Secure, mechanism: str, password: str = PASSWORD) -> dict[str, str]:
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    return {
        "bootstrap.servers": secure.sasl,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f'{MODULES}.{module} required username="alice" password="{password}";',
        **java_trust(secure),
    }


def java_trust(secure: Secure) -> dict[str, str]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(secure.trusted)}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_javas_admin_logs_in(secure: Secure, java_admin: JavaAdmin, mechanism: str) -> None:
    admin = java_admin.client(properties=java_login(secure, mechanism))
    assert [topic.name for topic in admin.list_topics()] == ["orders"]
    with pytest.raises(JavaAdminError) as refused:
        admin.describe_acls()
    assert refused.value.code == 31


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_javas_admin_learns_of_a_wrong_password(secure: Secure, java_admin: JavaAdmin, mechanism: str) -> None:
    with pytest.raises(JavaAdminError) as refused:
        java_admin.client(properties=java_login(secure, mechanism, "wrong")).list_topics()
    assert refused.value.code == 58


def test_javas_admin_shows_a_certificate(secure: Secure, java_admin: JavaAdmin) -> None:
    keys = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(secure.certificate)}
    properties = {"bootstrap.servers": secure.mutual, "security.protocol": "SSL", **java_trust(secure), **keys}
    assert [topic.name for topic in java_admin.client(properties=properties).list_topics()] == ["orders"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_logs_in(secure: Secure, mechanism: str) -> None:
    importlib.import_module("kafka.admin")
    kafka: Untyped = importlib.import_module("kafka")
    admin = kafka.KafkaAdminClient(
        bootstrap_servers=secure.sasl,
        security_protocol="SASL_SSL",
        ssl_cafile=str(secure.trusted),
        sasl_mechanism=mechanism,
        sasl_plain_username="alice",
        sasl_plain_password=PASSWORD,
    )
    assert admin.list_topics() == ["orders"]
    admin.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_confluent_kafka_logs_in(secure: Secure, mechanism: str) -> None:
    confluent: Untyped = importlib.import_module("confluent_kafka.admin")
    admin = confluent.AdminClient(
        {
            "bootstrap.servers": secure.sasl,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(secure.trusted),
            "sasl.mechanism": mechanism,
            "sasl.username": "alice",
            "sasl.password": PASSWORD,
        }
    )
    assert list(admin.list_topics(timeout=20).topics) == ["orders"]


def test_confluent_kafka_shows_a_certificate(secure: Secure) -> None:
    confluent: Untyped = importlib.import_module("confluent_kafka.admin")
    admin = confluent.AdminClient(
        {
            "bootstrap.servers": secure.mutual,
            "security.protocol": "SSL",
            "ssl.ca.location": str(secure.trusted),
            "ssl.certificate.location": str(secure.certificate),
            "ssl.key.location": str(secure.certificate),
        }
    )
    assert list(admin.list_topics(timeout=20).topics) == ["orders"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_aiokafka_logs_in(secure: Secure, mechanism: str) -> None:
    aiokafka: Untyped = importlib.import_module("aiokafka.admin")

    async def topics() -> list[str]:
        admin = aiokafka.AIOKafkaAdminClient(
            bootstrap_servers=secure.sasl,
            security_protocol="SASL_SSL",
            ssl_context=ssl.create_default_context(cafile=str(secure.trusted)),
            sasl_mechanism=mechanism,
            sasl_plain_username="alice",
            sasl_plain_password=PASSWORD,
        )
        await admin.start()
        try:
            return list(await admin.list_topics())
        finally:
            await admin.close()

    assert asyncio.run(topics()) == ["orders"]
