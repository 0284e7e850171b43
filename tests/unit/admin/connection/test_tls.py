"""TLS: the options of a context, and the checks of a broker's certificate."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization
from tests.stand_ins.broker import StandInBroker

from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.tls import Tls
from kafkawire.wire.kafka_errors import BrokenStreamError, ConnectionFailedError, ConnectionImpossibleError

SETTINGS = ConnectionSettings(setup_timeout=5.0)
KEY_PASSWORD = "open sesame"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca(authority: trustme.CA) -> str:
    return authority.cert_pem.bytes().decode()


def server_context(authority: trustme.CA, *names: str, wants_certificate: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    if wants_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
        authority.configure_trust(context)
    return context


def connect(
    server: ssl.SSLContext | None, client: ssl.SSLContext | None, host: str = "127.0.0.1", seconds: float = 5.0
) -> bool:
    """Whether a connection to a broker can be used."""

    async def attempt() -> bool:
        async with StandInBroker(tls=server) as broker:
            deadline = asyncio.get_running_loop().time() + seconds
            channel = await Channel.connect(host, broker.port, SETTINGS, tls=client, deadline=deadline)
            was_usable = channel.is_usable
            await channel.close()
            return was_usable

    return asyncio.run(attempt())


def test_a_certificate_of_a_trusted_authority_for_the_host_is_accepted(authority: trustme.CA, ca: str) -> None:
    assert connect(server_context(authority, "127.0.0.1"), Tls(ca=ca).context())
    assert connect(server_context(authority, "localhost"), Tls(ca=ca).context(), "localhost")


def test_a_certificate_of_another_authority_is_refused_with_the_reason(ca: str) -> None:
    with pytest.raises(ConnectionFailedError, match="certificate is refused: unable to get local issuer") as raised:
        connect(server_context(trustme.CA(), "127.0.0.1"), Tls(ca=ca).context())
    assert isinstance(raised.value.__cause__, ssl.SSLCertVerificationError)


def test_authorities_are_checked_alike_with_every_python(ca: str) -> None:
    for context in (Tls(ca=ca).context(), Tls().context()):
        assert context.verify_flags & ssl.VERIFY_X509_PARTIAL_CHAIN
        assert not context.verify_flags & ssl.VERIFY_X509_STRICT
        assert context.verify_mode is ssl.CERT_REQUIRED


def test_a_trusted_authority_need_not_be_a_root(authority: trustme.CA) -> None:
    issuing = authority.create_child_ca()
    trusted = issuing.cert_pem.bytes().decode()
    assert connect(server_context(issuing, "127.0.0.1"), Tls(ca=trusted).context())
    with pytest.raises(ConnectionImpossibleError, match="certificate"):
        connect(server_context(authority, "127.0.0.1"), Tls(ca=trusted).context())


def test_the_authorities_of_the_system_are_the_default(authority: trustme.CA) -> None:
    with pytest.raises(ConnectionFailedError, match="certificate is refused"):
        connect(server_context(authority, "127.0.0.1"), Tls().context())


def test_a_certificate_for_another_host_is_refused_unless_names_do_not_matter(authority: trustme.CA, ca: str) -> None:
    server = server_context(authority, "broker.example")
    with pytest.raises(ConnectionFailedError, match=r"IP address mismatch, certificate is not valid for '127.0.0.1'"):
        connect(server, Tls(ca=ca).context())
    assert connect(server, Tls(ca=ca, verify_hostname=False).context())


def test_the_host_name_is_sent_to_the_broker(authority: trustme.CA, ca: str) -> None:
    server, seen = server_context(authority, "localhost"), []
    server.sni_callback = lambda _socket, name, _context: seen.append(name)
    assert connect(server, Tls(ca=ca).context(), "localhost")
    assert seen == ["localhost"]


@pytest.mark.parametrize("form", ["texts", "files", "one file"])
def test_a_client_shows_its_certificate(form: str, authority: trustme.CA, ca: str, tmp_path: Path) -> None:
    mine = authority.issue_cert("alice@example.org")
    chain, key = (pem.bytes().decode() for pem in (mine.cert_chain_pems[0], mine.private_key_pem))
    files = {name: tmp_path / name for name in ("ca", "chain", "key", "both")}
    for name, content in (("ca", ca), ("chain", chain), ("key", key), ("both", key + chain)):
        files[name].write_text(content)
    tls = {
        "texts": Tls(ca=ca, certificate=chain, key=key),
        "files": Tls(ca=files["ca"], certificate=str(files["chain"]), key=files["key"]),
        "one file": Tls(ca=files["ca"], certificate=files["both"]),
    }[form]
    assert connect(server_context(authority, "127.0.0.1", wants_certificate=True), tls.context())


def test_a_broker_that_wants_a_certificate_and_gets_none_is_understood(authority: trustme.CA, ca: str) -> None:
    with pytest.raises(ConnectionFailedError, match="TLS"):
        connect(server_context(authority, "127.0.0.1", wants_certificate=True), Tls(ca=ca).context())


def test_an_encrypted_key_needs_its_password(authority: trustme.CA, ca: str) -> None:
    mine = authority.issue_cert("alice@example.org")
    plain = serialization.load_pem_private_key(mine.private_key_pem.bytes(), None)
    encrypted = plain.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(KEY_PASSWORD.encode()),
    ).decode()
    chain = mine.cert_chain_pems[0].bytes().decode()
    Tls(ca=ca, certificate=chain, key=encrypted, key_password=KEY_PASSWORD).context()
    for wrong in (None, "", "wrong"):
        with pytest.raises(ValueError, match="certificate: the text, key the text") as raised:
            Tls(ca=ca, certificate=chain, key=encrypted, key_password=wrong).context()
        assert "PRIVATE KEY" not in str(raised.value)


def test_secrets_are_in_no_representation() -> None:
    tls = Tls(certificate="-----BEGIN CERTIFICATE-----", key="-----BEGIN PRIVATE KEY-----", key_password=KEY_PASSWORD)
    assert repr(tls) == "Tls(verify_hostname=True, minimum_version='TLSv1.2', maximum_version=None)"


def test_a_key_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="key needs certificate"):
        Tls(key="-----BEGIN PRIVATE KEY-----")


@pytest.mark.parametrize("content", ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])
def test_authorities_that_cannot_be_read_are_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text(content)
    with pytest.raises(ValueError, match=r"ca: .*ca\.pem"):
        Tls(ca=file).context()
    with pytest.raises(ValueError, match=r"ca: .*missing"):
        Tls(ca=tmp_path / "missing").context()


def test_plain_text_at_a_listener_with_tls_is_recognized(authority: trustme.CA) -> None:
    """OpenSSL answers with an alert and Java closes; either way the error says TLS."""
    with pytest.raises((BrokenStreamError, ConnectionFailedError), match="TLS"):
        connect(server_context(authority, "127.0.0.1"), None)


def test_a_listener_without_tls_is_recognized() -> None:
    with pytest.raises(ConnectionImpossibleError, match="the listener has no TLS: take the port") as raised:
        connect(None, Tls().context(), seconds=0.2)
    assert isinstance(raised.value.__cause__, BrokenStreamError)
    assert "timed out in the TLS handshake" in str(raised.value.__cause__.__cause__)
