"""Contexts, properties files and the doctor at a real broker with TLS and SASL; secrets stay where they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.apache_kafka.certificates import CertificateAuthority
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.releases import broker_releases
from tests.apache_kafka.secure_broker import MECHANISMS, PASSWORDS, SUPER_USER, USER, SecureBroker, unsecured_token

from kafkawire.cli.access.config_file import CONFIG_VARIABLE
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

pytestmark = [pytest.mark.interop, pytest.mark.extended]

PROGRAM = Path(sys.executable).with_name("kafkawire")
SECRETS = (*PASSWORDS.values(), "not-the-password")


@pytest.fixture(params=broker_releases())
def secure(request: pytest.FixtureRequest, secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    return secure_kafka_brokers(request.param)


def properties_file(tmp_path: Path, properties: Mapping[str, str]) -> str:
    file = tmp_path / "client.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    return str(file)


def test_a_properties_file_of_java_is_taken_as_it_is(
    secure: SecureBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"):
        file = properties_file(tmp_path, secure.java_sasl(mechanism))
        assert main(["cluster", "describe", "--command-config", file, "-o", "json"]) == ExitCode.DONE
        [row] = json.loads(capsys.readouterr().out)
        assert row["cluster_id"] == secure.broker.cluster_id


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_context_logs_in_by_every_mechanism(
    mechanism: str,
    secure: SecureBroker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(CONFIG_VARIABLE, str(tmp_path / "config.toml"))
    monkeypatch.setenv("KAFKA_SECRET", PASSWORDS[SUPER_USER])
    (tmp_path / "token").write_text(unsecured_token(SUPER_USER))
    words = [
        "context",
        "set",
        "prod",
        "-b",
        f"localhost:{secure.sasl_ssl_port}",
        "--production",
        "--mechanism",
        mechanism,
    ]
    for name in ("security.protocol=SASL_SSL", "ssl.truststore.type=PEM"):
        words += ["--property", name]
    words += ["--property", f"ssl.truststore.location={secure.authority.certificate}"]
    if mechanism == "OAUTHBEARER":
        words += ["--secret", f"token=file:{tmp_path / 'token'}"]
    else:
        words += ["--username", SUPER_USER, "--secret", "password=env:KAFKA_SECRET"]
    assert main(words) == ExitCode.DONE
    capsys.readouterr()
    assert main(["doctor", "-o", "jsonl"]) == ExitCode.DONE
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["step"]: row["status"] for row in rows if row["status"] != "ok"} == {"certificate": "warning"}
    assert "in 1 day" in next(row["detail"] for row in rows if row["step"] == "certificate")
    assert any(mechanism in row["detail"] for row in rows if row["step"] == "sasl")
    assert rows[-1]["target"] == f"node {secure.broker.node_id}"


def test_secrets_are_in_no_output_trace_error_or_process_list(secure: SecureBroker, tmp_path: Path) -> None:
    """With the right password and a wrong one, from a properties file and from a command of a context."""
    runs = [
        (secure.java_sasl("SCRAM-SHA-512"), "topics list --verbose"),
        (secure.java_sasl("PLAIN", password="not-the-password"), "topics list --verbose --timeout 5"),
        (secure.java_sasl("SCRAM-SHA-256", USER), "doctor -o json"),
        (secure.java_sasl("PLAIN", USER, password="not-the-password"), "doctor -o wide"),
    ]
    for properties, words in runs:
        shown = shown_by([*words.split(), "--command-config", properties_file(tmp_path, properties)], os.environ)
        assert [secret for secret in SECRETS if secret in shown] == [], words
    config = tmp_path / "config.toml"
    secret_file = tmp_path / "secret"
    secret_file.write_text(PASSWORDS[SUPER_USER])
    config.write_text(
        f"[contexts.prod]\nbootstrap_servers = 'localhost:{secure.sasl_plaintext_port}'\n"
        "[contexts.prod.properties]\n'security.protocol' = 'SASL_PLAINTEXT'\n"
        "[contexts.prod.login]\nmechanism = 'SCRAM-SHA-512'\nusername = 'admin'\n"
        f"password = {{command = ['cat', '{secret_file}']}}\n"
    )
    environment = {**os.environ, CONFIG_VARIABLE: str(config)}
    for words in ("topics list --context prod --verbose", "context show prod", "doctor --context prod"):
        shown = shown_by(words.split(), environment)
        assert [secret for secret in SECRETS if secret in shown] == [], words


def shown_by(words: list[str], environment: Mapping[str, str]) -> str:
    """All that a run prints, and what the list of processes has of it and its children while it runs."""
    listed: list[str] = []
    with subprocess.Popen(
        [PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(environment)
    ) as run:
        ended = threading.Event()

        def list_processes(pattern: str) -> None:
            for file in Path("/proc").glob(f"{pattern}/cmdline"):
                try:
                    listed.append(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
                except OSError:
                    continue

        def look() -> None:
            while not ended.wait(0.01):
                list_processes("[0-9]*")

        list_processes(str(run.pid))  # the shortest command ends before a machine at work has listed all processes

        looking = threading.Thread(target=look)
        looking.start()
        assert run.stdout is not None
        printed = run.stdout.read()
        ended.set()
        looking.join()
    own = [line for line in listed if str(PROGRAM) in line or "cat " in line]
    assert own
    return "\n".join([printed, *own])


def test_a_wrong_password_is_said_at_once(
    secure: SecureBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = properties_file(tmp_path, secure.java_sasl("SCRAM-SHA-512", password="not-the-password"))
    assert main(["topics", "list", "--command-config", file]) == ExitCode.FAILED
    message = capsys.readouterr().err
    assert "Authentication failed during authentication" in message
    assert "Traceback" not in message


def doctor_rows(properties: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    main(["doctor", "--command-config", properties, "-o", "json"])
    rows: list[dict[str, str]] = json.loads(capsys.readouterr().out)
    return rows


def test_doctor_says_that_a_broker_wants_another_certificate_of_the_client(
    secure: SecureBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = secure.java_mutual_tls()
    without = {name: value for name, value in good.items() if "keystore" not in name}
    stranger = CertificateAuthority(tmp_path, "Other Root").issue("stranger")
    untrusted = {**good, "ssl.keystore.location": str(stranger.both)}
    advices = {}
    for name, properties in (("good", good), ("without", without), ("untrusted", untrusted)):
        rows = doctor_rows(properties_file(tmp_path, properties), capsys)
        advices[name] = [(row["step"], row["advice"]) for row in rows if row["status"] == "failed"]
    wants = (
        "the broker refuses the client's certificate, or wants one: set ssl.keystore.type=PEM and ssl.keystore.location"
    )
    refuses = "the broker refuses the client's certificate: it has expired, or the broker does not trust its authority"
    assert advices == {"good": [], "without": [("tls", wants)], "untrusted": [("tls", refuses)]}


def test_doctor_says_whose_listener_a_port_is(secure: SecureBroker, capsys: pytest.CaptureFixture[str]) -> None:
    controller = f"{secure.broker.host}:{secure.broker.controller_port}"
    said = {}
    for words in (("-b", controller), ("--bootstrap-controller", secure.address)):
        assert main(["doctor", *words, "-o", "json"]) == ExitCode.FAILED
        said[words[0]] = [row["detail"] for row in json.loads(capsys.readouterr().out) if row["status"] == "failed"]
    assert said == {
        "-b": ["this is a listener of controllers"],
        "--bootstrap-controller": ["this is a listener of brokers"],
    }
