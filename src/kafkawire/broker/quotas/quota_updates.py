"""Applies changes of the cluster's state to the quotas."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from kafkawire.broker.clock import Clock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.controller import Controller
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.plugins.client_quota_callback import CALLBACK_CLASS, ClientQuotaCallback
from kafkawire.broker.plugins.cluster_metadata import ClusterMetadata, ClusterNode, PartitionMetadata
from kafkawire.broker.plugins.loading import load
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.broker.quotas.rate import QuotaWindows
from kafkawire.protocol import (
    ClientQuotaRecord,
    ConfigRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkawire.wire import Message

_ALL_BROKERS: Final = (4, "")
_CLUSTER_RECORDS: Final = (
    TopicRecord,
    PartitionRecord,
    PartitionChangeRecord,
    RemoveTopicRecord,
    RegisterBrokerRecord,
)
_log = logging.getLogger(__name__)


class QuotaUpdates:
    """Makes the quotas from the configuration and the metadata, and updates them with each commit.

    Args:
        configuration: of the broker.
        controller: has quotas and topics, and reports changes.
        cluster: the node and its listeners.
        clock: the broker's.

    Attributes:
        quotas: the quotas.

    Raises:
        ConfigurationError: the callback class cannot be loaded.
    """

    def __init__(
        self, configuration: BrokerConfiguration, controller: Controller, cluster: Cluster, clock: Clock
    ) -> None:
        self._configuration = configuration
        self._controller = controller
        self._cluster = cluster
        self._class = self._configured_class()
        self.quotas = ClientQuotas(
            clock,
            windows=_windows(configuration, "quota.window"),
            mutation_windows=_windows(configuration, "controller.quota.window"),
            callback=self._callback(),
        )
        self._apply(tuple(controller.image.client_quotas.records()))
        controller.subscribe_to_commits(self._apply_commit)

    def _configured_class(self) -> str:
        set_while_running = self._controller.image.configs.of(*_ALL_BROKERS).get(CALLBACK_CLASS)
        return self._configuration.text(CALLBACK_CLASS) if set_while_running is None else set_while_running

    def _callback(self) -> ClientQuotaCallback | None:
        if not self._class:
            return None
        callback = load(self._class, ClientQuotaCallback, CALLBACK_CLASS)
        callback.configure({**self._configuration.properties, CALLBACK_CLASS: self._class})
        return callback

    def _apply_commit(self, records: Sequence[Message]) -> None:
        if any(isinstance(record, ConfigRecord) and record.name == CALLBACK_CLASS for record in records):
            self._change_callback()
        self._apply(records)
        if self.quotas.wants_cluster_metadata and any(isinstance(record, _CLUSTER_RECORDS) for record in records):
            self._pass_cluster_metadata()

    def _change_callback(self) -> None:
        """Use another class; if it cannot be loaded, the current one stays."""
        before, self._class = self._class, self._configured_class()
        if self._class == before:
            return
        try:
            callback = self._callback()
        except Exception:  # noqa: BLE001 - users' code, and the change is already committed
            _log.exception("%s cannot be changed to %s", CALLBACK_CLASS, self._class)
            self._class = before
            return
        self.quotas.use(callback)
        if self.quotas.wants_cluster_metadata:
            self._pass_cluster_metadata()

    def _pass_cluster_metadata(self) -> None:
        self.quotas.update_cluster_metadata(_cluster_metadata(self._cluster, self._controller.image))

    def _apply(self, records: Sequence[Message]) -> None:
        for record in records:
            if isinstance(record, ClientQuotaRecord):
                self.quotas.apply(record)


def _windows(configuration: BrokerConfiguration, prefix: str) -> QuotaWindows:
    seconds = configuration.integer(f"{prefix}.size.seconds")
    return QuotaWindows(configuration.integer(f"{prefix}.num"), seconds * 1000)


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
