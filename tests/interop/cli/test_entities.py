"""``kafkawire topics``, ``configs``, ``quotas`` and ``users`` at real brokers: one story for each."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.releases import broker_releases, is_at_least
from tests.made.operator_command import Command

from kafkawire.cli.outcome import ExitCode

pytestmark = [pytest.mark.interop, pytest.mark.extended]

BYTES = "producer_byte_rate"


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, kafka_brokers: Brokers) -> Broker:
    return kafka_brokers(request.param)


@pytest.fixture
def name() -> str:
    return f"story-{uuid.uuid4().hex[:8]}"


def test_topics(broker: Broker, name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    topics = Command("topics", broker.address, capsys)
    file = tmp_path / "topics.yaml"
    file.write_text(f"- {{name: {name}-a, partitions: 2, configs: {{retention.ms: 1000}}}}\n- {name}-b\n", "utf-8")
    dry = topics.rows("create", "--from", str(file), "--dry-run")
    assert [row["status"] for row in dry] == ["would be done"] * 2
    assert set(topics.statuses("create", "--from", str(file), "--wait").values()) == {"done"}
    assert topics.text("list", f"{name}-*", "--with-overrides", "-o", "name").split() == [f"{name}-a"]
    [row] = topics.rows("describe", f"{name}-a")
    assert [each["partition"] for each in row["partitions"]] == [0, 1]
    assert {"name": "retention.ms", "value": "1000", "source": "DYNAMIC_TOPIC_CONFIG"} in row["configs"]
    words = ["alter", f"{name}-*", "--partitions", "3", "--set", "segment.ms=5000", "--delete", "retention.ms"]
    assert {row["status"] for row in topics.rows(*words)} == {"done"}
    topics.rows("alter", f"{name}-a", "--partitions", "2", code=ExitCode.FAILED)
    assert topics.rows("list", f"{name}-a", "--under-replicated", "--unavailable", "--under-min-isr") == []
    topics.rows("list", f"{name}-c", code=ExitCode.FAILED)
    assert "did you mean" in topics.err
    statuses = topics.statuses("delete", f"{name}-*", f"{name}-c", "--yes", code=ExitCode.SOME_FAILED)
    assert list(statuses.values()) == ["done", "done", "failed"]


def test_configs(broker: Broker, name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    Command("topics", broker.address, capsys).text("create", name, "--wait")
    configs = Command("configs", broker.address, capsys)
    [row] = configs.rows("set", "retention.ms=1000", "--topic", name, "--dry-run")
    assert row["reason"] == "retention.ms 604800000 → 1000"
    configs.text("set", "retention.ms=1000", "--topic", name)
    configs.text("append", "cleanup.policy=compact", "--topic", name)
    rows = configs.rows("describe", "--topic", name)
    assert {row["config"]: row["value"] for row in rows} == {
        "cleanup.policy": "delete,compact",
        "retention.ms": "1000",
    }
    [row] = configs.rows("delete", "retention.ms", "--topic", name, "--dry-run")
    assert row["reason"] == "retention.ms 1000 → its default"
    file = tmp_path / "configs.json"
    items = [
        {"name": name, "configs": {"retention.ms": None}},
        {"type": "client-metrics", "name": name, "configs": {"interval.ms": 1000}},
        {"type": "broker", "name": "", "configs": {"log.cleaner.threads": 2}},
    ]
    file.write_text(json.dumps(items), "utf-8")
    assert list(configs.statuses("set", "--from", str(file)).values()) == ["done"] * 3
    assert len(configs.rows("describe", "--client-metrics", name, "--synonyms")) == 1
    configs.text("delete", "log.cleaner.threads", "--broker-default")
    configs.text("delete", "interval.ms", "--client-metrics", name)
    if is_at_least(broker.release, "4.1"):
        logger = next(row["config"] for row in configs.rows("describe", "--broker-logger", "*", "--all"))
        configs.text("set", f"{logger}=ERROR", "--broker-logger", "*")
        levels = configs.rows("describe", logger, "--broker-logger", "*")
        assert [row["value"] for row in levels] == ["ERROR"]
    configs.rows("set", "retention.ms=x", "--topic", name, code=ExitCode.FAILED)


def test_quotas(broker: Broker, name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    quotas = Command("quotas", broker.address, capsys)
    users = tmp_path / "users"
    users.write_text("".join(f"{name}-{number}\n" for number in range(100)), "utf-8")
    assert set(quotas.statuses("set", "--from", str(users), f"{BYTES}=1000").values()) == {"done"}
    one = f"{name}-7"
    quotas.text("set", "--user", one, "--client-id-default", f"{BYTES}=5", "request_percentage=12.5")
    assert len(quotas.rows("list", "--user", one)) == 2
    rows = {row["key"]: row for row in quotas.rows("effective", "--user", one, "--client-id", "app")}
    assert (rows[BYTES]["value"], rows[BYTES]["set_for"]) == (5.0, f"user {one}, default client-id")
    saved = tmp_path / "saved.yaml"
    saved.write_text(quotas.text("describe", "--from", str(users), "-o", "yaml"), "utf-8")
    assert len(quotas.statuses("delete", "--from", str(saved), "--yes")) == 100
    assert set(quotas.statuses("set", "--from", str(saved)).values()) == {"done"}
    [row] = quotas.rows("set", "--user", one, f"{BYTES}=0.5", "--dry-run", code=ExitCode.FAILED)
    assert row["error"] == "INVALID_REQUEST"
    quotas.text("delete", "--from", str(saved), "--yes")
    quotas.text("delete", "--user", one, "--client-id-default", "--yes")
    assert quotas.rows("list", "--user", one) == []


def test_users(broker: Broker, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "correct horse")
    users = Command("users", broker.address, capsys)
    both = ["--mechanism", "SCRAM-SHA-256", "--mechanism", "SCRAM-SHA-512"]
    assert set(users.statuses("set", name, "--password-env", "SECRET", *both).values()) == {"done"}
    [row] = users.rows("set", f"{name}-b", "--generate", "--iterations", "8192")
    assert len(row["password"]) == 32
    [row] = users.rows("describe", name, f"{name}-c", code=ExitCode.SOME_FAILED)
    assert row["iterations"] == {"SCRAM-SHA-256": 4096, "SCRAM-SHA-512": 4096}
    assert {name, f"{name}-b"} <= {row["user"] for row in users.rows("list")}
    assert list(users.statuses("delete", name, f"{name}-b", "--yes").values()) == ["done"] * 3
