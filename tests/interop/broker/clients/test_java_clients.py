"""Java's command line tools and Admin at the embedded broker."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.apache_kafka import as_java
from tests.apache_kafka.connection import connected_to
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.java_admin import JavaAdmin, JavaAdminError
from tests.apache_kafka.java_answers import Partition
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import config_command, newest_broker_release

from kafkawire.admin import BlockingAdminClient
from kafkawire.broker import ThreadedBroker
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

pytestmark = pytest.mark.interop

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "super.users": "User:ANONYMOUS",
}
CONFIG_COMMAND = config_command(newest_broker_release())
LOG = Path("__consumer_offsets-28") / "00000000000000000000.log"
"""Of the partition of the group ``readers``."""


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def broker(data_dir: Path) -> Iterator[ThreadedBroker]:
    with ThreadedBroker(AUTHORIZER, data_dir=data_dir) as broker:
        yield broker


class Tools:
    """Kafka's command line tools at one broker."""

    def __init__(self, broker: ThreadedBroker) -> None:
        self._where = ("--bootstrap-server", broker.bootstrap_servers)

    def topics(self, *arguments: str) -> str:
        return run_tool(newest_broker_release(), "org.apache.kafka.tools.TopicCommand", *self._where, *arguments)

    def configs(self, *arguments: str) -> str:
        return run_tool(newest_broker_release(), CONFIG_COMMAND, *self._where, *arguments)

    def acls(self, *arguments: str) -> str:
        return run_tool(newest_broker_release(), "org.apache.kafka.tools.AclCommand", *self._where, *arguments)


@pytest.fixture
def tools(broker: ThreadedBroker) -> Tools:
    return Tools(broker)


@pytest.mark.extended
def test_kafka_topics(tools: Tools) -> None:
    assert tools.topics("--create", "--topic", "orders", "--partitions", "3") == "Created topic orders.\n"
    with pytest.raises(subprocess.CalledProcessError) as failed:
        tools.topics("--create", "--topic", "orders")
    assert "Topic 'orders' already exists." in failed.value.output
    tools.topics("--alter", "--topic", "orders", "--partitions", "4")
    described = tools.topics("--describe", "--topic", "orders")
    assert "PartitionCount: 4\tReplicationFactor: 1" in described
    assert "Partition: 3\tLeader: 1\tReplicas: 1\tIsr: 1" in described
    assert tools.topics("--list") == "orders\n"
    tools.topics("--delete", "--topic", "orders")
    assert tools.topics("--list") == "\n"


@pytest.mark.extended
def test_kafka_configs(tools: Tools) -> None:
    """The tool prints what it prints with Apache Kafka."""
    tools.topics("--create", "--topic", "orders")
    topic = ("--entity-type", "topics", "--entity-name", "orders")
    altered = tools.configs("--alter", *topic, "--add-config", "retention.ms=6000")
    assert altered == "Completed updating config for topic orders.\n"
    assert tools.configs("--describe", *topic) == (
        "Dynamic configs for topic orders are:\n"
        "  retention.ms=6000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=6000}\n"
    )
    user = ("--entity-type", "users", "--entity-name", "u1")
    tools.configs("--alter", *user, "--add-config", "producer_byte_rate=1024,consumer_byte_rate=2048")
    tools.configs("--alter", *user, "--add-config", "SCRAM-SHA-256=[iterations=4096,password=secret]")
    lines = set(tools.configs("--describe", *user).splitlines())
    assert lines == {
        "Quota configs for user-principal 'u1' are consumer_byte_rate=2048.0, producer_byte_rate=1024.0",
        "SCRAM credential configs for user-principal 'u1' are SCRAM-SHA-256=iterations=4096",
    }
    brokers = ("--entity-type", "brokers", "--entity-default")
    tools.configs("--alter", *brokers, "--add-config", "log.cleaner.threads=2")
    assert "log.cleaner.threads=2" in tools.configs("--describe", *brokers)


@pytest.mark.extended
def test_kafka_acls(tools: Tools) -> None:
    given = tools.acls("--add", "--allow-principal", "User:alice", "--producer", "--topic", "orders")
    assert "principal=User:alice, host=*, operation=WRITE, permissionType=ALLOW" in given
    listed = tools.acls("--list")
    assert "ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)" in listed
    assert listed.count("permissionType=ALLOW") == 3
    tools.acls("--remove", "--force", "--allow-principal", "User:alice", "--producer", "--topic", "orders")
    assert "permissionType" not in tools.acls("--list")


def test_the_admin(java_admin: JavaAdmin, broker: ThreadedBroker) -> None:
    admin = java_admin.client(broker.bootstrap_servers)
    orders = Partition("orders", 1)
    admin.create_topic("orders", partitions=2, configs={"retention.ms": "6000"})
    assert [topic.name for topic in admin.list_topics()] == ["orders"]
    with pytest.raises(JavaAdminError, match="already exists"):
        admin.create_topic("orders")
    admin.alter_client_quota({"user": "alice"}, {"producer_byte_rate": 1024.0})
    admin.upsert_scram_user("alice", "SCRAM_SHA_512", "secret")
    assert [user.user for user in admin.describe_scram_users()] == ["alice"]
    assert admin.produce(orders, ["a", "b", "c"]) == 2
    admin.alter_group_offset("readers", orders, 2)
    assert [(offset.partition, offset.offset) for offset in admin.list_group_offsets("readers")] == [(orders, 2)]
    assert [(group.group_id, group.state) for group in admin.list_groups()] == [("readers", "EMPTY")]


def test_the_admin_sees_share_groups(java_admin: JavaAdmin, broker: ThreadedBroker) -> None:
    java, first = java_admin.client(broker.bootstrap_servers), TopicPartition("orders", 0)
    java.create_topic("orders", partitions=2)
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.alter_share_group_offsets("workers", {first: 0}).all()
        java.produce(Partition("orders", 0), ["a", "b", "c"])
        with connected_to(broker.host, broker.port) as client:
            request = ShareGroupHeartbeatRequest("workers", "member-a", 0, None, ("orders",))
            client.ask(request, 1, ShareGroupHeartbeatResponse)
        ours = admin.describe_share_groups(["workers"])["workers"]
        assert ours.members[0].assignment == (first,)
        assert java.describe_groups(["workers"], "share") == (as_java.group(ours),)
        offsets = admin.list_share_group_offsets(["workers"])["workers"]
        shown = [as_java.share_group_offset(of, each) for of, each in offsets.values().items() if each is not None]
        assert [*java.list_share_group_offsets("workers")] == shown
        assert (shown[0].start_offset, shown[0].lag) == (0, 3)
    assert [(group.group_id, group.type, group.state) for group in java.list_groups()] == [
        ("workers", "SHARE", "STABLE")
    ]


def test_kafka_reads_the_log_of_commits(
    java_admin: JavaAdmin, broker: ThreadedBroker, data_dir: Path, kafka_dump_log: DumpLog
) -> None:
    admin = java_admin.client(broker.bootstrap_servers)
    topic_id = admin.create_topic("orders", partitions=2)
    admin.alter_group_offset("readers", Partition("orders", 1), 5)
    broker.stop()
    dumped = kafka_dump_log(data_dir / LOG, "--offsets-decoder")
    assert "isvalid: true" in dumped
    (line,) = [line for line in dumped.splitlines() if "key:" in line]
    key, _, payload = line.partition("key: ")[2].partition(" payload: ")
    assert json.loads(key) == {"type": "1", "data": {"group": "readers", "topic": "orders", "partition": 1}}
    value = json.loads(payload)
    assert value["version"] == "4"
    assert (value["data"]["offset"], value["data"]["topicId"]) == (5, topic_id)
