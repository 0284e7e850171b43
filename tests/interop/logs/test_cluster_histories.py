"""Histories of partitions, nodes, features and tokens in the logs of real nodes equal what Java's Admin describes."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import pytest
from tests.apache_kafka.cluster import Cluster
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.java_admin import JavaAdmin, JavaAdminClient
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import newest_broker_release
from tests.apache_kafka.secure_broker import PASSWORDS, SUPER_USER
from tests.kafka_logs.histories import Row, history, still_open, time
from tests.made.logs import METADATA_LOG

from kafkawire.admin import BlockingAdminClient, NewTopic, TopicPartition
from kafkawire.admin.connection.sasl.credentials import ScramCredentials
from kafkawire.logs import ReadOptions

pytestmark = [pytest.mark.interop, pytest.mark.extended]

TOPIC: Final = "observed"
ASSIGNED: Final = {0: [1, 2], 1: [2, 3], 2: [3, 1]}
ALONE: Final = "alone"
MOVED: Final = TopicPartition(TOPIC, 0)
Facts: TypeAlias = set[tuple[object, ...]]


def check(javas: Callable[[], Facts], ours: Callable[[], Facts]) -> Facts:
    """Java's answer, which the rows equal once the node has written its log."""
    answered, read = eventually(lambda: (javas(), ours()), lambda both: both[0] == both[1], seconds=30)
    assert read == answered
    return answered


def log_of(cluster: Cluster) -> Path:
    return cluster.nodes[1].log_dirs[0] / METADATA_LOG


def now(cluster: Cluster, name: str) -> list[Row]:
    return still_open(history(name, log_of(cluster)))


def partitions_of_java(java: JavaAdminClient) -> Facts:
    names = [listed.name for listed in java.list_topics(internal=True)]
    return {
        (
            *(topic.name, topic.topic_id, each.partition, -1 if each.leader is None else each.leader),
            *(each.replicas, each.isr, each.elr or (), each.last_known_elr or ()),
        )
        for topic in java.describe_topics(names)
        for each in topic.partitions
    }


def partitions(cluster: Cluster) -> Facts:
    return {
        (
            *(row["topic"], row["topic_id"], row["partition"], row["leader"]),
            *(tuple(row[name]) for name in ("replicas", "isr", "elr", "last_known_elr")),
        )
        for row in now(cluster, "partition_history")
    }


def reassignments_of_java(java: JavaAdminClient) -> Facts:
    return {
        (each.partition.topic, each.partition.partition, each.replicas, each.adding, each.removing)
        for each in java.list_reassignments()
    }


def reassignments(cluster: Cluster) -> Facts:
    return {
        (
            row["topic"],
            row["partition"],
            *map(tuple, (row["replicas"], row["adding_replicas"], row["removing_replicas"])),
        )
        for row in now(cluster, "partition_history")
        if row["is_reassigning"]
    }


def under_replicated_of_kafka(cluster: Cluster) -> Facts:
    options = ("--bootstrap-server", cluster.nodes[1].address, "--describe", "--under-replicated-partitions")
    lines = run_tool(cluster.release, "org.apache.kafka.tools.TopicCommand", *options).splitlines()
    words = (line.split() for line in lines if "Partition:" in line)
    return {(each[1], int(each[3])) for each in words}


def under_replicated(cluster: Cluster) -> Facts:
    rows = now(cluster, "partition_history")
    return {(row["topic"], row["partition"]) for row in rows if row["is_under_replicated"]}


def brokers_of_java(java: JavaAdminClient) -> Facts:
    nodes = java.describe_cluster(fenced_brokers=True).nodes
    return {(node.id, node.host, node.port, node.rack, node.fenced) for node in nodes}


def brokers(cluster: Cluster) -> Facts:
    return {
        (row["broker_id"], endpoint["host"], endpoint["port"], row["rack"], row["fenced"])
        for row in now(cluster, "broker_history")
        for endpoint in row["endpoints"]
    }


def check_all(cluster: Cluster, java: JavaAdminClient) -> None:
    check(lambda: partitions_of_java(java), lambda: partitions(cluster))
    check(lambda: under_replicated_of_kafka(cluster), lambda: under_replicated(cluster))
    check(lambda: brokers_of_java(java), lambda: brokers(cluster))


def test_a_node_that_fails_and_a_reassignment_that_waits_for_it(kafka_cluster: Cluster, java_admin: JavaAdmin) -> None:
    cluster, java = kafka_cluster, java_admin.client(kafka_cluster.bootstrap)
    with BlockingAdminClient(cluster.bootstrap) as admin:
        topics = [NewTopic(TOPIC, replica_assignments=ASSIGNED), NewTopic(ALONE, replica_assignments={0: [3]})]
        admin.create_topics(topics).all()
        admin.wait_for_topics([TOPIC, ALONE]).all()
        check_all(cluster, java)
        whole = eventually(lambda: under_replicated(cluster), lambda found: not found)
        assert whole == set()

        cluster.kill(3)
        cluster.wait_until_nodes_agree()
        check_all(cluster, java)
        assert {(TOPIC, 1), (TOPIC, 2), (ALONE, 0)} <= under_replicated(cluster)
        (alone,) = (row for row in now(cluster, "partition_history") if row["topic"] == ALONE)
        assert (alone["leader"], alone["elr"]) == (-1, [3])

        admin.alter_partition_reassignments({MOVED: [1, 3]})
        moving = check(lambda: reassignments_of_java(java), lambda: reassignments(cluster))
        assert {each[:2] for each in moving} == {(TOPIC, 0)}
        check_all(cluster, java)

        cluster.make_whole()
        eventually(lambda: reassignments_of_java(java), lambda found: not found, seconds=60)
        check_all(cluster, java)
    rows = history("partition_history", log_of(cluster))
    moved = [row for row in rows if TopicPartition(row["topic"], row["partition"]) == MOVED]
    begun = next(at for at, row in enumerate(moved) if row["is_reassigning"])
    assert (moved[begun]["adding_replicas"], moved[begun]["removing_replicas"]) == ([3], [2])
    assert sorted(moved[-1]["replicas"]) == [1, 3]
    assert not moved[-1]["is_reassigning"]
    fenced = [row for row in history("broker_history", log_of(cluster)) if row["broker_id"] == 3 and row["fenced"]]
    assert any(row["valid_to"] is not None for row in fenced)
    for at in (row["valid_from"] for row in moved):
        then = history("partition_history", log_of(cluster), options=ReadOptions(as_of=at))
        assert len([row for row in then if row["topic"] == TOPIC]) == len(ASSIGNED)


def test_features_and_controllers(kafka_cluster: Cluster, java_admin: JavaAdmin) -> None:
    java = java_admin.client(kafka_cluster.bootstrap)
    finalized = {(name, level.highest) for name, level in java.describe_features().finalized.items()}
    ours = {(row["name"], row["level"]) for row in now(kafka_cluster, "feature_history")}
    assert ours == {each for each in finalized if each[0] != "kraft.version"}
    rows = now(kafka_cluster, "controller_history")
    assert {(row["controller_id"], endpoint["port"]) for row in rows for endpoint in row["endpoints"]} == {
        (node.node_id, node.controller_port) for node in kafka_cluster.nodes.values()
    }


def test_delegation_tokens_without_a_trace_of_their_secrets(
    secure_kafka_brokers: SecureBrokers, java_admin: JavaAdmin
) -> None:
    secure = secure_kafka_brokers(newest_broker_release())
    log = secure.broker.data / METADATA_LOG
    java = java_admin.client(properties=secure.java_sasl("SCRAM-SHA-256"))
    credentials = ScramCredentials(SUPER_USER, PASSWORDS[SUPER_USER])
    address = f"{secure.broker.host}:{secure.sasl_plaintext_port}"
    with BlockingAdminClient(address, credentials=credentials) as admin:
        made = java.create_delegation_token()
        renewed = admin.create_delegation_token(renewers=[f"User:{SUPER_USER}"])
        eventually(admin.describe_delegation_token, lambda known: renewed.token_id in {each.token_id for each in known})
        admin.renew_delegation_token(renewed.hmac, renew_period_ms=3_600_000)

    def ours() -> Facts:
        return {
            (
                *(row[name] for name in ("token_id", "owner", "requester")),
                *(tuple(row["renewers"]), row["issued_at"], row["expires_at"], row["max_time"]),
            )
            for row in still_open(history("token_history", log))
        }

    described = check(
        lambda: {
            (
                *(token.token_id, token.owner, token.requester, token.renewers),
                *map(time, (token.issue_timestamp, token.expiry_timestamp, token.max_timestamp)),
            )
            for token in java.describe_delegation_tokens()
        },
        ours,
    )
    assert {made.token_id, renewed.token_id} <= {each[0] for each in described}
    rows = [row for row in history("token_history", log) if row["token_id"] == renewed.token_id]
    assert [row["valid_to"] is None for row in rows] == [False, True]
    written = b"".join(path.read_bytes() for path in log.glob("*.log"))
    assert renewed.token_id.encode() in written
    secrets = [b64decode(made.hmac), made.hmac.encode(), renewed.hmac, b64encode(renewed.hmac)]
    assert not [secret for secret in secrets if secret in written]
