"""Features where a restart, other brokers or other levels matter; other tests compare the rest with Apache Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.embedded.connection import connected_to
from tests.made.logs import METADATA_LOG, Step, write_segment

from kafkawire.admin import AdminClient, ConfigResource, ConfigResourceType, FeatureUpdate, UpgradeType
from kafkawire.broker import EmbeddedBroker
from kafkawire.broker.features import SUPPORTED_FEATURES
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConfigRecord,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    FeatureLevelRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareFetchRequest,
    ShareFetchResponse,
    TopicRecord,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import BrokerIdNotRegisteredError, InvalidRequestError, InvalidUpdateVersionError
from kafkawire.wire import Message

TOPIC = Uuid(bytes(15) + b"\1")
DIRECTORY = Uuid(bytes(15) + b"\x09")
ELR = "eligible.leader.replicas.version"
MIN_INSYNC = "min.insync.replicas"


def broker_record(
    node_id: int, features: tuple[tuple[str, int, int], ...] = SUPPORTED_FEATURES
) -> RegisterBrokerRecord:
    supported = tuple(RegisterBrokerRecord.BrokerFeature(*feature) for feature in features)
    return RegisterBrokerRecord(broker_id=node_id, features=supported, fenced=False, log_dirs=(DIRECTORY,))


def source_of(folder: Path, *records: Message, level: int = 30) -> Path:
    write_segment(folder / METADATA_LOG, 0, (Step(1000, (FeatureLevelRecord("metadata.version", level), *records)),))
    return folder


async def levels(admin: AdminClient) -> dict[str, int]:
    return {name: found.highest for name, found in (await admin.describe_features()).finalized.items()}


async def test_levels_are_kept_over_a_restart(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker:
        async with AdminClient(broker.bootstrap_servers) as admin:
            downgrade = FeatureUpdate(1, UpgradeType.SAFE_DOWNGRADE)
            (await admin.update_features({"transaction.version": downgrade}, validate_only=True)).all()
            assert (await levels(admin))["transaction.version"] == 2
            (await admin.update_features({"transaction.version": downgrade})).all()
            before = await levels(admin)
        await broker.restart()
        async with AdminClient(broker.bootstrap_servers) as admin:
            assert await levels(admin) == before
            assert before["transaction.version"] == 1


async def test_kraft_version_stays_as_it_is() -> None:
    async with EmbeddedBroker() as broker, AdminClient(broker.bootstrap_servers) as admin:
        updated = await admin.update_features({"kraft.version": FeatureUpdate(1)})
        assert "those of its configuration" in str(updated.errors()["kraft.version"])


async def test_a_level_that_a_broker_does_not_support_is_refused(tmp_path: Path) -> None:
    old = (("metadata.version", 7, 20),)
    source = source_of(tmp_path, broker_record(1), broker_record(2, old), level=20)
    async with EmbeddedBroker(from_log=source) as broker, AdminClient(broker.bootstrap_servers) as admin:
        for name, reason in (("metadata.version", "Broker 2 only supports versions 7-20"),
                             ("group.version", "Broker 2 does not support this feature")):  # fmt: skip
            updated = await admin.update_features({name: FeatureUpdate(21 if name == "metadata.version" else 1)})
            assert isinstance(updated.errors()[name], InvalidUpdateVersionError)
            assert reason in str(updated.errors()[name])


async def test_a_level_may_need_another_one(tmp_path: Path) -> None:
    source = source_of(tmp_path, broker_record(1), level=22)
    async with EmbeddedBroker(from_log=source) as broker, AdminClient(broker.bootstrap_servers) as admin:
        refused = await admin.update_features({ELR: FeatureUpdate(1)})
        assert "it depends on metadata.version level 23" in str(refused.errors()[ELR])
        both = {ELR: FeatureUpdate(1), "metadata.version": FeatureUpdate(23)}
        (await admin.update_features(both)).all()
        assert await levels(admin) == {"metadata.version": 23, ELR: 1}


@pytest.mark.parametrize(
    ("start", "level", "is_allowed"), [(29, 23, True), (29, 22, False), (22, 17, True), (17, 16, False)]
)
async def test_a_downgrade_keeps_all_records(tmp_path: Path, start: int, level: int, is_allowed: bool) -> None:
    source = source_of(tmp_path, broker_record(1), level=start)
    async with EmbeddedBroker(from_log=source) as broker, AdminClient(broker.bootstrap_servers) as admin:
        updated = await admin.update_features({"metadata.version": FeatureUpdate(level, UpgradeType.SAFE_DOWNGRADE)})
        assert (not updated.errors()) is is_allowed
        assert (await levels(admin))["metadata.version"] == (level if is_allowed else start)


async def test_groups_of_a_feature_at_level_0_are_not_served() -> None:
    async with EmbeddedBroker() as broker, AdminClient(broker.bootstrap_servers) as admin:
        downgrade = FeatureUpdate(0, UpgradeType.SAFE_DOWNGRADE)
        (await admin.update_features({"group.version": downgrade, "share.version": downgrade})).all()
        async with connected_to(broker) as client:
            heartbeat = ConsumerGroupHeartbeatRequest("g", "member", subscribed_topic_names=("t",))
            beat = await client.ask(heartbeat, 1, ConsumerGroupHeartbeatResponse)
            assert beat.error_code == ErrorCode.UNSUPPORTED_VERSION
            describe = ConsumerGroupDescribeRequest(("g",))
            (described,) = (await client.ask(describe, 1, ConsumerGroupDescribeResponse)).groups
            assert described.error_code == ErrorCode.UNSUPPORTED_VERSION
            fetched = await client.ask(ShareFetchRequest("g", "member"), 1, ShareFetchResponse)
            assert fetched.error_code == ErrorCode.UNSUPPORTED_VERSION
            acknowledged = await client.ask(ShareAcknowledgeRequest("g", "member"), 1, ShareAcknowledgeResponse)
            assert acknowledged.error_code == ErrorCode.UNSUPPORTED_VERSION
        (await admin.update_features({"group.version": FeatureUpdate(1)})).all()
        async with connected_to(broker) as client:
            heartbeat = ConsumerGroupHeartbeatRequest(
                "g", "member", rebalance_timeout_ms=5000, subscribed_topic_names=("t",), topic_partitions=()
            )
            assert not (await client.ask(heartbeat, 1, ConsumerGroupHeartbeatResponse)).error_code


async def test_eligible_leader_replicas_make_one_minimum_for_all_brokers(tmp_path: Path) -> None:
    of_one = ConfigRecord(ConfigResourceType.BROKER, "1", MIN_INSYNC, "3")
    source = source_of(tmp_path, broker_record(1), of_one)
    async with (
        EmbeddedBroker({MIN_INSYNC: "2"}, from_log=source) as broker,
        AdminClient(broker.bootstrap_servers) as admin,
    ):
        (await admin.update_features({ELR: FeatureUpdate(1)})).all()
        for name, value in (("", "2"), ("1", "2")):
            described = (await admin.describe_configs([ConfigResource(ConfigResourceType.BROKER, name)])).all()
            (configs,) = described.values()
            assert configs[MIN_INSYNC].value == value


async def test_the_partitions_of_an_unregistered_broker_have_other_leaders(tmp_path: Path) -> None:
    def partition(number: int, replicas: tuple[int, ...], isr: tuple[int, ...]) -> PartitionRecord:
        directories = (DIRECTORY,) * len(replicas)
        return PartitionRecord(number, TOPIC, replicas, isr, leader=isr[0], directories=directories)

    partitions = (partition(0, (2, 1), (2, 1)), partition(1, (2,), (2,)), partition(2, (1, 2), (1,)))
    source = source_of(tmp_path, *map(broker_record, (1, 2)), TopicRecord("t", TOPIC), *partitions)
    async with EmbeddedBroker(from_log=source) as broker, AdminClient(broker.bootstrap_servers) as admin:
        await admin.unregister_broker(2)
        found = (await admin.describe_topics(["t"]))["t"].partitions
        assert [(one.leader, one.replicas, one.isr) for one in found] == [
            (1, (2, 1), (1,)),
            (None, (2,), (2,)),
            (1, (1, 2), (1,)),
        ]
        assert [each.node.id for each in (await admin.describe_cluster()).nodes] == [1]
        with pytest.raises(BrokerIdNotRegisteredError):
            await admin.unregister_broker(2)


async def test_a_broker_does_not_unregister_itself() -> None:
    async with EmbeddedBroker() as broker, AdminClient(broker.bootstrap_servers) as admin:
        with pytest.raises(InvalidRequestError, match="is the one that answers"):
            await admin.unregister_broker(1)
