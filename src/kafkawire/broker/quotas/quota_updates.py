"""Quotas follow the state of the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kafkawire.broker.cluster import Cluster
from kafkawire.broker.controller import Controller
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.plugins.cluster_metadata import ClusterMetadata, ClusterNode, PartitionMetadata
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.protocol import (
    ClientQuotaRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkawire.wire import Message

__all__ = ["QuotaUpdates"]

_OF_TOPICS: Final = (TopicRecord, PartitionRecord, PartitionChangeRecord, RemoveTopicRecord)


class QuotaUpdates:
    """Brings what is committed to the quotas at work.

    Args:
        quotas: what is at work.
        controller: tells what is committed.
        cluster: who the broker is.
    """

    def __init__(self, quotas: ClientQuotas, controller: Controller, cluster: Cluster) -> None:
        self._quotas = quotas
        self._controller = controller
        self._cluster = cluster

    def start(self) -> None:
        """Take in what there is, and from now on what is committed."""
        self._apply(tuple(self._controller.image.client_quotas.records()))
        self.tell_cluster()
        self._controller.subscribe_to_commits(self._apply_commit)

    def tell_cluster(self) -> None:
        """Tell the callback about topics and brokers, if it wants to know (D6)."""
        if self._quotas.wants_cluster_metadata:
            self._quotas.update_cluster_metadata(_cluster_metadata(self._cluster, self._controller.image))

    def _apply_commit(self, records: Sequence[Message]) -> None:
        self._apply(records)
        if any(isinstance(record, _OF_TOPICS) for record in records):
            self.tell_cluster()

    def _apply(self, records: Sequence[Message]) -> None:
        for record in records:
            if isinstance(record, ClientQuotaRecord):
                self._quotas.apply(record)


def _cluster_metadata(cluster: Cluster, image: MetadataImage) -> ClusterMetadata:
    return ClusterMetadata(
        cluster.cluster_id,
        (ClusterNode(cluster.node_id, cluster.host, cluster.port),),
        {
            topic.name: tuple(
                PartitionMetadata(topic.name, number, partition.leader, tuple(partition.replicas), tuple(partition.isr))
                for number, partition in topic.partitions.items()
            )
            for topic in image.topics.by_name.values()
        },
    )
