"""Other Python clients at the embedded broker: each creates a topic, writes, reads, commits, and finds it all again."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest

from kafkawire.broker import ThreadedBroker

Untyped: TypeAlias = Any
"""What these clients are made of."""

# Their own warnings are none of ours; so they are loaded when a test wants them.
pytestmark = [
    pytest.mark.interop,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
VALUES = [b"%d" % number for number in range(20)]
SECONDS = 20


def library(name: str) -> Untyped:
    """A module of a client, untyped as they are."""
    return importlib.import_module(name)


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker(AUTHORIZER) as broker:
        yield broker


class TestKafkaPython:
    @pytest.fixture
    def kafka(self) -> Untyped:
        library("kafka.admin")
        return library("kafka")

    @pytest.fixture
    def admin(self, kafka: Untyped, broker: ThreadedBroker) -> Iterator[Untyped]:
        admin = kafka.KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
        admin.create_topics([kafka.admin.NewTopic("orders", 3, 1, topic_configs={"retention.ms": "60000"})])
        yield admin
        admin.close()

    def test_topics_and_configs(self, kafka: Untyped, admin: Untyped) -> None:
        (described,) = admin.describe_topics(["orders"])
        assert [partition["partition_index"] for partition in described["partitions"]] == [0, 1, 2]
        resource = kafka.admin.ConfigResource(kafka.admin.ConfigResourceType.TOPIC, "orders", {"retention.ms": "70000"})
        admin.alter_configs([resource])
        assert "70000" in str(admin.describe_configs([resource]))
        with pytest.raises(kafka.errors.TopicAlreadyExistsError):
            admin.create_topics([kafka.admin.NewTopic("orders", 3, 1)])
        admin.delete_topics(["orders"])
        assert admin.list_topics() == []

    def test_acls(self, kafka: Untyped, admin: Untyped) -> None:
        pattern = kafka.admin.ResourcePattern(kafka.admin.ResourceType.TOPIC, "orders")
        allowed = kafka.admin.ACLPermissionType.ALLOW
        acl = kafka.admin.ACL("User:alice", "*", kafka.admin.ACLOperation.READ, allowed, pattern)
        assert admin.create_acls([acl])["succeeded"] == [acl]
        anything = kafka.admin.ACLFilter(
            None, None, kafka.admin.ACLOperation.ANY, kafka.admin.ACLPermissionType.ANY,
            kafka.admin.ResourcePatternFilter(
                kafka.admin.ResourceType.ANY, None, kafka.admin.ACLResourcePatternType.ANY
            ),
        )  # fmt: skip
        found, _ = admin.describe_acls(anything)
        assert found == [acl]

    def test_records_and_commits(self, kafka: Untyped, broker: ThreadedBroker, admin: Untyped) -> None:
        with kafka.KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            sent = [producer.send("orders", value, partition=0) for value in VALUES]
            assert [future.get(SECONDS).offset for future in sent] == list(range(20))
        partition = kafka.TopicPartition("orders", 0)
        consumer = kafka.KafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id="readers",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        with contextlib.closing(consumer):
            consumer.assign([partition])
            assert [next(consumer).value for _ in VALUES] == VALUES
            consumer.commit()
            assert consumer.committed(partition) == 20
        assert [group for group in admin.list_groups() if "readers" in str(group)]


class TestConfluentKafka:
    @pytest.fixture
    def confluent_kafka(self) -> Untyped:
        library("confluent_kafka.admin")
        return library("confluent_kafka")

    @pytest.fixture
    def admin(self, confluent_kafka: Untyped, broker: ThreadedBroker) -> Untyped:
        admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        new = confluent_kafka.admin.NewTopic("orders", 3, 1, config={"retention.ms": "60000"})
        admin.create_topics([new])["orders"].result(SECONDS)
        return admin

    def test_topics_and_configs(self, confluent_kafka: Untyped, admin: Untyped) -> None:
        assert len(admin.list_topics(timeout=SECONDS).topics["orders"].partitions) == 3
        resource = confluent_kafka.admin.ConfigResource("topic", "orders")
        entry = confluent_kafka.admin.ConfigEntry(
            "retention.ms", "70000", incremental_operation=confluent_kafka.admin.AlterConfigOpType.SET
        )
        altered = confluent_kafka.admin.ConfigResource("topic", "orders", incremental_configs=[entry])
        admin.incremental_alter_configs([altered])[altered].result(SECONDS)
        assert admin.describe_configs([resource])[resource].result(SECONDS)["retention.ms"].value == "70000"
        partitions = confluent_kafka.admin.NewPartitions("orders", 5)
        admin.create_partitions([partitions])["orders"].result(SECONDS)
        admin.delete_topics(["orders"])["orders"].result(SECONDS)
        assert "orders" not in admin.list_topics(timeout=SECONDS).topics

    def test_acls_and_users(self, confluent_kafka: Untyped, admin: Untyped) -> None:
        names = confluent_kafka.admin
        acl = names.AclBinding(
            names.ResourceType.TOPIC, "orders", names.ResourcePatternType.LITERAL, "User:alice", "*",
            names.AclOperation.READ, names.AclPermissionType.ALLOW,
        )  # fmt: skip
        admin.create_acls([acl])[acl].result(SECONDS)
        anything = names.AclBindingFilter(
            names.ResourceType.ANY, None, names.ResourcePatternType.ANY, None, None,
            names.AclOperation.ANY, names.AclPermissionType.ANY,
        )  # fmt: skip
        assert admin.describe_acls(anything).result(SECONDS) == [acl]
        info = names.ScramCredentialInfo(names.ScramMechanism.SCRAM_SHA_256, 4096)
        upsertion = names.UserScramCredentialUpsertion("alice", info, b"secret")
        admin.alter_user_scram_credentials([upsertion])["alice"].result(SECONDS)
        assert "alice" in admin.describe_user_scram_credentials().result(SECONDS)

    def test_records_and_commits(self, confluent_kafka: Untyped, broker: ThreadedBroker, admin: Untyped) -> None:
        failures: list[object] = []
        servers = {"bootstrap.servers": broker.bootstrap_servers}
        producer = confluent_kafka.Producer({**servers, "enable.idempotence": True, "compression.type": "zstd"})
        for value in VALUES:
            producer.produce("orders", value, partition=0, on_delivery=lambda error, _: failures.append(error))
        assert producer.flush(SECONDS) == 0
        assert failures == [None] * len(VALUES)
        consumer = confluent_kafka.Consumer({**servers, "group.id": "readers", "enable.auto.commit": False})
        partition = confluent_kafka.TopicPartition("orders", 0)
        consumer.assign([confluent_kafka.TopicPartition("orders", 0, 0)])
        assert [message.value() for message in consumer.consume(len(VALUES), SECONDS)] == VALUES
        consumer.commit(asynchronous=False)
        assert [found.offset for found in consumer.committed([partition], SECONDS)] == [20]
        consumer.close()
        listed = admin.list_consumer_groups().result(SECONDS)
        assert [group.group_id for group in listed.valid] == ["readers"]


class TestAiokafka:
    async def test_topics_records_and_commits(self, broker: ThreadedBroker) -> None:
        aiokafka, aioadmin = library("aiokafka"), library("aiokafka.admin")
        servers = broker.bootstrap_servers
        admin = aioadmin.AIOKafkaAdminClient(bootstrap_servers=servers)
        await admin.start()
        await admin.create_topics([aioadmin.NewTopic("orders", 3, 1)])
        assert await admin.list_topics() == ["orders"]
        await admin.close()
        async with aiokafka.AIOKafkaProducer(bootstrap_servers=servers, enable_idempotence=True) as producer:
            for value in VALUES:
                await producer.send_and_wait("orders", value, partition=0)
        consumer = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=servers, group_id="readers", enable_auto_commit=False, auto_offset_reset="earliest"
        )
        consumer.assign([aiokafka.TopicPartition("orders", 0)])
        async with consumer, asyncio.timeout(SECONDS):
            assert [(await consumer.getone()).value for _ in VALUES] == VALUES
            await consumer.commit()
            assert await consumer.committed(aiokafka.TopicPartition("orders", 0)) == 20
