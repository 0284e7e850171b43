"""The cluster as plug-ins receive it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from kafkawire.layout.uuid import Uuid


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A live broker.

    Attributes:
        node_id: its number.
        host, port: where clients reach it.
        rack: its rack; None if it has none.
    """

    node_id: int
    host: str
    port: int
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """A partition.

    Attributes:
        topic: name of its topic.
        partition: its number in the topic.
        leader: node id of the leader; -1 if there is none.
        replicas, isr: node ids.
        offline_replicas: node ids of the replicas that are not on a live broker.
    """

    topic: str
    partition: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """The cluster at one moment, as ``org.apache.kafka.common.Cluster``.

    Attributes:
        cluster_id: id of the cluster.
        nodes: all live brokers.
        topics: name to the partitions of a topic, in order of their numbers.
        topic_ids: name to the id of a topic.
        internal_topics: names of the topics that Kafka itself uses.
        controller: the live broker that clients are referred to for changes; None if there is none.
    """

    cluster_id: str
    nodes: tuple[ClusterNode, ...]
    topics: Mapping[str, tuple[PartitionMetadata, ...]] = field(default_factory=dict)
    topic_ids: Mapping[str, Uuid] = field(default_factory=dict)
    internal_topics: Set[str] = frozenset()
    controller: ClusterNode | None = None
