"""The cluster as plug-ins receive it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A broker.

    Attributes:
        node_id: its number.
        host, port: where clients reach it.
    """

    node_id: int
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class PartitionMetadata:
    """A partition.

    Attributes:
        topic: name of its topic.
        partition: its number in the topic.
        leader: node id of the leader; -1 if there is none.
        replicas, isr: node ids.
    """

    topic: str
    partition: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """The cluster at one moment.

    Attributes:
        cluster_id: id of the cluster.
        nodes: all brokers.
        topics: name to the partitions of a topic, in order of their numbers.
    """

    cluster_id: str
    nodes: tuple[ClusterNode, ...]
    topics: Mapping[str, tuple[PartitionMetadata, ...]] = field(default_factory=dict)
