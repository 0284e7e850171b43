"""A twin: the broker on a copy of another cluster's metadata."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES
from tests.made.logs import METADATA_LOG, Step, write_batches, write_checkpoint, write_segment

from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ConfigResource,
    ConfigResourceType,
    NewTopic,
    PlainCredentials,
    ResourceType,
)
from kafkawire.broker import (
    CorruptLogError,
    CreateTopicPolicy,
    DataDirectoryError,
    EmbeddedBroker,
    RequestMetadata,
)
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    AccessControlEntryRecord,
    BeginTransactionRecord,
    ConfigRecord,
    FeatureLevelRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkawire.protocol.errors import PolicyViolationError
from kafkawire.wire.batches import Record, encode_batch
from kafkawire.wire.varint import write_uvarint

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
ORDERS, LATER = Uuid(bytes(15) + b"\1"), Uuid(bytes(15) + b"\2")
DIRECTORY = Uuid(bytes(15) + b"\x09")


def broker_record(node_id: int, *, fenced: bool = False, rack: str | None = None) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=node_id,
        broker_epoch=node_id,
        end_points=(RegisterBrokerRecord.BrokerEndpoint("PLAINTEXT", f"node{node_id}", 9092, 0),),
        rack=rack,
        fenced=fenced,
        log_dirs=(DIRECTORY,),
    )


def partition_record(topic_id: Uuid, number: int, replicas: tuple[int, ...], leader: int) -> PartitionRecord:
    return PartitionRecord(
        number, topic_id, replicas, replicas, leader=leader, directories=(DIRECTORY,) * len(replicas)
    )


ACL = AccessControlEntryRecord(
    id=DIRECTORY,
    resource_type=ResourceType.TOPIC,
    resource_name="orders",
    pattern_type=3,
    principal="User:alice",
    host="*",
    operation=AclOperation.READ,
    permission_type=AclPermissionType.ALLOW,
)
STEPS = (
    Step(1000, (FeatureLevelRecord("metadata.version", 30),)),
    Step(
        2000,
        (
            broker_record(1, rack="a"),
            broker_record(2, rack="b"),
            broker_record(3, fenced=True, rack="b"),
            TopicRecord("orders", ORDERS),
            partition_record(ORDERS, 0, (2, 1, 3), 2),
            ConfigRecord(2, "orders", "retention.ms", "1000"),
        ),
    ),
    Step(3000, (ACL, ConfigRecord(4, "2", "log.cleaner.threads", "2"))),
    Step(4000, (RemoveTopicRecord(ORDERS), TopicRecord("later", LATER), partition_record(LATER, 0, (1, 2), 1))),
)


def at(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A data directory of a cluster of three brokers, one of which is fenced."""
    write_segment(tmp_path / "source" / METADATA_LOG, 0, STEPS)
    (tmp_path / "source" / "meta.properties").write_text("version=1\ncluster.id=production\nnode.id=3000\n", "utf-8")
    return tmp_path / "source"


def sums(folder: Path) -> Mapping[str, tuple[str, int]]:
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


async def topics_of(broker: EmbeddedBroker) -> set[str]:
    async with AdminClient(broker.bootstrap_servers) as admin:
        return set(await admin.list_topics())


async def test_it_answers_for_all_live_brokers_at_its_own_address(source: Path) -> None:
    async with EmbeddedBroker(from_log=source) as broker, AdminClient(broker.bootstrap_servers) as admin:
        cluster = await admin.describe_cluster(include_fenced_brokers=True)
        assert cluster.cluster_id == broker.cluster_id == "production"
        assert [(each.node.id, each.node.rack, each.is_fenced) for each in cluster.nodes] == [
            (1, "a", False),
            (2, "b", False),
            (3, "b", True),
        ]
        assert {(each.node.host, each.node.port) for each in cluster.nodes} == {(broker.host, broker.port)}


async def test_topics_keep_their_leaders_and_replicas(source: Path) -> None:
    async with (
        EmbeddedBroker(from_log=source, as_of=at(3500)) as broker,
        AdminClient(broker.bootstrap_servers) as admin,
    ):
        (partition,) = (await admin.describe_topics(["orders"]))["orders"].partitions
        assert (partition.leader, partition.replicas, partition.isr, partition.offline) == (
            2,
            (2, 1, 3),
            (2, 1, 3),
            (3,),
        )


@pytest.mark.parametrize(
    ("time", "topics", "acls"),
    [(2000, {"orders"}, 0), (3999, {"orders"}, 1), (4000, {"later"}, 1), (9999, {"later"}, 1)],
)
async def test_it_begins_with_the_state_at_the_date(source: Path, time: int, topics: set[str], acls: int) -> None:
    async with (
        EmbeddedBroker(from_log=source / METADATA_LOG, as_of=at(time)) as broker,
        AdminClient(broker.bootstrap_servers) as admin,
    ):
        assert set(await admin.list_topics()) == topics
        assert len((await admin.describe_acls([AclBindingFilter()])).union()) == acls


async def test_a_date_without_a_zone_is_in_utc(source: Path) -> None:
    async with EmbeddedBroker(from_log=source, as_of=at(3999).replace(tzinfo=None)) as broker:
        assert await topics_of(broker) == {"orders"}


async def test_a_snapshot_that_is_later_than_the_date_is_skipped(source: Path) -> None:
    write_checkpoint(source / METADATA_LOG, 9, [STEPS[0].records[0], TopicRecord("wrong", LATER)], time=4000)
    async with EmbeddedBroker(from_log=source, as_of=at(3999)) as broker:
        assert await topics_of(broker) == {"orders"}


async def test_it_begins_with_a_snapshot_where_the_log_before_it_is_deleted(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / METADATA_LOG, 7, [*STEPS[0].records, *STEPS[1].records], time=2000)
    write_segment(tmp_path / METADATA_LOG, 7, STEPS[2:])
    async with EmbeddedBroker(from_log=tmp_path, as_of=at(3000)) as broker:
        assert await topics_of(broker) == {"orders"}
    with pytest.raises(
        DataDirectoryError, match=r"at 1970-01-01T00:00:01.999000\+00:00 is unknown.*known from .*02.000"
    ):
        await EmbeddedBroker(from_log=tmp_path, as_of=at(1999)).start()


async def test_a_date_before_the_log_is_refused(source: Path) -> None:
    with pytest.raises(DataDirectoryError, match=r"it is known from 1970-01-01T00:00:01\.000"):
        await EmbeddedBroker(from_log=source, as_of=at(999)).start()


async def test_records_that_are_missing_are_an_error(tmp_path: Path) -> None:
    write_segment(tmp_path / METADATA_LOG, 7, STEPS[2:])
    with pytest.raises(CorruptLogError, match="begins at offset 7"):
        await EmbeddedBroker(from_log=tmp_path).start()


async def test_a_folder_without_a_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataDirectoryError, match="no metadata log; give the data directory"):
        await EmbeddedBroker(from_log=tmp_path).start()


def test_a_date_needs_a_log() -> None:
    with pytest.raises(ValueError, match="pass from_log"):
        EmbeddedBroker(as_of=at(1))


async def test_changes_work_and_the_source_stays_as_it_is(source: Path) -> None:
    before = sums(source)
    async with EmbeddedBroker(from_log=source) as broker, AdminClient(broker.bootstrap_servers) as admin:
        (await admin.create_topics([NewTopic("tried", num_partitions=4, replication_factor=3)])).all()
        acl = AclBinding(ResourceType.TOPIC, "tried", "User:bob", AclOperation.READ, AclPermissionType.ALLOW)
        (await admin.create_acls([acl])).all()
        tried = (await admin.describe_topics(["tried"]))["tried"]
        assert [(each.leader, each.replicas, each.isr) for each in tried.partitions] == [
            (1, (1, 2, 3), (1, 2)),
            (2, (2, 1, 3), (2, 1)),
        ] * 2
        assert len((await admin.describe_acls([AclBindingFilter()])).union()) == 2
        await broker.restart()
        assert set(await admin.list_topics()) == {"later"}
    assert sums(source) == before


async def test_replication_is_validated_against_the_registered_brokers(source: Path) -> None:
    async with EmbeddedBroker(from_log=source) as broker, AdminClient(broker.bootstrap_servers) as admin:
        results = await admin.create_topics(
            [
                NewTopic("four", num_partitions=1, replication_factor=4),
                NewTopic("unknown", replica_assignments={0: (1, 9)}),
                NewTopic("fenced", replica_assignments={0: (3,)}),
            ],
            validate_only=True,
        )
        reasons = {
            "four": "The target replication factor of 4 cannot be reached because only 3 broker(s) are registered",
            "unknown": "The manual partition assignment includes broker 9, but no such broker is registered.",
            "fenced": "All brokers specified in the manual partition assignment for partition 0 are fenced",
        }
        errors = results.errors()
        assert errors.keys() == reasons.keys()
        assert all(reason in str(errors[name]) for name, reason in reasons.items())


async def test_new_partitions_have_as_many_replicas_as_the_others(source: Path) -> None:
    async with EmbeddedBroker(from_log=source) as broker, AdminClient(broker.bootstrap_servers) as admin:
        (await admin.create_partitions({"later": 3})).all()
        later = (await admin.describe_topics(["later"]))["later"]
        assert [each.replicas for each in later.partitions] == [(1, 2), (1, 2), (2, 1)]


async def test_each_broker_has_its_own_configuration(source: Path) -> None:
    async with EmbeddedBroker(from_log=source) as broker, AdminClient(broker.bootstrap_servers) as admin:
        resources = [ConfigResource(ConfigResourceType.BROKER, str(node)) for node in (1, 2)]
        described = await admin.describe_configs(resources)
        values = {each.name: described[each]["log.cleaner.threads"].value for each in resources}
        assert values == {"1": "1", "2": "2"}
        assert [described[each]["node.id"].value for each in resources] == ["1", "2"]


async def test_acls_are_evaluated_and_clients_without_login_are_super_users(source: Path) -> None:
    properties = {
        "listeners": "OPEN://127.0.0.1:0,LOGIN://127.0.0.1:0",
        "listener.security.protocol.map": "OPEN:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
        "listener.name.login.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.login.plain.sasl.jaas.config": f'{PLAIN} required user_alice="secret";',
        "inter.broker.listener.name": "OPEN",
    }
    async with EmbeddedBroker(properties, from_log=source, as_of=at(3500)) as broker:
        login = PlainCredentials("alice", "secret")
        async with AdminClient(broker.address("LOGIN"), credentials=login) as admin:
            assert set(await admin.list_topics()) == {"orders"}
            refused = await admin.create_topics([NewTopic("mine")])
            assert "TOPIC_AUTHORIZATION_FAILED" in str(refused.errors()["mine"])
        async with AdminClient(broker.address("OPEN")) as admin:
            (await admin.create_topics([NewTopic("ours")])).all()


async def test_super_users_can_be_others(source: Path) -> None:
    async with (
        EmbeddedBroker({"super.users": "User:admin"}, from_log=source) as broker,
        AdminClient(broker.bootstrap_servers) as admin,
    ):
        assert set(await admin.list_topics()) == set()


async def test_a_data_directory_keeps_the_changes(source: Path, tmp_path: Path) -> None:
    data_dir = tmp_path / "twin"
    async with (
        EmbeddedBroker(from_log=source, data_dir=data_dir) as broker,
        AdminClient(broker.bootstrap_servers) as admin,
    ):
        (await admin.create_topics([NewTopic("tried", num_partitions=1, replication_factor=2)])).all()
        await broker.restart()
        assert set(await admin.list_topics()) == {"later", "tried"}
    async with EmbeddedBroker(data_dir=data_dir) as broker, AdminClient(broker.bootstrap_servers) as admin:
        assert set(await admin.list_topics()) == {"later", "tried"}
        cluster = await admin.describe_cluster()
        assert (cluster.cluster_id, [each.node.id for each in cluster.nodes]) == ("production", [1, 2])
    with pytest.raises(DataDirectoryError, match=r"not empty\. To go on with the twin in it"):
        await EmbeddedBroker(from_log=source, data_dir=data_dir).start()


async def test_brokers_of_a_stopped_cluster_start_again() -> None:
    async with EmbeddedBroker(from_log=FIXTURES / "logs") as broker, AdminClient(broker.bootstrap_servers) as admin:
        described = await admin.describe_topics(["orders.events"])
        assert {each.leader for each in described["orders.events"].partitions} == {1}
        (await admin.create_topics([NewTopic("tried")])).all()


async def test_a_cluster_without_brokers_gets_one(tmp_path: Path) -> None:
    write_segment(tmp_path / METADATA_LOG, 0, STEPS[:1])
    async with EmbeddedBroker(from_log=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        (await admin.create_topics([NewTopic("tried")])).all()
        assert [each.node.id for each in (await admin.describe_cluster()).nodes] == [1]


async def test_what_is_written_just_now_is_left_out(source: Path, caplog: pytest.LogCaptureFixture) -> None:
    (segment,) = (source / METADATA_LOG).glob("*.log")
    segment.write_bytes(segment.read_bytes()[:-5])
    with caplog.at_level(logging.WARNING):
        async with EmbeddedBroker(from_log=source) as broker:
            assert await topics_of(broker) == {"orders"}
    assert "are left out, after offset 8" in caplog.text


@pytest.mark.parametrize("tail", [bytes(40), bytes(40_000), b"\xfe" * 400], ids=["zeros", "preallocated", "garbage"])
async def test_a_tail_that_is_no_batch_is_left_out(source: Path, tail: bytes, caplog: pytest.LogCaptureFixture) -> None:
    (segment,) = (source / METADATA_LOG).glob("*.log")
    segment.write_bytes(segment.read_bytes() + tail)
    with caplog.at_level(logging.WARNING):
        async with EmbeddedBroker(from_log=source) as broker:
            assert await topics_of(broker) == {"later"}
    assert f"the last {len(tail)} bytes are left out" in caplog.text


@pytest.mark.parametrize("as_of", [None, datetime(2026, 1, 1, tzinfo=UTC)])
async def test_a_log_of_garbage_has_no_records(source: Path, as_of: datetime | None) -> None:
    (segment,) = (source / METADATA_LOG).glob("*.log")
    segment.write_bytes(b"\xfe" * 400)
    with pytest.raises(DataDirectoryError):
        await EmbeddedBroker(from_log=source, as_of=as_of).start()


async def test_damage_in_the_middle_is_an_error(source: Path) -> None:
    (segment,) = (source / METADATA_LOG).glob("*.log")
    octets = bytearray(segment.read_bytes())
    octets[30] ^= 1
    segment.write_bytes(octets)
    with pytest.raises(CorruptLogError, match="restore the directory"):
        await EmbeddedBroker(from_log=source).start()


async def test_a_transaction_without_its_end_is_left_out(source: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_segment(
        source / METADATA_LOG, 12, [Step(5000, (BeginTransactionRecord("half"), TopicRecord("half", DIRECTORY)))]
    )
    async with EmbeddedBroker(from_log=source) as broker:
        assert await topics_of(broker) == {"later"}
    assert "the last transaction has no end" in caplog.text


def framed(record_id: int, version: int, body: bytes) -> bytes:
    return write_uvarint(1) + write_uvarint(record_id) + write_uvarint(version) + body


async def test_records_of_unknown_types_are_left_out(source: Path, caplog: pytest.LogCaptureFixture) -> None:
    batch = encode_batch([Record(timestamp=5000, value=framed(999, 0, b"?"))], base_offset=12, partition_leader_epoch=1)
    write_batches(source / METADATA_LOG, 12, [batch])
    async with EmbeddedBroker(from_log=source) as broker:
        assert await topics_of(broker) == {"later"}
    assert "1 records of type 999 are left out: a newer release wrote them" in caplog.text


async def test_unknown_versions_of_known_records_are_an_error(source: Path) -> None:
    batch = encode_batch([Record(timestamp=5000, value=framed(2, 99, b"?"))], base_offset=12, partition_leader_epoch=1)
    write_batches(source / METADATA_LOG, 12, [batch])
    with pytest.raises(CorruptLogError, match=r"there is no version 99.*a newer Kafka may have written it"):
        await EmbeddedBroker(from_log=source).start()


class AtLeastTwo(CreateTopicPolicy):
    """A policy for the topics of the cluster."""

    def validate(self, request: RequestMetadata) -> None:
        if request.replication_factor == 1:
            raise PolicyViolationError(f"{request.topic}: two replicas at least")


async def test_a_policy_decides_as_in_the_cluster(source: Path) -> None:
    properties = {"create.topic.policy.class.name": f"{__name__}:AtLeastTwo", "default.replication.factor": "2"}
    async with EmbeddedBroker(properties, from_log=source) as broker, AdminClient(broker.bootstrap_servers) as admin:
        results = await admin.create_topics([NewTopic("one", 1, 1), NewTopic("default")], validate_only=True)
        assert "two replicas at least" in str(results.errors()["one"])
        assert results["default"].replication_factor == 2
