"""What answers requests, with all that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack

from kafkawire.broker.access import Access
from kafkawire.broker.calls import Routes
from kafkawire.broker.clock import Clock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.dispatch import Dispatcher
from kafkawire.broker.faults import CappedVersions, Faults
from kafkawire.broker.handlers.acls import AclHandlers
from kafkawire.broker.handlers.cluster import ClusterHandlers
from kafkawire.broker.handlers.config_alterations import ConfigAlterationHandlers
from kafkawire.broker.handlers.config_descriptions import ConfigDescriptionHandlers
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
from kafkawire.broker.handlers.scram import ScramHandlers
from kafkawire.broker.handlers.topic_partitions import TopicPartitionHandlers
from kafkawire.broker.handlers.topics import TopicHandlers
from kafkawire.broker.offered_versions import offered_versions
from kafkawire.broker.opened_state import OpenedState
from kafkawire.broker.partitions.producer_ids import ProducerIds
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.partitions.topic_demands import TopicDemands
from kafkawire.broker.plugins.alter_config_policy import AlterConfigPolicy
from kafkawire.broker.plugins.create_topic_policy import CreateTopicPolicy
from kafkawire.broker.plugins.loading import plugged_in
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.broker.request_work import RequestWork
from kafkawire.broker.resource_configs.alterations import ConfigAlterations
from kafkawire.broker.resource_configs.descriptions import ConfigDescriptions
from kafkawire.broker.resource_configs.loggers import BrokerLoggers
from kafkawire.broker.topics.automatic_creation import AutomaticCreation
from kafkawire.broker.topics.creation import TopicCreation
from kafkawire.broker.topics.deletion import TopicDeletion
from kafkawire.broker.topics.growth import TopicGrowth
from kafkawire.broker.topics.placement import Placement
from kafkawire.broker.unserved_clients import UnservedClients
from kafkawire.protocol import ApiVersionsRequest, DescribeClusterRequest

__all__ = ["assemble"]


def assemble(
    configuration: BrokerConfiguration,
    state: OpenedState,
    cluster: Cluster,
    *,
    access: Access,
    quotas: ClientQuotas,
    faults: Faults,
    clock: Clock,
    resources: AsyncExitStack,
) -> Dispatcher:
    """A dispatcher with the handlers of all families.

    Args:
        configuration: what the broker was started with.
        state: what it remembers.
        cluster: who it is.
        access: who may do what.
        quotas: who may use how much.
        faults: what goes wrong on purpose.
        clock: the broker's.
        resources: closes the policies when the broker stops.

    Raises:
        ConfigurationError: a plug-in cannot be had.
    """
    controller = state.controller
    state.coordinator.follow(controller)
    dynamic = DynamicConfiguration(configuration, controller.image.configs)
    unserved, work = UnservedClients(), RequestWork()
    resources.callback(work.close)
    routes: Routes = {
        **AclHandlers(controller, access).routes,
        **ScramHandlers(controller, access).routes,
        **SaslHandlers().routes,
        **QuotaHandlers(controller, access).routes,
        **QuotaProposalHandlers(controller, access).routes,
        **GroupHandlers(cluster, state.coordinator, access).routes,
        **GroupMemberHandlers(access, unserved).routes,
        **GroupOffsetHandlers(controller.image, state.coordinator, access, clock).routes,
        **_data_routes(dynamic, state, access, quotas, clock=clock, unserved=unserved, work=work),
        **_topic_routes(dynamic, state, cluster, access=access, quotas=quotas, resources=resources),
    }
    offered: Mapping[int, range] = CappedVersions(
        offered_versions(
            (*routes, ApiVersionsRequest, DescribeClusterRequest),
            unstable=configuration.boolean("unstable.api.versions.enable"),
        ),
        faults,
    )
    routes = {**routes, **ClusterHandlers(cluster, offered, controller, access).routes}
    return Dispatcher(routes, offered, controller, quotas=quotas, faults=faults, clock=clock, work=work)


def _topic_routes(
    configuration: DynamicConfiguration,
    state: OpenedState,
    cluster: Cluster,
    *,
    access: Access,
    quotas: ClientQuotas,
    resources: AsyncExitStack,
) -> Routes:
    """What is about topics and configurations."""
    controller = state.controller
    image = controller.image
    alter_policy = plugged_in(configuration.static, "alter.config.policy.class.name", AlterConfigPolicy)
    create_policy = plugged_in(configuration.static, "create.topic.policy.class.name", CreateTopicPolicy)
    for policy in (alter_policy, create_policy):
        if policy is not None:
            resources.callback(policy.close)
            policy.configure(configuration.static.properties)
    placement = Placement(cluster.node_id, state.directory_id)
    alterations = ConfigAlterations(image, configuration, alter_policy)
    descriptions = ConfigDescriptions(configuration, image.configs)
    creation = TopicCreation(controller, configuration, alterations, placement, create_policy)
    automatic = AutomaticCreation(creation, configuration)
    topics = TopicHandlers(
        creation,
        TopicDeletion(controller, access),
        TopicGrowth(controller, placement),
        descriptions=descriptions,
        access=access,
        mutations=quotas.mutations,
        configuration=configuration,
    )
    loggers = BrokerLoggers()
    return {
        **topics.routes,
        **MetadataHandlers(cluster, image.topics, automatic, access, quotas.mutations).routes,
        **TopicPartitionHandlers(cluster, image.topics, access, configuration).routes,
        **ConfigDescriptionHandlers(image, cluster.node_id, descriptions, loggers, access).routes,
        **ConfigAlterationHandlers(controller, cluster.node_id, alterations, loggers, access).routes,
    }


def _data_routes(
    configuration: DynamicConfiguration,
    state: OpenedState,
    access: Access,
    quotas: ClientQuotas,
    *,
    clock: Clock,
    unserved: UnservedClients,
    work: RequestWork,
) -> Routes:
    """What is about records, which are gone with their topic."""
    controller, store = state.controller, RecordStore()
    topics = controller.image.topics
    controller.subscribe(store.remove)
    producing = ProduceHandlers(
        controller,
        store,
        demands=TopicDemands(controller.image.configs, configuration),
        producer_ids=ProducerIds(controller, configuration.static.integer("node.id")),
        access=access,
        rates=quotas.produce,
        clock=clock,
        unserved=unserved,
        work=work,
    )
    return {
        **producing.routes,
        **FetchHandlers(topics, store, access, quotas.fetch, clock).routes,
        **ListOffsetsHandlers(topics, store, access).routes,
    }
