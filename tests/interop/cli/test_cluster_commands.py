"""``kafkawire cluster`` at real brokers."""

from __future__ import annotations

import json

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.releases import broker_releases

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, kafka_brokers: Brokers) -> Broker:
    return kafka_brokers(request.param)


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def servers(broker: Broker) -> str:
    return f"{broker.host}:{broker.port}"


def test_the_cluster_has_a_quorum(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "describe", "-b", servers(broker), "-o", "jsonl"]) == ExitCode.DONE
    [cluster] = rows(capsys)
    assert (cluster["cluster_id"], cluster["quorum_leader"]) == (broker.cluster_id, broker.node_id)
    assert main(["cluster", "quorum", "-b", servers(broker), "-o", "jsonl"]) == ExitCode.DONE
    [leader] = rows(capsys)
    assert (leader["node"], leader["status"], leader["lag"]) == (broker.node_id, "leader", 0)


def test_log_directories_have_the_replicas_of_a_topic(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    with BlockingAdminClient(servers(broker)) as client:
        client.create_topics([NewTopic("on-disk", num_partitions=3)]).all()
        client.wait_for_topics(["on-disk"]).all()
    assert main(["cluster", "log-dirs", "-b", servers(broker), "--topic", "on-disk", "-o", "jsonl"]) == ExitCode.DONE
    [directory] = rows(capsys)
    assert directory["replicas"] == 3
    words = ["cluster", "log-dirs", "-b", servers(broker), "--topic", "on-disk", "--replicas", "-o", "jsonl"]
    assert main(words) == ExitCode.DONE
    assert [replica["partition"] for replica in rows(capsys)] == [0, 1, 2]


def test_a_change_of_features_is_validated(broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["cluster", "set-features", "-b", servers(broker), "metadata.version=999", "--dry-run", "-o", "jsonl"]
    assert main(words) == ExitCode.FAILED
    [row] = rows(capsys)
    assert (row["item"], row["status"]) == ("metadata.version", "failed")
