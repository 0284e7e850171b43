"""What handlers work with, and how they declare the APIs that they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kafkawire.broker.authorization import Authorization
from kafkawire.broker.clock import Clock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.controller import Controller
from kafkawire.broker.delegation_tokens import DelegationTokens
from kafkawire.broker.groups.by_kind import GroupsByKind
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.members import GroupMembers
from kafkawire.broker.nodes import Nodes
from kafkawire.broker.partitions.producer_ids import ProducerIds
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.partitions.topic_rules import RulesOfTopics
from kafkawire.broker.partitions.verifications import ConfirmTransaction
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.broker.request_work import RequestWork
from kafkawire.broker.resource_configs.alterations import ConfigAlterations
from kafkawire.broker.resource_configs.loggers import BrokerLoggers
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.shares.live_shares import LiveShares
from kafkawire.broker.topics.creation import TopicCreation
from kafkawire.broker.topics.placement import Placement
from kafkawire.broker.transactions.live_transactions import Transactions
from kafkawire.broker.transactions.markers import MarkerWriter
from kafkawire.broker.version_tables import VersionTable


@dataclass(frozen=True, slots=True)
class HandlerContext:
    """The parts of a broker that handlers use.

    Attributes:
        access: what sessions may do.
        alterations: validates changes of configurations and makes their records.
        clock: the broker's.
        cluster: the one node and its listeners.
        confirm_transaction: asks the transaction coordinator about writes.
        configuration: the broker's properties, with the changes made while it runs.
        controller: the state of the cluster, and the only place that changes it.
        coordinator: the groups and their offsets.
        creation: creates topics.
        group_members: members of groups with the classic protocol.
        groups: of all kinds.
        loggers: the log levels of this process.
        markers: writes the markers that end transactions.
        nodes: the brokers that clients see.
        offered: API key to the versions that clients are offered.
        placement: where new partitions go.
        producer_ids: allocates ids for idempotent and transactional producers.
        quotas: the client quotas.
        rules: the rules of topics for their records.
        shares: the share partitions, and the sessions of members of share groups.
        store: the records of all partitions.
        table: the release as which the broker answers ApiVersions; None for that of the package.
        tokens: the delegation tokens.
        transactions: the transactional ids and their transactions.
        work: a thread for work that would block the event loop.
    """

    access: Authorization
    alterations: ConfigAlterations
    clock: Clock
    cluster: Cluster
    confirm_transaction: ConfirmTransaction
    configuration: DynamicConfiguration
    controller: Controller
    coordinator: GroupCoordinator
    creation: TopicCreation
    group_members: GroupMembers
    groups: GroupsByKind
    loggers: BrokerLoggers
    markers: MarkerWriter
    nodes: Nodes
    offered: Mapping[int, range]
    placement: Placement
    producer_ids: ProducerIds
    quotas: ClientQuotas
    rules: RulesOfTopics
    shares: LiveShares
    store: RecordStore
    table: VersionTable | None
    tokens: DelegationTokens
    transactions: Transactions
    work: RequestWork


class Handlers(Protocol):
    """The handlers of one family of APIs; the class is called with a `HandlerContext`."""

    @property
    def apis(self) -> Sequence[ServedApi]:
        """The APIs that they answer."""
