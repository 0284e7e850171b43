"""``kafkawire tokens`` at real brokers: a token is created, used for a login, renewed and expired."""

from __future__ import annotations

import stat
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.releases import broker_releases
from tests.apache_kafka.secure_broker import PASSWORDS, SUPER_USER, SecureBroker
from tests.interop.cli.conftest import RowsOf

from kafkawire.admin import BlockingAdminClient, ScramCredentials
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode
from kafkawire.wire.kafka_errors import KafkaError

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@pytest.fixture(params=broker_releases())
def secure_broker(request: pytest.FixtureRequest, secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    return secure_kafka_brokers(request.param)


@pytest.fixture
def login(secure_broker: SecureBroker, tmp_path: Path) -> list[str]:
    properties = tmp_path / "client.properties"
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    properties.write_text(
        f"bootstrap.servers={secure_broker.broker.host}:{secure_broker.sasl_plaintext_port}\n"
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\n"
        f'sasl.jaas.config={module} required username="{SUPER_USER}" password="{PASSWORDS[SUPER_USER]}";\n'
    )
    return ["--command-config", str(properties)]


def test_a_token_is_created_used_renewed_and_expired(
    secure_broker: SecureBroker,
    login: list[str],
    tmp_path: Path,
    rows: RowsOf,
    capsys: pytest.CaptureFixture[str],
) -> None:
    secret = tmp_path / "hmac"
    create = ["tokens", "create", "--hmac-out", str(secret), "--max-lifetime", "1d", *login, "-o", "jsonl"]
    assert main(create) == ExitCode.DONE
    [created] = rows()
    name = str(created["token_id"])
    assert created["owner"] == f"User:{SUPER_USER}"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    hmac = secret.read_text().strip()

    def lists_itself() -> bool:
        credentials = ScramCredentials(name, hmac, "SCRAM-SHA-512", is_delegation_token=True)
        address = f"{secure_broker.broker.host}:{secure_broker.sasl_plaintext_port}"
        with BlockingAdminClient(address, credentials=credentials) as client:
            try:
                return bool(client.describe_cluster().nodes)
            except KafkaError:
                return False

    assert eventually(lists_itself, bool)
    assert main(create) == ExitCode.USAGE
    assert f"{secret} exists" in capsys.readouterr().err

    def renewed() -> list[dict[str, object]]:
        main(["tokens", "renew", name, "--for", "1h", *login, "-o", "jsonl"])
        return rows()

    eventually(renewed, lambda found: found[0]["status"] == "done")
    assert main(["tokens", "list", *login, "-o", "jsonl"]) == ExitCode.DONE
    output = capsys.readouterr().out
    assert name in output
    assert hmac not in output
    assert main(["tokens", "expire", name, "nothing", "--yes", *login, "-o", "jsonl"]) == ExitCode.SOME_FAILED
    assert [row["status"] for row in rows()] == ["done", "failed"]


@pytest.mark.parametrize("period", [[], ["--for", "1h"], ["--for", "2d"], ["--for", "9d"]], ids=" ".join)
def test_a_dry_run_says_until_when_brokers_then_renew_a_token(
    period: list[str], login: list[str], tmp_path: Path, rows: RowsOf
) -> None:
    created_for = ["--hmac-out", str(tmp_path / "hmac"), "--max-lifetime", "3d"]
    assert main(["tokens", "create", *created_for, *login, "-o", "jsonl"]) == ExitCode.DONE
    [created] = rows()
    name = str(created["token_id"])

    def renewed(*options: str) -> datetime:
        def row() -> dict[str, object]:
            main(["tokens", "renew", name, *period, *options, *login, "-o", "jsonl"])
            return rows()[0]

        found = eventually(row, lambda row: row["status"] != "failed")
        return datetime.fromisoformat(str(found["reason"]).rpartition(" ")[2])

    predicted = renewed("--dry-run")
    assert abs(renewed() - predicted) < timedelta(seconds=20)
    assert main(["tokens", "expire", name, "--yes", *login]) == ExitCode.DONE
