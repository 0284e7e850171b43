"""The command of KIP-248 at real brokers, which lack the APIs of the proposal."""

from __future__ import annotations

import pytest
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.java_admin import JavaAdmin
from tests.apache_kafka.releases import broker_releases

from kafkawire.cli.app import main

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@pytest.mark.parametrize("release", broker_releases())
def test_what_was_altered_is_described_at_once(
    release: str, kafka_brokers: Brokers, java_admin: JavaAdmin, capsys: pytest.CaptureFixture[str]
) -> None:
    server = kafka_brokers(release).address
    java_admin.client(server).create_topic("kip-248")

    def rows(*words: str) -> dict[str, list[str]]:
        assert main(["configs", "--bootstrap-servers", server, *words]) == 0
        heading, columns, *lines = capsys.readouterr().out.splitlines()
        assert heading.startswith("CONFIGS FOR ")
        assert columns.split() == ["Name", "Value", "Sensitive", "Read-only", "Default"]
        return {line.split()[0]: line.split()[2:] for line in lines}

    topic = ("--entity-type", "topics", "--entity-name", "kip-248")
    altered = rows("--alter", *topic, "--add-config", "retention.ms=10,cleanup.policy=[compact,delete]")
    assert altered["retention.ms"] == ["10", "false", "false", "false"]
    assert altered["cleanup.policy"] == ["compact,delete", "false", "false", "false"]
    assert altered["flush.ms"] == ["9223372036854775807", "false", "false", "true"]
    assert rows("--alter", *topic, "--delete-config", "retention.ms, cleanup.policy")["retention.ms"][-1] == "true"
    of_java = {config.name: config.value for config in java_admin.client(server).describe_configs("TOPIC", "kip-248")}
    described = rows("--describe", *topic)
    assert {name: cells[0] for name, cells in described.items() if len(cells) == 4} == {
        name: value for name, value in of_java.items() if value
    }

    user = ("--entity-type", "users", "--entity-name", "kip-248", "--entity-type", "clients", "--entity-name", "c")
    assert rows("--alter", *user, "--add-config", "request_percentage=12.5")["request_percentage"][0] == "12.5"
    assert rows("--alter", *user, "--delete-config", "request_percentage")["request_percentage"][-1] == "true"

    broker = ("--entity-type", "brokers", "--entity-default")
    assert rows("--alter", *broker, "--add-config", "log.cleaner.threads=2")["log.cleaner.threads"][0] == "2"
    assert "log.cleaner.threads" not in rows("--alter", *broker, "--delete-config", "log.cleaner.threads")
