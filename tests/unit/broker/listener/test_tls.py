"""TLS listeners from PEM, with and without certificates of clients (KIP-651)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from kafkawire.admin import AclBinding, AclOperation, AdminClient, PlainCredentials
from kafkawire.admin.connection.tls import Tls
from kafkawire.broker import EmbeddedBroker
from kafkawire.broker.configuration.broker_configuration import ConfigurationError
from kafkawire.protocol.errors import ClusterAuthorizationFailedError
from kafkawire.wire.kafka_errors import OperationTimeoutError

KEY_PASSWORD = "open sesame"
MUTUAL = {"ssl.client.auth": "required"}
AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}


class Certificates:
    """An authority, what it has signed, and files of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = trustme.CA()
        self.server = self.authority.issue_cert("127.0.0.1")
        self.alice = self.authority.issue_cert(
            "alice.example", common_name="alice", organization_name="Example", organization_unit_name="A, B"
        )
        self.trusted = self.authority.cert_pem.bytes().decode()

    @property
    def key_store(self) -> str:
        file = self.folder / "key-store.pem"
        self.server.private_key_and_cert_chain_pem.write_to_path(file)
        return str(file)

    @property
    def trust_store(self) -> str:
        file = self.folder / "trust-store.pem"
        self.authority.cert_pem.write_to_path(file)
        return str(file)

    def properties(self, **more: str) -> dict[str, str]:
        return {
            "listeners": "SSL://127.0.0.1:0",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": self.key_store,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self.trust_store,
            **more,
        }

    def client(self, certificate: trustme.LeafCert | None = None) -> Tls:
        if certificate is None:
            return Tls(ca=self.trusted)
        return Tls(ca=self.trusted, certificate=certificate.private_key_and_cert_chain_pem.bytes().decode())


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


async def cluster_id(properties: Mapping[str, str], client: Tls) -> bool:
    """Whether a client learns from a broker with these properties which one it is."""
    async with EmbeddedBroker(properties) as broker, AdminClient(broker.bootstrap_servers, tls=client) as admin:
        return (await admin.describe_cluster()).cluster_id == broker.cluster_id


async def test_a_listener_with_tls(certificates: Certificates) -> None:
    assert await cluster_id(certificates.properties(), certificates.client())


async def test_the_key_and_the_certificates_may_be_texts(certificates: Certificates) -> None:
    properties = certificates.properties()
    for name in ("ssl.keystore.location", "ssl.truststore.location"):
        del properties[name]
    properties["ssl.keystore.key"] = certificates.server.private_key_pem.bytes().decode()
    chain = b"".join(pem.bytes() for pem in certificates.server.cert_chain_pems)
    properties["ssl.keystore.certificate.chain"] = chain.decode()
    properties["ssl.truststore.certificates"] = certificates.trusted
    assert await cluster_id({**properties, **MUTUAL}, certificates.client(certificates.alice))


async def test_the_key_may_have_a_password(certificates: Certificates) -> None:
    key = serialization.load_pem_private_key(certificates.server.private_key_pem.bytes(), None)
    encrypted = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(KEY_PASSWORD.encode()),
    )
    file = certificates.folder / "encrypted.pem"
    file.write_bytes(encrypted + certificates.server.cert_chain_pems[0].bytes())
    properties = certificates.properties(**{"ssl.keystore.location": str(file)})
    assert await cluster_id({**properties, "ssl.key.password": KEY_PASSWORD}, certificates.client())
    with pytest.raises(ConfigurationError, match=r"encrypted\.pem"):
        await cluster_id(properties, certificates.client())
    with pytest.raises(ConfigurationError) as raised:
        await cluster_id({**properties, "ssl.key.password": "wrong-secret"}, certificates.client())
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("client_auth", ["none", "requested", "required"])
@pytest.mark.parametrize("shows_certificate", [False, True])
async def test_the_subject_of_a_clients_certificate_is_its_principal(
    certificates: Certificates, client_auth: str, shows_certificate: bool
) -> None:
    super_user = r"User:CN=alice,OU=A\, B,O=Example"
    properties = certificates.properties(**AUTHORIZER, **{"ssl.client.auth": client_auth, "super.users": super_user})
    client = certificates.client(certificates.alice if shows_certificate else None)
    acl = AclBinding.of_cluster("User:bob", AclOperation.ALTER)
    async with EmbeddedBroker(properties) as broker, AdminClient(broker.bootstrap_servers, tls=client) as admin:
        error = (await admin.create_acls([acl], timeout=1)).errors().get(acl)
    if client_auth == "required" and not shows_certificate:
        assert isinstance(error, OperationTimeoutError)
    elif client_auth == "none" or not shows_certificate:
        assert isinstance(error, ClusterAuthorizationFailedError)
    else:
        assert error is None


async def test_a_trusted_authority_need_not_be_a_root(certificates: Certificates) -> None:
    issuing = certificates.authority.create_child_ca()
    client = certificates.client(issuing.issue_cert("bob.example", common_name="bob"))
    trusted = certificates.folder / "issuing.pem"
    issuing.cert_pem.write_to_path(trusted)
    properties = certificates.properties(**MUTUAL, **{"ssl.truststore.location": str(trusted)})
    assert await cluster_id(properties, client)


async def test_a_certificate_of_another_authority_is_not_taken(certificates: Certificates) -> None:
    stranger = trustme.CA().issue_cert("alice.example", common_name="alice")
    properties = certificates.properties(**MUTUAL)
    async with EmbeddedBroker(properties) as broker:
        client = certificates.client(stranger)
        async with AdminClient(broker.bootstrap_servers, tls=client) as admin:
            with pytest.raises(OperationTimeoutError):
                await admin.describe_cluster(timeout=1)
        assert broker.port


async def test_a_login_over_tls(certificates: Certificates) -> None:
    properties = certificates.properties(
        **{
            "listeners": "SASL_SSL://127.0.0.1:0",
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl_ssl.plain.sasl.jaas.config": 'PlainLoginModule required user_alice="alice-secret";',
            # With SASL it counts only for listeners by name, as in Kafka.
            **MUTUAL,
        }
    )
    async with EmbeddedBroker(properties) as broker:
        credentials = PlainCredentials("alice", "alice-secret")
        async with AdminClient(broker.bootstrap_servers, tls=certificates.client(), credentials=credentials) as admin:
            assert (await admin.describe_cluster()).cluster_id == broker.cluster_id


async def test_a_client_without_tls_is_closed(certificates: Certificates) -> None:
    async with EmbeddedBroker(certificates.properties()) as broker:
        reader, writer = await asyncio.open_connection(broker.host, broker.port)
        writer.write(b"\0\0\0\x10 no TLS at all ")
        assert await asyncio.wait_for(reader.read(), 10) in {b"", b"\x15\x03\x01\x00\x02\x02F"}
        writer.close()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ssl.keystore.type": "JKS"}, "ssl.keystore.type is JKS for SSL: only PEM"),
        ({"ssl.keystore.type": "PKCS12"}, "only PEM"),
        ({"ssl.truststore.type": "JKS", "ssl.client.auth": "required"}, "ssl.truststore.type is JKS"),
        ({"ssl.keystore.location": ""}, "SSL needs its certificate"),
        ({"ssl.keystore.location": "/nowhere.pem"}, "/nowhere.pem"),
        ({"ssl.truststore.location": "/nowhere.pem", "ssl.client.auth": "required"}, "/nowhere.pem"),
        ({"ssl.truststore.location": "", "ssl.truststore.certificates": "none", "ssl.client.auth": "required"}, "text"),
        ({"ssl.cipher.suites": "TLS_AES_256_GCM_SHA384"}, "ssl.cipher.suites"),
        ({"ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/"}, "ssl.principal.mapping.rules"),
        ({"ssl.enabled.protocols": "TLSv1.1"}, "TLSv1.1"),
    ],
)
async def test_pem_only_other_stores_are_refused_with_a_reason(
    certificates: Certificates, changes: dict[str, str], reason: str
) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        await cluster_id(certificates.properties(**changes), certificates.client())
