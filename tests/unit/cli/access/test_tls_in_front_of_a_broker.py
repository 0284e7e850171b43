"""TLS and what can be wrong with it, as a person reads it: within a few seconds, with what to do."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
import trustme

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

REFUSED = "TLS: the broker's certificate is refused:"
SAID = {
    "plain text to TLS": "the listener wants TLS: set the property security.protocol to SSL or SASL_SSL",
    "TLS to plain text": "the listener has no TLS: take the port of a listener with TLS, or set the property",
    "no authority": f"{REFUSED} unable to get local issuer certificate; name the authority that signed it: ssl.trust",
    "self-signed": f"{REFUSED} self-signed certificate; name the authority that signed it: ssl.truststore.type=PEM",
    "other name": f"{REFUSED} Hostname mismatch, certificate is not valid for 'localhost'; connect to a name that",
    "expired": f"{REFUSED} certificate has expired; it has to be renewed at the broker",
}
"""What is wrong, and how its message reads."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def authority(folder: Path) -> trustme.CA:
    made = trustme.CA()
    made.cert_pem.write_to_path(str(folder / "authority.pem"))
    return made


@pytest.fixture(scope="module")
def servers(folder: Path, authority: trustme.CA) -> Iterator[Mapping[str, str]]:
    """The address of a broker for each mistake."""
    now = dt.datetime.now(dt.UTC)
    ended = authority.issue_cert(
        "localhost", not_before=now - dt.timedelta(days=2), not_after=now - dt.timedelta(days=1)
    )
    alone = trustme.CA()
    pems = {
        "sound": [authority.issue_cert("localhost").private_key_and_cert_chain_pem],
        "other name": [authority.issue_cert("kafka.example.org").private_key_and_cert_chain_pem],
        "expired": [ended.private_key_and_cert_chain_pem],
        "self-signed": [alone.private_key_pem, alone.cert_pem],
    }
    with ExitStack() as brokers:
        addresses = {"TLS to plain text": brokers.enter_context(ThreadedBroker()).bootstrap_servers}
        for name, pem in pems.items():
            store = folder / f"{name}.pem"
            store.write_bytes(b"".join(each.bytes() for each in pem))
            properties = {
                "listeners": "SSL://localhost:0", "inter.broker.listener.name": "SSL",
                "ssl.keystore.type": "PEM", "ssl.keystore.location": str(store),
            }  # fmt: skip
            addresses[name] = brokers.enter_context(ThreadedBroker(properties)).bootstrap_servers
        yield addresses | dict.fromkeys(("plain text to TLS", "no authority"), addresses["sound"])


@pytest.mark.parametrize("words", ["topics list", "plan DOCUMENT"])
@pytest.mark.parametrize("mistake", SAID)
def test_the_message_of_a_mistake_comes_at_once(
    mistake: str, words: str, servers: Mapping[str, str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, client = folder / "cluster.yaml", folder / "client.properties"
    document.write_text("topics: {orders: {}}")
    lines = [] if mistake == "plain text to TLS" else ["security.protocol=SSL"]
    if mistake not in {"plain text to TLS", "no authority"}:
        lines += ["ssl.truststore.type=PEM", f"ssl.truststore.location={folder}/authority.pem"]
    client.write_text("\n".join(lines))
    given = words.replace("DOCUMENT", str(document)).split()
    begun = time.monotonic()
    code = main([*given, "-b", servers[mistake], "--command-config", str(client)])
    assert code == ExitCode.FAILED
    assert time.monotonic() - begun < 5, "no attempt until the timeout of 30 s"
    said = capsys.readouterr().err
    assert SAID[mistake] in said
    assert said.count("\n") == 1
    assert "Tls(" not in said
