"""The description of a cluster: members, features, the metadata quorum, disks."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

import msgspec

from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.nodes import Node
from kafkawire.model.partitions import TopicPartition
from kafkawire.wire.kafka_errors import KafkaError


class ClusterNode(msgspec.Struct, frozen=True):
    """A member of a cluster.

    Attributes:
        node: its id, address and rack.
        is_fenced: whether it is registered but not in use (KIP-1073); such nodes are listed on request only.
    """

    node: Node
    is_fenced: bool = False


class ClusterDescription(msgspec.Struct, frozen=True):
    """The members of a cluster.

    Attributes:
        cluster_id: id of the cluster; None from brokers that do not return it.
        controller: id of the node that is named as controller; None if there is none. In a KRaft cluster brokers
            call any of themselves so, and pass on what the controller has to do.
        nodes: the live brokers, or the controllers where a client is connected to these.
        authorized_operations: the operations that the caller may perform; None if they were not requested.
    """

    cluster_id: str | None
    controller: int | None
    nodes: tuple[ClusterNode, ...]
    authorized_operations: frozenset[AclOperation] | None = None


class ServedApi(msgspec.Struct, frozen=True):
    """An API that a node serves (KIP-35).

    Attributes:
        key: its API key.
        name: its name, ``CreateTopics``; None if this release of kafkawire does not know it.
        lowest, highest: the versions that the node serves, both included.
        used: the version in which this client sends it; None if it has none in common with the node, or sends none.
    """

    key: int
    name: str | None
    lowest: int
    highest: int
    used: int | None


class FeatureLevels(msgspec.Struct, frozen=True):
    """Levels of a feature, both included.

    Attributes:
        lowest, highest: the levels.
    """

    lowest: int
    highest: int


class Features(msgspec.Struct, frozen=True):
    """The features of a node and its cluster (KIP-584).

    Attributes:
        supported: feature to the levels that the node can work at.
        finalized: feature to the level at which the cluster works; features at level 0 are left out.
        finalized_epoch: the epoch of ``finalized``; None if the node has none.
    """

    supported: Mapping[str, FeatureLevels]
    finalized: Mapping[str, FeatureLevels]
    finalized_epoch: int | None


class UpgradeType(IntEnum):
    """How a feature may change; the number on the wire.

    Attributes:
        UPGRADE: to a higher level only.
        SAFE_DOWNGRADE: to a lower one if nothing is lost by it.
        UNSAFE_DOWNGRADE: to a lower one although metadata may be lost by it.
    """

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class FeatureUpdate(msgspec.Struct, frozen=True):
    """A change of a feature.

    Attributes:
        max_version_level: the new level; 0 switches the feature off.
        upgrade_type: how it may change.
    """

    max_version_level: int
    upgrade_type: UpgradeType = UpgradeType.UPGRADE


class QuorumReplica(msgspec.Struct, frozen=True):
    """A voter or observer of the metadata quorum.

    Attributes:
        replica_id: its node id.
        directory_id: id of its metadata directory; None from nodes that do not return it.
        log_end_offset: how far its log goes; None if that is not known.
        last_fetch_timestamp_ms: when it last fetched, in milliseconds since 1970; None if not known.
        last_caught_up_timestamp_ms: when it last had everything; None if not known.
    """

    replica_id: int
    directory_id: Uuid | None
    log_end_offset: int | None
    last_fetch_timestamp_ms: int | None
    last_caught_up_timestamp_ms: int | None


class RaftEndpoint(msgspec.Struct, frozen=True):
    """An endpoint of a voter.

    Attributes:
        listener: name of the listener, ``CONTROLLER``.
        host, port: its address.
    """

    listener: str
    host: str
    port: int


class MetadataQuorum(msgspec.Struct, frozen=True):
    """The metadata quorum of a KRaft cluster (KIP-595).

    Attributes:
        leader: id of the node that leads; None if there is none.
        leader_epoch: how often leadership has changed.
        high_watermark: how far the log is committed.
        voters, observers: the members.
        endpoints: node id to its endpoints; empty from nodes that do not return them.
    """

    leader: int | None
    leader_epoch: int
    high_watermark: int
    voters: tuple[QuorumReplica, ...]
    observers: tuple[QuorumReplica, ...]
    endpoints: Mapping[int, tuple[RaftEndpoint, ...]]


class Replica(msgspec.Struct, frozen=True, order=True):
    """A partition on one node.

    Attributes:
        partition: the partition.
        node: id of the node.
    """

    partition: TopicPartition
    node: int


class ReplicaInfo(msgspec.Struct, frozen=True):
    """A replica in a log directory.

    Attributes:
        size_bytes: its size there.
        offset_lag: its distance: of a current replica to the high watermark, of a future one to the
            current one.
        is_future: whether it is being copied here and will take the place of the one in another directory.
    """

    size_bytes: int
    offset_lag: int
    is_future: bool


class LogDir(msgspec.Struct, frozen=True):
    """A log directory of a node.

    Attributes:
        error: its error (`KafkaStorageError`: it is offline); None if there is none.
        replicas: the replicas in it.
        total_bytes, usable_bytes: the size and the free space of its volume; None from nodes that do not return it.
        is_cordoned: whether no new replica is placed there (KIP-1066).
    """

    error: KafkaError | None
    replicas: Mapping[TopicPartition, ReplicaInfo]
    total_bytes: int | None
    usable_bytes: int | None
    is_cordoned: bool


class ReplicaLogDirs(msgspec.Struct, frozen=True):
    """The directories of a replica.

    Attributes:
        current: its directory; None if the node does not have the replica.
        current_offset_lag: its distance to the high watermark.
        future: the directory that it is being moved to; None if it is not.
        future_offset_lag: the distance of the copy to the current replica.
    """

    current: str | None = None
    current_offset_lag: int | None = None
    future: str | None = None
    future_offset_lag: int | None = None
