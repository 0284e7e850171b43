"""Java's Admin and kafkawire's admin client trust the same authorities, whatever the Python checks by default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from tests.apache_kafka.certificates import CertificateAuthority
from tests.apache_kafka.java_admin import JavaAdmin, JavaAdminError

from kafkawire.admin import BlockingAdminClient, Tls
from kafkawire.broker import ThreadedBroker
from kafkawire.wire.kafka_errors import KafkaError

pytestmark = [pytest.mark.interop]


class Authorities(NamedTuple):
    """A root without an extension for the use of its key, as ``openssl req -x509`` makes it, and what it signed."""

    root: CertificateAuthority
    issuing: CertificateAuthority
    other: CertificateAuthority


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> Authorities:
    folder = tmp_path_factory.mktemp("authorities")
    root = CertificateAuthority(folder, "Root", file="root")
    issuing = CertificateAuthority(folder, "Issuing", file="issuing", parent=root)
    return Authorities(root, issuing, CertificateAuthority(folder, "Other", file="other"))


@pytest.fixture(scope="module")
def address(authorities: Authorities, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a broker that sends its certificate and that of the issuing authority."""
    leaf = authorities.issuing.issue("broker", hosts=("DNS:localhost",), days=90)
    store = tmp_path_factory.mktemp("broker") / "server.pem"
    store.write_bytes(leaf.both.read_bytes() + authorities.issuing.certificate.read_bytes())
    properties = {
        "listeners": "SSL://localhost:0",
        "inter.broker.listener.name": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
    }
    with ThreadedBroker(properties) as broker:
        yield broker.bootstrap_servers


def trusting(authority: CertificateAuthority) -> dict[str, str]:
    return {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.certificate),
    }


@pytest.mark.parametrize("trusted", ["root", "issuing"])
def test_a_root_that_does_not_say_what_its_key_is_for_and_an_authority_below_it_are_trusted(
    authorities: Authorities, address: str, java_admin: JavaAdmin, trusted: str
) -> None:
    authority: CertificateAuthority = getattr(authorities, trusted)
    assert java_admin.client(address, trusting(authority)).describe_cluster().nodes
    with BlockingAdminClient(address, tls=Tls(ca=authority.certificate)) as admin:
        assert admin.describe_cluster().nodes


def test_another_authority_is_not(authorities: Authorities, address: str, java_admin: JavaAdmin) -> None:
    with pytest.raises(JavaAdminError, match="SSL"):
        java_admin.client(address, trusting(authorities.other)).describe_cluster()
    with (
        BlockingAdminClient(address, tls=Tls(ca=authorities.other.certificate)) as admin,
        pytest.raises(KafkaError, match="certificate"),
    ):
        admin.describe_cluster()
