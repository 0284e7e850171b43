"""The programs in ``examples/`` run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.apache_kafka.broker import Broker

from kafkawire.admin import BlockingAdminClient, NewTopic, TopicPartition
from kafkawire.broker import ThreadedBroker

ARGUMENTS = {
    "read_metadata_log.py": ["tests/fixtures/kafka-4.3.1/logs/__cluster_metadata-0/00000000000000000000.log"],
    "write_and_read_records.py": [],
}
NEED_A_BROKER = {"ask_a_broker.py", "lag_of_groups.py"}
LAST_LINE = {
    "read_metadata_log.py": '"key": "connection_creation_rate"',
    "write_and_read_records.py": "101 records, the last one: Record(offset=100",
}


def output(root: Path, name: str, arguments: list[str]) -> list[str]:
    command = [sys.executable, f"examples/{name}", *arguments]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


def test_every_example_is_tested(root: Path) -> None:
    assert {path.name for path in (root / "examples").glob("*.py")} == ARGUMENTS.keys() | NEED_A_BROKER


@pytest.mark.parametrize("name", ARGUMENTS)
def test_example_runs(root: Path, name: str) -> None:
    assert LAST_LINE[name] in output(root, name, ARGUMENTS[name])[-1]


def test_example_prints_lags(root: Path) -> None:
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("t", 1)]).all()
        admin.alter_consumer_group_offsets("g", {TopicPartition("t", 0): 0}).all()
        assert output(root, "lag_of_groups.py", [broker.bootstrap_servers]) == ["g (classic, Empty): 0"]


@pytest.mark.interop
def test_example_asks_a_broker(root: Path, kafka_broker: Broker) -> None:
    lines = output(root, "ask_a_broker.py", [f"{kafka_broker.host}:{kafka_broker.port}"])
    assert lines[0].endswith(" APIs")
    assert lines[1] == f"broker {kafka_broker.node_id} at {kafka_broker.host}:{kafka_broker.port}"
