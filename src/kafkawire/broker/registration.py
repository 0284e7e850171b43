"""The first records of a cluster, and those with which its node starts and stops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kafkawire.broker.cluster import Cluster
from kafkawire.broker.features import SUPPORTED_FEATURES
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.image.topics import NO_LEADER
from kafkawire.broker.metadata_log.record_versions import METADATA_VERSION
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    BeginTransactionRecord,
    BrokerRegistrationChangeRecord,
    ConfigRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
)
from kafkawire.wire import Message

_ELIGIBLE_LEADER_REPLICAS: Final = "eligible.leader.replicas.version"
_FIRST_LEVELS: Final = (
    ("metadata.version", METADATA_VERSION),
    (_ELIGIBLE_LEADER_REPLICAS, 1),
    ("group.version", 1),
    ("share.version", 1),
    ("streams.version", 1),
    ("transaction.version", 2),
)

_CLUSTER_DEFAULT: Final = 4
_UNFENCED: Final = -1
_FENCED: Final = 1
CONTROLLER_LISTENER: Final = "CONTROLLER"
"""The listener with which the node is registered as controller; clients cannot use it."""

_PLAINTEXT: Final = 0


def bootstrap_records(min_insync_replicas: str, formatted: Sequence[Message] = ()) -> Sequence[Message]:
    """The first records of a cluster of Apache Kafka 4.3.1 (KIP-868, KIP-966).

    Args:
        min_insync_replicas: the value of ``min.insync.replicas`` for the whole cluster.
        formatted: the records in ``bootstrap.checkpoint`` of ``kafka-storage format``: levels of features, and users.
    """
    levels = dict(_FIRST_LEVELS)
    levels |= {record.name: record.feature_level for record in formatted if isinstance(record, FeatureLevelRecord)}
    levels["metadata.version"] = METADATA_VERSION  # the records of the broker are of this version
    minimum = ConfigRecord(_CLUSTER_DEFAULT, "", "min.insync.replicas", min_insync_replicas)
    others = (record for record in formatted if not isinstance(record, FeatureLevelRecord))
    features = (FeatureLevelRecord(name, level) for name, level in levels.items())
    return BeginTransactionRecord("Bootstrap records"), *features, minimum, *others, EndTransactionRecord()


def arrival_records(cluster: Cluster, directory_id: Uuid, end_offset: int) -> Sequence[Message]:
    """The records that register the node as controller and as broker, and unfence it.

    Args:
        cluster: the node and its listeners.
        directory_id: of its data directory.
        end_offset: the offset of the first of these records.
    """
    incarnation = Uuid.random()
    broker_epoch = end_offset + 1  # the offset of the registration itself (KIP-631)
    controller = RegisterControllerRecord(
        controller_id=cluster.node_id,
        incarnation_id=incarnation,
        end_points=(
            RegisterControllerRecord.ControllerEndpoint(CONTROLLER_LISTENER, cluster.host, cluster.port, _PLAINTEXT),
        ),
        features=tuple(RegisterControllerRecord.ControllerFeature(*feature) for feature in SUPPORTED_FEATURES),
    )
    broker = RegisterBrokerRecord(
        broker_id=cluster.node_id,
        incarnation_id=incarnation,
        broker_epoch=broker_epoch,
        end_points=tuple(
            RegisterBrokerRecord.BrokerEndpoint(each.listener, each.host, each.port, each.security_protocol)
            for each in cluster.endpoints.values()
        ),
        features=tuple(RegisterBrokerRecord.BrokerFeature(*feature) for feature in SUPPORTED_FEATURES),
        rack=cluster.rack,
        log_dirs=(directory_id,),
    )
    change = BrokerRegistrationChangeRecord(cluster.node_id, broker_epoch, _UNFENCED, cordoned_log_dirs=())
    return controller, broker, change


def leadership_records(image: MetadataImage, node_id: int) -> Iterator[Message]:
    """The records that make the node the leader of the partitions without a leader that it can lead."""
    for topic in image.topics.by_name.values():
        for partition in topic.partitions.values():
            if partition.leader == NO_LEADER and node_id in (
                *partition.isr,
                *(partition.eligible_leader_replicas or ()),
            ):
                yield PartitionChangeRecord(
                    partition.partition_id,
                    topic.topic_id,
                    isr=(node_id,),
                    leader=node_id,
                    eligible_leader_replicas=(),
                    last_known_elr=(),
                )


def restart_records(image: MetadataImage) -> Iterator[Message]:
    """The records of a start of all brokers of a cluster that was stopped: they are unfenced, and lead again."""
    brokers = image.registrations.brokers
    for node_id, broker in brokers.items():
        yield BrokerRegistrationChangeRecord(node_id, broker.broker_epoch, _UNFENCED)
    for topic in image.topics.by_name.values():
        for partition in topic.partitions.values():
            electable = {*partition.isr, *(partition.eligible_leader_replicas or ())} & brokers.keys()
            leader = next((replica for replica in partition.replicas if replica in electable), NO_LEADER)
            if partition.leader == NO_LEADER and leader != NO_LEADER:
                in_sync = tuple(partition.isr) if leader in partition.isr else (leader,)
                yield PartitionChangeRecord(
                    partition.partition_id,
                    topic.topic_id,
                    isr=in_sync,
                    leader=leader,
                    eligible_leader_replicas=(),
                    last_known_elr=(),
                )


def departure_records(image: MetadataImage, node_id: int) -> Iterator[Message]:
    """The records that end the leadership of the node and fence it, as Kafka's controller does before a node stops.

    With ``eligible.leader.replicas.version`` the node is not in sync after it, but eligible (KIP-966).
    """
    broker = image.registrations.brokers.get(node_id)
    if broker is None:
        return
    has_eligible = image.features.levels.get(_ELIGIBLE_LEADER_REPLICAS, 0) > 0
    for topic in image.topics.by_name.values():
        for partition in topic.partitions.values():
            if partition.leader == node_id:
                yield _without_leader(partition, has_eligible=has_eligible)
    yield BrokerRegistrationChangeRecord(node_id, broker.broker_epoch, _FENCED)


def _without_leader(partition: PartitionRecord, *, has_eligible: bool) -> PartitionChangeRecord:
    leader = partition.leader
    if not has_eligible:
        return PartitionChangeRecord(partition.partition_id, partition.topic_id, leader=NO_LEADER)
    in_sync = tuple(replica for replica in partition.isr if replica != leader)
    return PartitionChangeRecord(
        partition.partition_id,
        partition.topic_id,
        isr=in_sync,
        leader=NO_LEADER,
        eligible_leader_replicas=(*(partition.eligible_leader_replicas or ()), leader),
        last_known_elr=None if in_sync else (leader,),
    )
