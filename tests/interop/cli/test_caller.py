"""Real brokers: who calls with a certificate or a token, from what a broker says of its listeners."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.releases import broker_releases
from tests.apache_kafka.secure_broker import CLIENT_NAME, SecureBroker

from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@pytest.fixture(params=broker_releases())
def secure(request: pytest.FixtureRequest, secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    return secure_kafka_brokers(request.param)


def test_a_certificate_says_who_calls(
    secure: SecureBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    properties = secure.java_mutual_tls()
    (tmp_path / "client.properties").write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    (tmp_path / "cluster.yaml").write_text('acls: [{principal: "User:x", topic: x, operation: read}]')
    words = ["-b", f"localhost:{secure.mutual_tls_port}", "--command-config", "client.properties"]
    assert main(["plan", "cluster.yaml", *words]) == ExitCode.DONE
    assert f"you call as User:{CLIENT_NAME}, by the certificate" in capsys.readouterr().err
