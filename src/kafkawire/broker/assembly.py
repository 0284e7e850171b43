"""Puts the parts of a broker together that answer requests. A new handler needs a line in `HANDLERS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Final, NamedTuple

from kafkawire.broker.authorization import Authorization
from kafkawire.broker.clock import Clock
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.dispatch import Dispatcher
from kafkawire.broker.faults import CappedVersions, Faults
from kafkawire.broker.groups.classic.live_groups import ClassicGroups
from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.handlers.acls import AclHandlers
from kafkawire.broker.handlers.cluster import ClusterHandlers
from kafkawire.broker.handlers.config_alterations import ConfigAlterationHandlers
from kafkawire.broker.handlers.config_descriptions import ConfigDescriptionHandlers
from kafkawire.broker.handlers.context import HandlerContext, Handlers
from kafkawire.broker.handlers.delete_records import DeleteRecordsHandlers
from kafkawire.broker.handlers.fetch import FetchHandlers
from kafkawire.broker.handlers.group_members import GroupMemberHandlers
from kafkawire.broker.handlers.group_offsets import GroupOffsetHandlers
from kafkawire.broker.handlers.groups import GroupHandlers
from kafkawire.broker.handlers.list_offsets import ListOffsetsHandlers
from kafkawire.broker.handlers.metadata import MetadataHandlers
from kafkawire.broker.handlers.produce import ProduceHandlers
from kafkawire.broker.handlers.quota_proposals import QuotaProposalHandlers
from kafkawire.broker.handlers.quotas import QuotaHandlers
from kafkawire.broker.handlers.sasl import SaslHandlers
from kafkawire.broker.handlers.scram_users import ScramHandlers
from kafkawire.broker.handlers.topic_partitions import TopicPartitionHandlers
from kafkawire.broker.handlers.topics import TopicHandlers
from kafkawire.broker.opened_state import OpenedState
from kafkawire.broker.partitions.cleaner import RecordCleaner
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
from kafkawire.broker.topics.creation import TopicCreation
from kafkawire.broker.version_tables import VersionTable

HANDLERS: Final[Sequence[Callable[[HandlerContext], Handlers]]] = (
    AclHandlers,
    ClusterHandlers,
    ConfigAlterationHandlers,
    ConfigDescriptionHandlers,
    DeleteRecordsHandlers,
    FetchHandlers,
    GroupHandlers,
    GroupMemberHandlers,
    GroupOffsetHandlers,
    ListOffsetsHandlers,
    MetadataHandlers,
    ProduceHandlers,
    QuotaHandlers,
    QuotaProposalHandlers,
    SaslHandlers,
    ScramHandlers,
    TopicHandlers,
    TopicPartitionHandlers,
)
"""The handlers of all families of APIs."""


class Assembled(NamedTuple):
    """The parts of a broker that answer requests.

    Attributes:
        dispatcher: has all handlers.
        creation: creates topics.
        classic_groups: the members of groups; to be loaded once the node leads.
        cleaner: deletes and compacts records.
    """

    dispatcher: Dispatcher
    creation: TopicCreation
    classic_groups: ClassicGroups
    cleaner: RecordCleaner


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
    state.coordinator.follow(controller)
    classic_groups = ClassicGroups(state.coordinator, clock, GroupSettings.of(configuration))
    resources.push_async_callback(classic_groups.close)
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
    dynamic = DynamicConfiguration(configuration, controller.image.configs)
    alterations = ConfigAlterations(controller.image, dynamic, alter_policy, lambda: quotas.reconfigurable)
    rules = RulesOfTopics(dynamic, controller.image.configs)
    controller.subscribe(rules.forget)
    served: dict[int, range] = {}
    context = HandlerContext(
        access=access,
        alterations=alterations,
        classic_groups=classic_groups,
        clock=clock,
        cluster=state.cluster,
        configuration=dynamic,
        controller=controller,
        coordinator=state.coordinator,
        creation=TopicCreation(controller, dynamic, alterations, placement, create_policy),
        loggers=loggers,
        nodes=state.nodes,
        offered=CappedVersions(served, faults),
        placement=placement,
        quotas=quotas,
        rules=rules,
        store=store,
        table=table,
        work=work,
    )
    apis = [api for handlers in HANDLERS for api in handlers(context).apis]
    offered = offered_versions(apis, unstable=configuration.boolean("unstable.api.versions.enable"))
    served |= offered if table is None else table.limited(offered)
    dispatcher = Dispatcher(
        apis, context.offered, controller, quotas=quotas, faults=faults, clock=clock, work=work, received=received
    )
    cleaner = RecordCleaner(store, controller.image.topics, rules, dynamic, clock)
    return Assembled(dispatcher, context.creation, classic_groups, cleaner)
