"""Applies changes of the cluster's state to the quotas."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from kafkawire.broker.clock import Clock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.controller import Controller
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.broker.nodes import Nodes
from kafkawire.broker.plugins.client_quota_callback import CALLBACK_CLASS, ClientQuotaCallback
from kafkawire.broker.plugins.cluster_metadata import ClusterMetadata, ClusterNode, PartitionMetadata
from kafkawire.broker.plugins.loading import load
from kafkawire.broker.plugins.reconfigurable import needs_reconfiguration
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.broker.quotas.rate import QuotaWindows
from kafkawire.model.topics import INTERNAL_TOPICS
from kafkawire.protocol import (
    BrokerRegistrationChangeRecord,
    ClientQuotaRecord,
    ConfigRecord,
    FenceBrokerRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kafkawire.wire import Message

_BROKER: Final = 4
_ALL_BROKERS: Final = (_BROKER, "")
_CLUSTER_RECORDS: Final = (
    TopicRecord,
    PartitionRecord,
    PartitionChangeRecord,
    RemoveTopicRecord,
    RegisterBrokerRecord,
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
_log = logging.getLogger(__name__)


class QuotaUpdates:
    """Makes the quotas from the configuration and the metadata, and updates them with each commit.

    Args:
        configuration: of the broker.
        controller: has quotas and topics, and reports changes.
        cluster: the node and its listeners.
        nodes: the brokers that clients see.
        clock: the broker's.

    Attributes:
        quotas: the quotas.

    Raises:
        ConfigurationError: the callback class cannot be loaded.
    """

    def __init__(
        self, configuration: BrokerConfiguration, controller: Controller, cluster: Cluster, nodes: Nodes, clock: Clock
    ) -> None:
        self._configuration = DynamicConfiguration(configuration, controller.image.configs)
        self._texts: Mapping[str, str] = configuration.properties
        self._controller = controller
        self._cluster = cluster
        self._nodes = nodes
        self._has_passed_metadata = False
        self._class = self._configured_class()
        self.quotas = ClientQuotas(
            clock,
            windows=_windows(configuration, "quota.window"),
            mutation_windows=_windows(configuration, "controller.quota.window"),
            callback=self._callback(),
        )
        self._apply(tuple(controller.image.client_quotas.records()))
        self._reconfigure()
        controller.subscribe_to_commits(self._apply_commit)

    def _configured_class(self) -> str:
        set_while_running = self._controller.image.configs.of(*_ALL_BROKERS).get(CALLBACK_CLASS)
        return self._configuration.static.text(CALLBACK_CLASS) if set_while_running is None else set_while_running

    def _callback(self) -> ClientQuotaCallback | None:
        if not self._class:
            return None
        callback = load(self._class, ClientQuotaCallback, CALLBACK_CLASS)
        callback.configure({**self._configuration.static.properties, CALLBACK_CLASS: self._class})
        self._texts = self._configuration.static.properties
        return callback

    def _apply_commit(self, records: Sequence[Message]) -> None:
        if any(isinstance(record, ConfigRecord) and record.name == CALLBACK_CLASS for record in records):
            self._change_callback()
        if any(isinstance(record, ConfigRecord) and record.resource_type == _BROKER for record in records):
            self._reconfigure()
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

    def begin(self) -> None:
        """Pass the cluster to the callback, if the start of the broker has not changed it."""
        if self.quotas.wants_cluster_metadata and not self._has_passed_metadata:
            self._pass_cluster_metadata()

    def _pass_cluster_metadata(self) -> None:
        self._has_passed_metadata = True
        self.quotas.update_cluster_metadata(
            _cluster_metadata(self._cluster, self._nodes, self._controller.image.topics)
        )

    def _reconfigure(self) -> None:
        """Pass changed configurations to a callback that wants them; a change of them is already committed."""
        before, self._texts = self._texts, self._configuration.texts()
        callback = self.quotas.reconfigurable
        if callback is None:
            return
        try:
            if needs_reconfiguration(callback, before, self._texts):
                callback.validate_reconfiguration(self._texts)
                callback.reconfigure(self._texts)
        except Exception:  # noqa: BLE001 - users' code
            _log.exception("%s cannot use its changed configuration", self._class)

    def _apply(self, records: Sequence[Message]) -> None:
        for record in records:
            if isinstance(record, ClientQuotaRecord):
                self.quotas.apply(record)


def _windows(configuration: BrokerConfiguration, prefix: str) -> QuotaWindows:
    seconds = configuration.integer(f"{prefix}.size.seconds")
    return QuotaWindows(configuration.integer(f"{prefix}.num"), seconds * 1000)


def _cluster_metadata(cluster: Cluster, nodes: Nodes, topics: TopicsImage) -> ClusterMetadata:
    live = tuple(ClusterNode(node.node_id, node.host, node.port, node.rack) for node in nodes.live())
    return ClusterMetadata(
        cluster.cluster_id,
        live,
        {
            topic.name: tuple(
                PartitionMetadata(
                    topic.name,
                    number,
                    partition.leader,
                    tuple(partition.replicas),
                    tuple(partition.isr),
                    nodes.offline(partition.replicas),
                )
                for number, partition in topic.partitions.items()
            )
            for topic in topics.by_name.values()
        },
        {topic.name: topic.topic_id for topic in topics.by_name.values()},
        INTERNAL_TOPICS & topics.by_name.keys(),
        next((node for node in live if node.node_id == cluster.node_id), None),
    )
