"""``kafkawire doctor``: what it finds in front of embedded brokers with plain listeners, TLS and SASL."""

from __future__ import annotations

import datetime as dt
import json
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

SECRET = "hunter2"
JAAS = "org.apache.kafka.common.security"
STEPS = ["settings", "name", "tcp", "tls", "certificate", "sasl", "login", "api versions", "metadata", "advertised"]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


@pytest.fixture(scope="module")
def secure(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreadedBroker]:
    """A broker with TLS and SASL, whose certificate is for localhost."""
    key = tmp_path_factory.mktemp("key") / "server.pem"
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(str(key))
    with ThreadedBroker(
        {
            "listeners": "SASL_SSL://localhost:0",
            "inter.broker.listener.name": "SASL_SSL",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(key),
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl_ssl.plain.sasl.jaas.config": (
                f'{JAAS}.plain.PlainLoginModule required user_alice="{SECRET}";'
            ),
        }
    ) as broker:
        yield broker


def client_file(tmp_path: Path, servers: str, properties: Mapping[str, str]) -> str:
    file = tmp_path / "client.properties"
    lines = {"bootstrap.servers": servers, **properties}
    file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    return str(file)


def login(password: str = SECRET, mechanism: str = "PLAIN") -> dict[str, str]:
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    return {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f'{JAAS}.{module} required username="alice" password="{password}";',
    }


def trusting(ca: Path) -> dict[str, str]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(ca)}


def checked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, dict[str, str]]]:
    """The exit code, and the last row of each step."""
    code = main(["doctor", *words, "-o", "json", "--timeout", "5"])
    printed = capsys.readouterr()
    assert SECRET not in printed.out + printed.err
    return code, {row["step"]: row for row in json.loads(printed.out)}


def statuses(rows: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {step: row["status"] for step, row in rows.items()}


def test_a_broker_without_tls_and_login_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadedBroker() as broker:
        code, rows = checked(capsys, "-b", broker.bootstrap_servers)
    assert code == ExitCode.DONE
    assert [*rows] == STEPS
    assert {step for step, status in statuses(rows).items() if status == "skipped"} == {
        "tls",
        "certificate",
        "sasl",
        "login",
    }
    assert {*statuses(rows).values()} == {"ok", "skipped"}


def test_a_broker_with_tls_and_a_login_is_well(
    secure: ThreadedBroker, ca: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    properties = client_file(tmp_path, secure.bootstrap_servers, {**login(), **trusting(ca)})
    code, rows = checked(capsys, "--command-config", properties)
    assert (code, {*statuses(rows).values()}) == (ExitCode.DONE, {"ok"})
    assert "TLSv1.3" in rows["tls"]["detail"]
    assert "for localhost; issued by" in rows["certificate"]["detail"]
    assert "PLAIN is used" in rows["sasl"]["detail"]


def closed_port() -> int:
    """A port without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


class Mistake(NamedTuple):
    """A mistake in the settings.

    Attributes:
        properties: of the client.
        trusts: whether the authority of the broker is among them too.
        step: the one that fails.
        detail, advice: of it.
    """

    properties: Mapping[str, str]
    trusts: bool
    step: str
    detail: str
    advice: str


MISTAKES = {
    "plain text": Mistake({}, False, "tls", "wants TLS", "security.protocol to SSL or SASL_SSL"),
    "unknown authority": Mistake(
        login(), False, "certificate", "the store of this system does not have it", "ssl.truststore.location"
    ),
    "no login": Mistake(
        {"security.protocol": "SSL"}, True, "sasl", "the listener has PLAIN", "sasl.mechanism and a login"
    ),
    "mechanism": Mistake(login(mechanism="SCRAM-SHA-256"), True, "sasl", "not SCRAM-SHA-256", "change sasl.mechanism"),
    "wrong password": Mistake(login("wrong"), True, "login", "SASL_AUTHENTICATION_FAILED", "correct the user name"),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_the_settings_fails_its_step(
    mistake: Mistake, secure: ThreadedBroker, ca: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    properties = {**mistake.properties, **(trusting(ca) if mistake.trusts else {})}
    code, rows = checked(capsys, "--command-config", client_file(tmp_path, secure.bootstrap_servers, properties))
    assert code == ExitCode.FAILED
    assert [name for name, status in statuses(rows).items() if status == "failed"] == [mistake.step]
    assert mistake.detail in rows[mistake.step]["detail"]
    assert mistake.advice in rows[mistake.step]["advice"]
    assert rows["metadata"]["status"] == "skipped"


def test_a_certificate_for_another_name_is_shown(
    secure: ThreadedBroker, ca: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = secure.bootstrap_servers.rpartition(":")[2]
    properties = client_file(tmp_path, f"127.0.0.1:{port}", {**login(), **trusting(ca)})
    _, rows = checked(capsys, "--command-config", properties)
    assert "it is not for 127.0.0.1" in rows["certificate"]["detail"]
    assert "ssl.endpoint.identification.algorithm" in rows["certificate"]["advice"]


def test_a_certificate_that_expires_soon_is_a_warning(
    authority: trustme.CA, ca: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "server.pem"
    soon = dt.datetime.now(dt.UTC) + dt.timedelta(days=3)
    authority.issue_cert("localhost", not_after=soon).private_key_and_cert_chain_pem.write_to_path(str(key))
    settings = {
        "listeners": "SSL://localhost:0",
        "inter.broker.listener.name": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(key),
    }
    with ThreadedBroker(settings) as broker:
        properties = client_file(tmp_path, broker.bootstrap_servers, {"security.protocol": "SSL", **trusting(ca)})
        code, rows = checked(capsys, "--command-config", properties)
    assert (code, rows["certificate"]["status"]) == (ExitCode.DONE, "warning")
    assert "in 2 days" in rows["certificate"]["detail"]


def test_tls_to_a_listener_without_it(tmp_path: Path, ca: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadedBroker() as broker:
        properties = client_file(tmp_path, broker.bootstrap_servers, {"security.protocol": "SSL", **trusting(ca)})
        code, rows = checked(capsys, "--command-config", properties)
    assert (code, rows["tls"]["status"]) == (ExitCode.FAILED, "failed")
    assert rows["tls"]["detail"] == "the listener has no TLS"
    assert "listener with TLS" in rows["tls"]["advice"]


def test_an_advertised_address_that_leads_nowhere_fails(capsys: pytest.CaptureFixture[str]) -> None:
    port = closed_port()
    settings = {
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "advertised.listeners": "PLAINTEXT://broker-7.invalid:9092",
    }
    with ThreadedBroker(settings):
        code, rows = checked(capsys, "-b", f"127.0.0.1:{port}")
    row = rows["advertised"]
    assert (code, row["status"], row["target"]) == (ExitCode.FAILED, "failed", "node 1")
    assert "broker-7.invalid:9092" in row["detail"]
    assert "advertised.listeners of node 1" in row["advice"]


def test_a_port_without_a_listener_and_a_name_without_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    code, rows = checked(capsys, "-b", f"127.0.0.1:{closed_port()}")
    assert (code, rows["tcp"]["status"]) == (ExitCode.FAILED, "failed")
    assert "whether the broker runs" in rows["tcp"]["advice"]
    code, rows = checked(capsys, "-b", "nowhere.invalid:9092")
    assert (code, rows["name"]["status"], rows["tcp"]["detail"]) == (ExitCode.FAILED, "failed", "name failed")


def test_settings_that_cannot_be_used_fail_first(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config_file.parent.mkdir(parents=True)
    config_file.write_text("[contexts.a]\n")
    code, rows = checked(capsys, "--context", "a")
    assert (code, [*rows], rows["settings"]["status"]) == (ExitCode.FAILED, ["settings"], "failed")
    assert rows["settings"]["target"] == "--context a"
