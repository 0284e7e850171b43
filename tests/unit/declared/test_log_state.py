"""A cluster's own log has the state that the cluster has, now and at each earlier time."""

from __future__ import annotations

import json
import shutil
import time
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.embedded.filled_state import BILLING, PROPERTIES, fill
from tests.made.logs import METADATA_LOG

from kafkawire.admin import BlockingAdminClient, ConfigChange, ConfigResource, NewPartitions
from kafkawire.broker import ThreadedBroker
from kafkawire.declared.log_state import read_log_state
from kafkawire.declared.reading import read_cluster
from kafkawire.declared.state import ClusterState
from kafkawire.logs import BeforeKnowledgeError, LogReadError, NoLogsError

REAL = Path("tests/fixtures/kafka-4.3.1")


def state(admin: BlockingAdminClient) -> ClusterState:
    return admin.run(read_cluster).state


@pytest.mark.parametrize("snapshots", [{}, {"metadata.log.max.record.bytes.between.snapshots": "1000"}])
def test_the_log_has_what_the_cluster_has(tmp_path: Path, snapshots: dict[str, str]) -> None:
    expected = ClusterState()
    for part in range(2):  # snapshots take the place of the segments of an earlier life
        with (
            ThreadedBroker({**PROPERTIES, **snapshots}, data_dir=tmp_path) as broker,
            BlockingAdminClient(broker.bootstrap_servers) as admin,
        ):
            if part == 0:
                fill(admin)
            admin.create_partitions({"payments": NewPartitions(5 + part)}).all()
            expected = state(admin)
    assert read_log_state(tmp_path) == expected
    assert read_log_state(tmp_path / METADATA_LOG) == expected
    assert expected.topics["payments"].partitions == 6
    assert not snapshots or [*(tmp_path / METADATA_LOG).glob("*-*.checkpoint")]


def test_the_state_at_an_earlier_time_is_what_the_cluster_had_then(tmp_path: Path) -> None:
    times, states = [], []
    with (
        ThreadedBroker(PROPERTIES, data_dir=tmp_path) as broker,
        BlockingAdminClient(broker.bootstrap_servers) as admin,
    ):

        def note() -> None:
            states.append(state(admin))
            times.append(datetime.now(UTC))
            until = time.monotonic() + 0.002
            while time.monotonic() < until:  # the next record has a later millisecond
                pass

        note()
        fill(admin)
        note()
        admin.create_partitions({"orders": NewPartitions(4)}).all()
        orders = ConfigResource.topic("orders")
        admin.incremental_alter_configs(
            {orders: [ConfigChange.delete("retention.ms"), ConfigChange.set("cleanup.policy", "compact")]}
        ).all()
        note()
        admin.delete_acls([BILLING[0].to_filter()]).all()
        admin.delete_topics(["orders"]).all()
        note()
    assert [read_log_state(tmp_path, when) for when in times] == states
    assert len({len(each.topics) for each in states}) > 1


def test_the_real_log_has_what_javas_admin_client_has_described() -> None:
    described = json.loads((REAL / "end-state.json").read_text())
    found = read_log_state(REAL / "logs", datetime.fromtimestamp(described["taken_at_ms"] / 1000, UTC))
    topics: dict[str, Any] = {each["name"]: each for each in described["topics"]}
    assert set(found.topics) == set(topics)
    configs: dict[str, dict[str, str]] = defaultdict(dict)
    for each in described["topic_configs"]:
        configs[each["topic"]][each["name"]] = each["value"]
    for name, topic in found.topics.items():
        assert topic.assignments == {each["partition"]: tuple(each["replicas"]) for each in topics[name]["partitions"]}
        assert topic.is_internal == topics[name]["internal"]
        assert topic.configs == configs[name]
    acls = {
        (
            each.resource_type.name,
            each.resource_name,
            each.pattern_type.name,
            each.principal,
            each.host,
            each.operation.name,
            each.permission_type.name,
        )
        for each in found.acls
    }
    assert acls == {tuple(each.values()) for each in described["acls"]}
    quotas = {frozenset(entity.items()): values for entity, values in found.quotas.items()}
    assert quotas == {frozenset(each["entity"].items()): each["values"] for each in described["client_quotas"]}
    credentials = {
        (user, str(mechanism).replace("_", "-")): each.iterations
        for (user, mechanism), each in found.credentials.items()
    }
    assert credentials == {
        (each["user"], one["mechanism"]): one["iterations"]
        for each in described["scram_users"]
        for one in each["credentials"]
    }
    others = {
        (resource.resource_type.name, resource.name, name): value
        for resource, values in found.configs.items()
        for name, value in values.items()
    }
    assert others == {
        (each["resource_type"], each["resource_name"], each["name"]): each["value"]
        for each in described["other_configs"]
        if not each["resource_name"] or "DEFAULT" not in each["source"]  # a broker shows what all brokers have too
    }


def test_a_time_before_the_log_is_refused() -> None:
    with pytest.raises(BeforeKnowledgeError, match="is unknown"):
        read_log_state(REAL / "logs", datetime(2001, 1, 1, tzinfo=UTC))


def test_a_folder_without_metadata_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoLogsError, match="no segment"):
        read_log_state(tmp_path)
    with pytest.raises(NoLogsError, match="give the folder of the former"):
        read_log_state(REAL / "logs" / "__consumer_offsets-0")


def test_several_logs_are_refused(tmp_path: Path) -> None:
    for node in ("a", "b"):
        with ThreadedBroker(data_dir=tmp_path / node):
            pass
    with pytest.raises(NoLogsError, match=r"several metadata logs; give one of them: .*a/__cluster.*b/__cluster"):
        read_log_state(tmp_path)


def test_the_file_that_kafka_keeps_beside_the_log_is_no_other_log(tmp_path: Path) -> None:
    real = REAL / "logs" / METADATA_LOG
    shutil.copytree(real, tmp_path / METADATA_LOG)
    shutil.copy(real / "00000000000000000000-0000000000.checkpoint", tmp_path / "bootstrap.checkpoint")
    assert read_log_state(tmp_path) == read_log_state(real)


def test_a_damaged_log_is_refused(tmp_path: Path) -> None:
    with (
        ThreadedBroker(PROPERTIES, data_dir=tmp_path) as broker,
        BlockingAdminClient(broker.bootstrap_servers) as admin,
    ):
        fill(admin)
    (segment,) = (tmp_path / METADATA_LOG).glob("*.log")
    damaged = bytearray(segment.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    segment.write_bytes(damaged)
    with pytest.raises(LogReadError, match="offset"):
        read_log_state(tmp_path)
