"""Kafka's tools for log directories, elections, reassignments, the quorum, features and tokens at the broker."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.admin import BlockingAdminClient, PlainCredentials
from kafkawire.broker import ThreadedBroker

pytestmark = [pytest.mark.interop, pytest.mark.extended]

MODULES = "org.apache.kafka.common.security"
PROPERTIES = {
    "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
    "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        f'{MODULES}.plain.PlainLoginModule required user_admin="admin-secret";'
    ),
    "delegation.token.secret.key": "key",
}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[ThreadedBroker]:
    with ThreadedBroker(PROPERTIES, data_dir=tmp_path / "data", topics=["orders"]) as broker:
        yield broker


def run(broker: ThreadedBroker, tool: str, *arguments: str, listener: str = "PLAINTEXT") -> str:
    where = ("--bootstrap-server", broker.address(listener))
    return run_tool(newest_broker_release(), f"org.apache.kafka.tools.{tool}", *where, *arguments)


def test_kafka_log_dirs(broker: ThreadedBroker, tmp_path: Path) -> None:
    printed = run(broker, "LogDirsCommand", "--describe", "--topic-list", "orders")
    (node,) = json.loads(printed[printed.index("{") :])["brokers"]
    (directory,) = node["logDirs"]
    assert (node["broker"], directory["logDir"], directory["error"]) == (1, str(tmp_path / "data"), None)
    (partition,) = directory["partitions"]
    assert partition == {"partition": "orders-0", "size": 0, "offsetLag": 0, "isFuture": False}


def test_kafka_leader_election(broker: ThreadedBroker) -> None:
    printed = run(
        broker, "LeaderElectionCommand", "--election-type", "preferred", "--topic", "orders", "--partition", "0"
    )
    assert "Valid replica already elected for partitions orders-0" in printed
    printed = run(broker, "LeaderElectionCommand", "--election-type", "unclean", "--all-topic-partitions")
    assert "Exception" not in printed


def test_kafka_reassign_partitions(broker: ThreadedBroker, tmp_path: Path) -> None:
    moves = tmp_path / "moves.json"
    moves.write_text(
        json.dumps(
            {"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [1], "log_dirs": ["any"]}]}
        )
    )
    file = ("--reassignment-json-file", str(moves))
    tool = "reassign.ReassignPartitionsCommand"
    assert "Successfully started partition reassignment for orders-0" in run(broker, tool, "--execute", *file)
    assert "Reassignment of partition orders-0 is completed." in run(broker, tool, "--verify", *file)
    assert "No partition reassignments found." in run(broker, tool, "--list")


def test_kafka_metadata_quorum(broker: ThreadedBroker) -> None:
    status = run(broker, "MetadataQuorumCommand", "describe", "--status")
    assert re.search(r"LeaderId: +1\n", status)
    assert re.search(r"MaxFollowerLag: +0\n", status)
    assert broker.cluster_id in status
    replicas = run(broker, "MetadataQuorumCommand", "describe", "--replication")
    assert re.search(r"\n1\s+\S{22}\s+\d+\s+0\s+\d+\s+\d+\s+Leader", replicas)


def test_kafka_features(broker: ThreadedBroker) -> None:
    described = run(broker, "FeatureCommand", "describe")
    assert re.search(r"Feature: transaction\.version +SupportedMinVersion: 0 .*FinalizedVersionLevel: 2 ", described)
    downgraded = run(broker, "FeatureCommand", "downgrade", "--feature", "transaction.version=1")
    assert "transaction.version was downgraded to 1." in downgraded
    upgraded = run(broker, "FeatureCommand", "upgrade", "--feature", "transaction.version=2", "--dry-run")
    assert "transaction.version can be upgraded to 2." in upgraded
    described = run(broker, "FeatureCommand", "describe")
    assert re.search(r"Feature: transaction\.version .*FinalizedVersionLevel: 1 ", described)


def test_kafka_delegation_tokens_and_a_login_with_one(broker: ThreadedBroker, tmp_path: Path) -> None:
    properties = tmp_path / "admin.properties"
    properties.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f'sasl.jaas.config={MODULES}.plain.PlainLoginModule required username="admin" password="admin-secret";\n'
    )
    login = ("--command-config", str(properties))
    tool, listener = "DelegationTokenCommand", "SASL_PLAINTEXT"
    printed = run(broker, tool, "--create", "--max-life-time-period", "-1", *login, listener=listener)
    describing = ("--describe", "--owner-principal", "User:admin")  # without a principal, the tool asks for no token
    token_id, secret = re.findall(r"(\S{22}) +(\S{86}==) +User:admin", printed)[0]
    assert token_id in run(broker, tool, *describing, *login, listener=listener)
    with BlockingAdminClient(broker.address(listener), credentials=PlainCredentials("admin", "admin-secret")) as admin:
        (token,) = admin.describe_delegation_token()
        assert token.credentials().password == secret

    by_token = tmp_path / "token.properties"
    by_token.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
        f'sasl.jaas.config={MODULES}.scram.ScramLoginModule required username="{token_id}" password="{secret}" '
        'tokenauth="true";\n'
    )
    topics = run(broker, "TopicCommand", "--list", "--command-config", str(by_token), listener=listener)
    assert topics == "orders\n"

    expiring = ("--expire", "--expiry-time-period", "-1", "--hmac", secret)
    run(broker, tool, *expiring, *login, listener=listener)
    assert token_id not in run(broker, tool, *describing, *login, listener=listener)
