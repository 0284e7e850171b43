"""Certificates of listeners, made by openssl: the one that is wrong is named, with what to do."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.apache_kafka.certificates import Certificate, CertificateAuthority
from tests.unit.cli.doctor.conftest import Doctor

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.doctor.certificates import Trust, days_left, findings, is_for
from kafkawire.cli.outcome import ExitCode

HERE = ("DNS:localhost", "IP:127.0.0.1")


class Authorities(NamedTuple):
    """A root that clients trust, and what it signed."""

    root: CertificateAuthority
    issuing: CertificateAuthority
    expired: CertificateAuthority
    other: CertificateAuthority
    folder: Path


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> Authorities:
    folder = tmp_path_factory.mktemp("authorities")
    root = CertificateAuthority(folder, "Corp Root", file="root", days=400)
    return Authorities(
        root,
        CertificateAuthority(folder, "Corp Issuing", file="issuing", parent=root, days=200),
        CertificateAuthority(folder, "Corp Issuing 2024", file="issuing-2024", parent=root, days=-1),
        CertificateAuthority(folder, "Other Root", file="other"),
        folder,
    )


def listener_settings(folder: Path, leaf: Certificate, *issuers: CertificateAuthority) -> dict[str, str]:
    """Those of a broker that sends a certificate, and these after it."""
    store = folder / "server.pem"
    store.write_bytes(leaf.both.read_bytes() + b"".join(each.certificate.read_bytes() for each in issuers))
    return {
        "listeners": "SSL://localhost:0",
        "inter.broker.listener.name": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
    }


def trusting(authority: CertificateAuthority) -> dict[str, str]:
    return {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.certificate),
    }


def test_each_certificate_of_a_whole_chain_has_a_row(authorities: Authorities, tmp_path: Path, doctor: Doctor) -> None:
    leaf = authorities.issuing.issue("broker", hosts=HERE, days=90)
    with ThreadedBroker(listener_settings(tmp_path, leaf, authorities.issuing)) as broker:
        checked = doctor(broker.bootstrap_servers, trusting(authorities.root))
    assert checked.code == ExitCode.DONE
    first, second = checked.of("certificate")
    assert first["detail"].startswith("1 of 2, broker for localhost, 127.0.0.1; issued by Corp Issuing; expires ")
    assert first["detail"].endswith(", in 89 days")
    assert second["detail"].startswith("2 of 2, Corp Issuing; issued by Corp Root; expires ")


def test_a_chain_in_another_order_is_shown_in_that_of_its_issuers(
    authorities: Authorities, tmp_path: Path, doctor: Doctor
) -> None:
    leaf = authorities.issuing.issue("broker", hosts=HERE, days=90, file="shuffled")
    with ThreadedBroker(listener_settings(tmp_path, leaf, authorities.root, authorities.issuing)) as broker:
        checked = doctor(broker.bootstrap_servers, trusting(authorities.root))
    said = [row["detail"].partition(";")[0] for row in checked.of("certificate")]
    assert said == ["1 of 3, broker for localhost, 127.0.0.1", "2 of 3, Corp Issuing", "3 of 3, Corp Root"]


class Mistake(NamedTuple):
    """A listener whose certificate clients refuse.

    Attributes:
        signed_by: the authority of its certificate.
        hosts: of it.
        days: until it expires.
        sends: the authorities whose certificates it sends too.
        failed: the number of the certificate that is wrong.
        detail, advice: of its row.
    """

    signed_by: str
    hosts: tuple[str, ...]
    days: int
    sends: tuple[str, ...]
    failed: int
    detail: str
    advice: str


MISTAKES = {
    "intermediate missing": Mistake(
        "issuing", HERE, 90, (), 2, "2 of 2, Corp Issuing: missing: the listener does not send it", "ssl.keystore"
    ),
    "root not trusted": Mistake(
        "other", HERE, 90, ("other",), 2, "Other Root; self-signed", "add its certificate to ssl.truststore.location"
    ),
    "expired": Mistake("issuing", HERE, -1, ("issuing",), 1, "1 of 2, broker for localhost", "renew it at the broker"),
    "intermediate expired": Mistake(
        "expired", HERE, 90, ("expired",), 2, "2 of 2, Corp Issuing 2024; issued by Corp Root; expired", "renewed"
    ),
    "another name": Mistake(
        "issuing", ("DNS:broker-1.example.com", "DNS:*.prod.example.com"), 90, ("issuing",), 1,
        "it is not for localhost", "connect to broker-1.example.com, or have a certificate issued with localhost",
    ),
    "no name": Mistake(
        "issuing", (), 90, ("issuing",), 1, "it has no subject alternative names, and is not for localhost", "issued"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_the_certificate_that_is_wrong_is_named(
    name: str, authorities: Authorities, tmp_path: Path, doctor: Doctor
) -> None:
    mistake = MISTAKES[name]
    signer: CertificateAuthority = getattr(authorities, mistake.signed_by)
    leaf = signer.issue("broker", hosts=mistake.hosts, days=mistake.days, file=name)
    sent = [getattr(authorities, each) for each in mistake.sends]
    with ThreadedBroker(listener_settings(tmp_path, leaf, *sent)) as broker:
        checked = doctor(broker.bootstrap_servers, trusting(authorities.root))
    assert checked.code == ExitCode.FAILED
    assert checked.of("tls")[0]["detail"].startswith("TLSv1.3")
    rows = checked.of("certificate")
    assert [row["status"] == "failed" for row in rows].index(True) == mistake.failed - 1, rows
    (failed,) = checked.failed
    assert mistake.detail in failed["detail"]
    assert mistake.advice in failed["advice"]
    assert {row["detail"] for row in checked.of("login")} == {"certificate failed"}


def test_a_certificate_that_signed_itself(authorities: Authorities, tmp_path: Path, doctor: Doctor) -> None:
    own = tmp_path / "own.pem"
    own.write_bytes((authorities.folder / "other.key").read_bytes() + authorities.other.certificate.read_bytes())
    settings = listener_settings(tmp_path, Certificate(own, own, own))
    with ThreadedBroker(settings) as broker:
        checked = doctor(
            broker.bootstrap_servers,
            {**trusting(authorities.root), "ssl.endpoint.identification.algorithm": ""},
        )
    (failed,) = checked.failed
    assert failed["detail"].startswith("1 of 1, Other Root; self-signed; expires")
    assert failed["detail"].endswith("ssl.truststore does not have it")
    assert failed["advice"].startswith("if it is yours")


def test_an_authority_with_the_name_of_a_trusted_one_and_another_key(
    authorities: Authorities, tmp_path: Path, doctor: Doctor
) -> None:
    renewed = CertificateAuthority(tmp_path, "Corp Root", file="renewed")
    leaf = renewed.issue("broker", hosts=HERE)
    with ThreadedBroker(listener_settings(tmp_path, leaf)) as broker:
        checked = doctor(broker.bootstrap_servers, trusting(authorities.root))
    (failed,) = checked.failed
    assert "Corp Root: ssl.truststore has another certificate of this name, with another key" in failed["detail"]
    assert "if the authority was renewed, add its certificate" in failed["advice"]


class TlsListener:
    """A listener that sends its alerts as Java does, before it closes the connection; asyncio's does not.

    Args:
        context: with its certificate.
    """

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> str:
        self._thread.start()
        return f"localhost:{self._listening.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listening.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = self._listening.accept()
                with self._context.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False) as connected:
                    self._refuse(connected)

    def _refuse(self, connected: ssl.SSLSocket) -> None:
        connected.settimeout(5)
        with contextlib.suppress(OSError):
            connected.do_handshake()
        with contextlib.suppress(OSError):
            connected.shutdown(socket.SHUT_WR)
            while connected.recv(1 << 16):
                pass


def serving(own: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own.certificate, own.key)
    return context


def test_a_listener_that_wants_a_certificate_of_the_client(authorities: Authorities, doctor: Doctor) -> None:
    context = serving(authorities.root.issue("server", hosts=HERE, days=90))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authorities.other.certificate)
    mine = authorities.root.issue("client")
    given = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(mine.both)}
    with TlsListener(context) as address:
        without = doctor(address, trusting(authorities.root))
        untrusted = doctor(address, {**trusting(authorities.root), **given})
    (failed,) = without.failed
    assert (failed["step"], failed["detail"]) == ("tls", "TLS: TLSV13_ALERT_CERTIFICATE_REQUIRED")
    assert failed["advice"].startswith("the broker wants a certificate of the client: set ssl.keystore.type=PEM")
    (failed,) = untrusted.failed
    assert (failed["step"], failed["detail"]) == ("tls", "TLS: TLSV1_ALERT_UNKNOWN_CA")
    assert failed["advice"] == "the broker does not trust the authority of the client's certificate"


def test_a_listener_with_other_versions_of_tls(authorities: Authorities, doctor: Doctor) -> None:
    context = serving(authorities.root.issue("server", hosts=HERE, days=90, file="old"))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with TlsListener(context) as address:
        checked = doctor(address, {**trusting(authorities.root), "ssl.enabled.protocols": "TLSv1.3"})
    (failed,) = checked.failed
    assert failed["advice"] == "the broker has no version of TLS in common with the client"


def certificate(subject: str, issuer: str, *names: tuple[str, str]) -> dict[str, object]:
    return {
        "subject": ((("commonName", subject),),),
        "issuer": ((("commonName", issuer),),),
        "subjectAltName": names,
        "notBefore": "Jan  1 00:00:00 2026 GMT",
        "notAfter": "Jan  1 00:00:00 2050 GMT",
    }


NAMES = {
    ("DNS", "a.example.com"): {"a.example.com": True, "A.Example.com.": True, "b.example.com": False},
    ("DNS", "*.example.com"): {"a.example.com": True, "a.b.example.com": False, "example.com": False},
    ("IP Address", "127.0.0.1"): {"127.0.0.1": True, "127.0.0.2": False, "localhost": False},
    ("IP Address", "0:0:0:0:0:0:0:1"): {"::1": True, "::2": False},
    ("email", "a@example.com"): {"a@example.com": False},
}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_compared_as_tls_does(name: tuple[str, str]) -> None:
    for host, expected in NAMES[name].items():
        assert is_for(certificate("x", "y", name), host) is expected, host


def test_without_alternative_names_the_common_name_counts() -> None:
    assert is_for(certificate("localhost", "y"), "localhost")


def test_a_certificate_that_signs_nothing_in_the_place_of_an_authority() -> None:
    trust = Trust((), "the store", "extend it")
    found = findings([certificate("a", "b", ("DNS", "a")), {}], "a", trust)
    assert [each.detail.partition(";")[0] for each in found] == [
        "1 of 2, a for a",
        "2 of 2, it is not one of an authority, and signs nothing",
    ]


def test_a_certificate_that_is_not_valid_yet_is_one_for_clocks() -> None:
    early = {**certificate("a", "b", ("DNS", "a")), "notBefore": "Jan  1 00:00:00 2049 GMT"}
    (found, _) = findings([early], "a", Trust((), "the store", "extend it"))
    assert "valid only from 2049-01-01" in found.detail
    assert found.advice == "compare the clocks of both machines"


def test_a_certificate_without_an_end_has_no_days() -> None:
    assert days_left({}) is None
