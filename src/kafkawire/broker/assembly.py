"""What answers requests, with all that it needs."""

from __future__ import annotations

from collections.abc import Mapping

from kafkawire.broker.access import Access, UnrestrictedAccess
from kafkawire.broker.calls import Routes
from kafkawire.broker.clock import Clock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.dispatch import Dispatcher
from kafkawire.broker.faults import CappedVersions, Faults
from kafkawire.broker.handlers.acls import AclHandlers
from kafkawire.broker.handlers.cluster import ClusterHandlers
from kafkawire.broker.handlers.fetch import FetchHandlers
from kafkawire.broker.handlers.group_offsets import GroupOffsetHandlers
from kafkawire.broker.handlers.groups import GroupHandlers
from kafkawire.broker.handlers.list_offsets import ListOffsetsHandlers
from kafkawire.broker.handlers.produce import ProduceHandlers
from kafkawire.broker.handlers.quota_proposals import QuotaProposalHandlers
from kafkawire.broker.handlers.quotas import QuotaHandlers
from kafkawire.broker.handlers.scram import ScramHandlers
from kafkawire.broker.offered_versions import offered_versions
from kafkawire.broker.opened_state import OpenedState
from kafkawire.broker.partitions.producer_ids import ProducerIds
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.partitions.topic_demands import TopicDemands
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.protocol import ApiVersionsRequest, DescribeClusterRequest

__all__ = ["assemble"]


def assemble(
    configuration: BrokerConfiguration,
    state: OpenedState,
    cluster: Cluster,
    *,
    quotas: ClientQuotas,
    faults: Faults,
    clock: Clock,
) -> Dispatcher:
    """A dispatcher with the handlers of all families.

    Raises:
        ConfigurationError: a plug-in cannot be had.
    """
    controller = state.controller
    state.coordinator.follow(controller)
    access: Access = UnrestrictedAccess()
    routes: Routes = {
        **AclHandlers(controller, access).routes,
        **ScramHandlers(controller, access).routes,
        **QuotaHandlers(controller, access).routes,
        **QuotaProposalHandlers(controller, access).routes,
        **GroupHandlers(cluster, state.coordinator, access).routes,
        **GroupOffsetHandlers(controller.image, state.coordinator, access, clock).routes,
        **_data_routes(DynamicConfiguration(configuration, controller.image.configs), state, access, quotas, clock),
    }
    offered: Mapping[int, range] = CappedVersions(
        offered_versions(
            (*routes, ApiVersionsRequest, DescribeClusterRequest),
            unstable=configuration.boolean("unstable.api.versions.enable"),
        ),
        faults,
    )
    routes = {**routes, **ClusterHandlers(cluster, offered).routes}
    return Dispatcher(routes, offered, controller, quotas=quotas, faults=faults, clock=clock)


def _data_routes(
    configuration: DynamicConfiguration, state: OpenedState, access: Access, quotas: ClientQuotas, clock: Clock
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
    )
    return {
        **producing.routes,
        **FetchHandlers(topics, store, access, quotas.fetch, clock).routes,
        **ListOffsetsHandlers(topics, store, access).routes,
    }
