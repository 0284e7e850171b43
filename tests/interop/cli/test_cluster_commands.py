"""``kafkawire cluster`` at real brokers."""

from __future__ import annotations

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.eventually import eventually
from tests.interop.cli.conftest import RowsOf

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

pytestmark = [pytest.mark.interop, pytest.mark.extended]


def test_the_cluster_has_a_quorum(broker: Broker, rows: RowsOf) -> None:
    assert main(["cluster", "describe", "-b", broker.address, "-o", "jsonl"]) == ExitCode.DONE
    [cluster] = rows()
    assert (cluster["cluster_id"], cluster["quorum_leader"]) == (broker.cluster_id, broker.node_id)
    assert main(["cluster", "quorum", "-b", broker.address, "-o", "jsonl"]) == ExitCode.DONE
    [leader] = rows()
    assert (leader["node"], leader["status"], leader["lag"]) == (broker.node_id, "leader", 0)


def test_log_directories_have_the_replicas_of_a_topic(broker: Broker, rows: RowsOf) -> None:
    with BlockingAdminClient(broker.address) as client:
        client.create_topics([NewTopic("on-disk", num_partitions=3)]).all()
        client.wait_for_topics(["on-disk"]).all()

    def directories() -> list[dict[str, object]]:
        assert main(["cluster", "log-dirs", "-b", broker.address, "--topic", "on-disk", "-o", "jsonl"]) == ExitCode.DONE
        return rows()

    eventually(directories, lambda found: [each["replicas"] for each in found] == [3])
    words = ["cluster", "log-dirs", "-b", broker.address, "--topic", "on-disk", "--replicas", "-o", "jsonl"]
    assert main(words) == ExitCode.DONE
    assert [replica["partition"] for replica in rows()] == [0, 1, 2]


def test_a_change_of_features_is_validated(broker: Broker, rows: RowsOf) -> None:
    words = ["cluster", "set-features", "-b", broker.address, "metadata.version=999", "--dry-run", "-o", "jsonl"]
    assert main(words) == ExitCode.FAILED
    [row] = rows()
    assert (row["item"], row["status"]) == ("metadata.version", "failed")
