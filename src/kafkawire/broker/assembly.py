"""Puts the parts of a broker together that answer requests. A new handler needs a line in `HANDLERS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Final, NamedTuple

from kafkawire.broker.authorization import Authorization
from kafkawire.broker.clock import Clock
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.delegation_tokens import DelegationTokens
from kafkawire.broker.dispatch import Dispatcher
from kafkawire.broker.faults.capped_versions import CappedVersions
from kafkawire.broker.faults.faults import Faults
from kafkawire.broker.groups.by_kind import GroupsByKind, groups_by_kind
from kafkawire.broker.groups.expiry import OffsetExpiry
from kafkawire.broker.groups.members import GroupMembers
from kafkawire.broker.handlers.acls import AclHandlers
from kafkawire.broker.handlers.brokers import BrokerHandlers
from kafkawire.broker.handlers.cluster import ClusterHandlers
from kafkawire.broker.handlers.config_alterations import ConfigAlterationHandlers
from kafkawire.broker.handlers.config_descriptions import ConfigDescriptionHandlers
from kafkawire.broker.handlers.consumer_groups import ConsumerGroupHandlers
from kafkawire.broker.handlers.context import HandlerContext, Handlers
from kafkawire.broker.handlers.delegation_tokens import DelegationTokenHandlers
from kafkawire.broker.handlers.delete_records import DeleteRecordsHandlers
from kafkawire.broker.handlers.elections import ElectionHandlers
from kafkawire.broker.handlers.features import FeatureHandlers
from kafkawire.broker.handlers.fetch import FetchHandlers
from kafkawire.broker.handlers.group_members import GroupMemberHandlers
from kafkawire.broker.handlers.group_offsets import GroupOffsetHandlers
from kafkawire.broker.handlers.groups import GroupHandlers
from kafkawire.broker.handlers.leader_epochs import LeaderEpochHandlers
from kafkawire.broker.handlers.list_offsets import ListOffsetsHandlers
from kafkawire.broker.handlers.log_dirs import LogDirHandlers
from kafkawire.broker.handlers.metadata import MetadataHandlers
from kafkawire.broker.handlers.produce import ProduceHandlers
from kafkawire.broker.handlers.producers import ProducerHandlers
from kafkawire.broker.handlers.quorum import QuorumHandlers
from kafkawire.broker.handlers.quota_proposals import QuotaProposalHandlers
from kafkawire.broker.handlers.quotas import QuotaHandlers
from kafkawire.broker.handlers.reassignments import ReassignmentHandlers
from kafkawire.broker.handlers.sasl import SaslHandlers
from kafkawire.broker.handlers.scram_users import ScramHandlers
from kafkawire.broker.handlers.share_acknowledgements import ShareAcknowledgeHandlers
from kafkawire.broker.handlers.share_fetch import ShareFetchHandlers
from kafkawire.broker.handlers.share_group_offsets import ShareGroupOffsetHandlers
from kafkawire.broker.handlers.share_groups import ShareGroupHandlers
from kafkawire.broker.handlers.share_states import ShareStateHandlers
from kafkawire.broker.handlers.streams_groups import StreamsGroupHandlers
from kafkawire.broker.handlers.topic_partitions import TopicPartitionHandlers
from kafkawire.broker.handlers.topics import TopicHandlers
from kafkawire.broker.handlers.transaction_offsets import TransactionOffsetHandlers
from kafkawire.broker.handlers.transaction_states import TransactionStateHandlers
from kafkawire.broker.handlers.transactions import TransactionHandlers
from kafkawire.broker.opened_state import OpenedState
from kafkawire.broker.partitions.cleaner import RecordCleaner
from kafkawire.broker.partitions.producer_ids import ProducerIds
from kafkawire.broker.partitions.topic_rules import RulesOfTopics
from kafkawire.broker.plugins.alter_config_policy import AlterConfigPolicy
from kafkawire.broker.plugins.create_topic_policy import CreateTopicPolicy
from kafkawire.broker.plugins.loading import plugged_in
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.broker.request_log import RequestLog
from kafkawire.broker.request_work import RequestWork
from kafkawire.broker.resource_configs.alterations import ConfigAlterations
from kafkawire.broker.resource_configs.loggers import BrokerLoggers
from kafkawire.broker.served_apis import offered_versions
from kafkawire.broker.shares.live_shares import LiveShares
from kafkawire.broker.shares.settings import ShareSettings
from kafkawire.broker.topics.creation import TopicCreation
from kafkawire.broker.transactions.live_transactions import Transactions
from kafkawire.broker.transactions.markers import MarkerWriter
from kafkawire.broker.transactions.settings import TransactionSettings
from kafkawire.broker.version_tables import VersionTable
from kafkawire.model.configs.resources import ConfigResourceType

HANDLERS: Final[Sequence[Callable[[HandlerContext], Handlers]]] = (
    AclHandlers,
    BrokerHandlers,
    ClusterHandlers,
    ConfigAlterationHandlers,
    ConfigDescriptionHandlers,
    ConsumerGroupHandlers,
    DelegationTokenHandlers,
    DeleteRecordsHandlers,
    ElectionHandlers,
    FeatureHandlers,
    FetchHandlers,
    GroupHandlers,
    GroupMemberHandlers,
    GroupOffsetHandlers,
    LeaderEpochHandlers,
    ListOffsetsHandlers,
    LogDirHandlers,
    MetadataHandlers,
    ProduceHandlers,
    ProducerHandlers,
    QuorumHandlers,
    QuotaHandlers,
    QuotaProposalHandlers,
    ReassignmentHandlers,
    SaslHandlers,
    ScramHandlers,
    ShareGroupHandlers,
    ShareGroupOffsetHandlers,
    ShareAcknowledgeHandlers,
    ShareFetchHandlers,
    ShareStateHandlers,
    StreamsGroupHandlers,
    TopicHandlers,
    TopicPartitionHandlers,
    TransactionHandlers,
    TransactionOffsetHandlers,
    TransactionStateHandlers,
)
"""The handlers of all families of APIs."""


class Assembled(NamedTuple):
    """The parts of a broker that answer requests.

    Attributes:
        dispatcher: has all handlers.
        creation: creates topics.
        groups: of all kinds.
        expiry: deletes offsets and groups that are not used.
        cleaner: deletes and compacts records.
        transactions: the transactions.
        tokens: the delegation tokens.
        quotas: the client quotas.
        shares: the share partitions.
        state: the opened state.
    """

    dispatcher: Dispatcher
    creation: TopicCreation
    groups: GroupsByKind
    expiry: OffsetExpiry
    cleaner: RecordCleaner
    transactions: Transactions
    tokens: DelegationTokens
    quotas: ClientQuotas
    shares: LiveShares
    state: OpenedState

    def begin(self, resources: AsyncExitStack) -> None:
        """Begin the work in the background; it ends when the broker stops."""
        for work in (self.cleaner, self.expiry, self.tokens):
            work.begin()
            resources.push_async_callback(work.end)

    async def settled(self) -> None:
        """Wait until what was due by the broker's clock is done, and durable.

        Raises:
            StorageError: a write failed.
        """
        await self.groups.settled()
        await self.transactions.settled()
        await self.shares.settled()
        await self.expiry.settled()
        await self.cleaner.settled()
        await self.state.settled()

    def load(self) -> None:
        """Begin the sessions of all members and the timeouts of transactions, once the node leads."""
        self.groups.load()
        self.transactions.load()


def assemble(
    state: OpenedState,
    *,
    access: Authorization,
    quotas: ClientQuotas,
    faults: Faults,
    clock: Clock,
    received: RequestLog,
    resources: AsyncExitStack,
    table: VersionTable | None = None,
) -> Assembled:
    """The parts of a broker that answer requests.

    Args:
        state: the opened state of the cluster and of its groups.
        access: what sessions may do.
        quotas: the client quotas.
        faults: the faults that tests set.
        clock: the broker's.
        received: gets every request that is handled.
        resources: closes the policies when the broker stops.
        table: the versions of another release, which limit those that are offered.

    Raises:
        ConfigurationError: a policy class cannot be loaded.
    """
    configuration, controller, placement = state.configuration, state.controller, state.placement
    store, work = state.store, RequestWork()
    dynamic = DynamicConfiguration(configuration, controller.image.configs)
    state.coordinator.follow(controller)
    later_streams = table is not None and table.has_later_streams
    groups = groups_by_kind(state.coordinator, state.shares, controller, dynamic, clock, later_streams=later_streams)
    resources.push_async_callback(groups.close)
    expiry = OffsetExpiry(state.coordinator, groups, clock=clock, configuration=configuration)
    controller.subscribe(store.remove)
    resources.callback(work.close)
    loggers = BrokerLoggers()
    resources.callback(loggers.restore)
    alter_policy = plugged_in(configuration, "alter.config.policy.class.name", AlterConfigPolicy)
    create_policy = plugged_in(configuration, "create.topic.policy.class.name", CreateTopicPolicy)
    for policy in (alter_policy, create_policy):
        if policy is not None:
            resources.callback(policy.close)
            policy.configure(configuration.properties)
    alterations = ConfigAlterations(controller.image, dynamic, alter_policy, lambda: quotas.reconfigurable)
    rules = RulesOfTopics(dynamic, controller.image.configs)
    controller.subscribe(rules.forget)
    state.transactions.follow(controller)
    markers = MarkerWriter(controller, store, state.coordinator, rules, clock)
    producer_ids = ProducerIds(controller, state.cluster.node_id)
    settings = TransactionSettings.of(configuration)
    transactions = Transactions(state.transactions, markers, controller, producer_ids, clock=clock, settings=settings)
    resources.push_async_callback(transactions.close)
    state.shares.follow(controller)
    share_settings = ShareSettings(configuration, partial(controller.image.configs.of, ConfigResourceType.GROUP))
    shares = LiveShares(state.shares, store, controller, share_settings, clock)
    resources.push_async_callback(shares.close)
    served: dict[int, range] = {}
    context = HandlerContext(
        access=access,
        alterations=alterations,
        clock=clock,
        cluster=state.cluster,
        configuration=dynamic,
        confirm_transaction=transactions.confirm,
        controller=controller,
        coordinator=state.coordinator,
        creation=TopicCreation(controller, dynamic, alterations, placement, create_policy),
        group_members=GroupMembers(state.coordinator, groups),
        groups=groups,
        loggers=loggers,
        markers=markers,
        nodes=state.nodes,
        offered=CappedVersions(served, faults),
        placement=placement,
        producer_ids=producer_ids,
        quotas=quotas,
        rules=rules,
        shares=shares,
        store=store,
        table=table,
        tokens=DelegationTokens(configuration, controller, clock),
        transactions=transactions,
        work=work,
    )
    apis = [api for handlers in HANDLERS for api in handlers(context).apis]
    unstable = configuration.boolean("unstable.api.versions.enable")
    offered = offered_versions(apis, unstable=unstable, later=table is not None)
    served |= offered if table is None else table.limited(offered)
    dispatcher = Dispatcher(
        apis, context.offered, controller, quotas=quotas, faults=faults, clock=clock, work=work, received=received
    )
    cleaner = RecordCleaner(store, controller.image.topics, rules, dynamic, clock)
    store.on_append = cleaner.note_change
    controller.subscribe(lambda _: cleaner.note_change())
    return Assembled(
        dispatcher,
        context.creation,
        groups,
        expiry,
        cleaner,
        transactions,
        context.tokens,
        quotas,
        shares,
        state,
    )
