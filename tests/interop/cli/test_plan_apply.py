"""Real brokers: ``plan`` and ``apply`` bring them to a declared state of every kind; a saved plan notices drift."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.apache_kafka.broker import AUTHORIZER, Broker, running_broker
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.releases import broker_releases

from kafkawire.admin import BlockingAdminClient, ClientQuotaAlteration, ClientQuotaEntity
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

pytestmark = [pytest.mark.interop, pytest.mark.extended]

DOCUMENT = """
topics:
  orders: {partitions: 3, configs: {retention.ms: 604800000}}
configs:
  brokers:
    default: {log.retention.ms: 86400000}
acls:
  - {principal: "User:billing", topic: orders, operation: read}
  - {principal: "User:etl", topic: orders, operation: write, permission: deny}
quotas:
  - {user: billing, producer_byte_rate: 1048576}
users:
  billing: {SCRAM-SHA-512: {password: {env: BILLING_PASSWORD}}}
"""
CHANGED = """
prune: {kinds: [acls, quotas, users], principal: ["User:billing", "User:etl"]}
topics:
  orders: {partitions: 5, configs: {retention.ms: null, segment.ms: 3600000}}
acls:
  - {principal: "User:billing", topic: orders, operation: write}
"""


@pytest.fixture(scope="module", params=broker_releases())
def secured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder = tmp_path_factory.mktemp(f"plan-{request.param}")
    with running_broker(request.param, folder, properties=AUTHORIZER) as running:
        yield running


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BILLING_PASSWORD", "s3cret")


def run(broker: Broker, *words: str) -> int:
    return main([*words, "-b", broker.address])


def is_reached(broker: Broker, document: str, *words: str) -> bool:
    """Whether the next plan is empty, as soon as the broker has applied its log."""
    plan = ("plan", document, *words, "--exit-code")
    return eventually(lambda: run(broker, *plan), lambda code: code == ExitCode.DONE) == ExitCode.DONE


def test_a_cluster_is_brought_to_a_declared_state_and_to_the_next_one(
    secured: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("first.yaml").write_text(DOCUMENT)
    Path("second.yaml").write_text(CHANGED)
    assert run(secured, "apply", "first.yaml", "--yes") == ExitCode.DONE, capsys.readouterr()
    assert is_reached(secured, "first.yaml")
    assert run(secured, "apply", "second.yaml", "--prune", "--yes") == ExitCode.DONE, capsys.readouterr()
    assert is_reached(secured, "second.yaml", "--prune")


def test_brokers_refuse_in_the_plan_what_they_would_refuse(secured: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    Path("wrong.yaml").write_text("topics: {wide: {partitions: 1, replication_factor: 3}}")
    assert run(secured, "plan", "wrong.yaml") == ExitCode.DONE
    assert "fails: INVALID_REPLICATION_FACTOR" in capsys.readouterr().out


def test_a_saved_plan_is_refused_after_a_change(secured: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    Path("quota.yaml").write_text("quotas: [{user: drifting, producer_byte_rate: 5}]")
    assert run(secured, "plan", "quota.yaml", "--out", "saved.plan") == ExitCode.DONE
    with BlockingAdminClient(secured.address) as admin:
        drifting = ClientQuotaEntity(user="drifting")
        admin.alter_client_quotas([ClientQuotaAlteration(drifting, {"producer_byte_rate": 7})]).all()
        eventually(lambda: admin.describe_client_quotas().union(), lambda found: drifting in found)
    capsys.readouterr()
    assert run(secured, "apply", "saved.plan", "--yes") == ExitCode.FAILED
    assert "planned from not set, now 7" in capsys.readouterr().err
