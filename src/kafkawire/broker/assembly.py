"""What answers requests, with all that it needs."""

from __future__ import annotations

from collections.abc import Mapping

from kafkawire.broker.access import Access, UnrestrictedAccess
from kafkawire.broker.calls import Routes
from kafkawire.broker.clock import Clock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.dispatch import Dispatcher
from kafkawire.broker.faults import CappedVersions, Faults
from kafkawire.broker.handlers.acls import AclHandlers
from kafkawire.broker.handlers.cluster import ClusterHandlers
from kafkawire.broker.handlers.group_offsets import GroupOffsetHandlers
from kafkawire.broker.handlers.groups import GroupHandlers
from kafkawire.broker.handlers.scram import ScramHandlers
from kafkawire.broker.offered_versions import offered_versions
from kafkawire.broker.opened_state import OpenedState
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.protocol import ApiVersionsRequest, DescribeClusterRequest

__all__ = ["assemble"]


def assemble(
    configuration: BrokerConfiguration, state: OpenedState, cluster: Cluster, faults: Faults, clock: Clock
) -> Dispatcher:
    """A dispatcher with the handlers of all families.

    Raises:
        ConfigurationError: a plug-in cannot be had.
    """
    controller = state.controller
    access: Access = UnrestrictedAccess()
    quotas = ClientQuotas(clock)
    routes: Routes = {
        **AclHandlers(controller, access).routes,
        **ScramHandlers(controller, access).routes,
        **GroupHandlers(cluster, state.coordinator, access).routes,
        **GroupOffsetHandlers(controller.image, state.coordinator, access, clock).routes,
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
