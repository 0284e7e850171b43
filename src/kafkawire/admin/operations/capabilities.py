"""The methods of this client that each node supports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkawire import protocol
from kafkawire.admin.engine.operation import Outcomes, Request
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import Capability, Requirements, capabilities_of, needs, requirements_of
from kafkawire.admin.operations.cluster import DescribeCluster
from kafkawire.admin.operations.every_node import OfNodes
from kafkawire.admin.results import Results
from kafkawire.admin.settings import SOFTWARE_NAME, software_version
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message


class DescribeCapabilities(OfNodes[Mapping[str, Capability], "protocol.ApiVersionsResponse"]):
    """Sends ApiVersions again, since a node may have been upgraded."""

    name = "capabilities"
    api = ApiKey.API_VERSIONS
    on_controllers = True

    def __init__(self, requirements: Mapping[str, Requirements], *, controllers: bool, proposals: bool) -> None:
        self._requirements = requirements
        self._controllers = controllers
        self._proposals = proposals

    def build(self, request: Request[int]) -> Message:
        return protocol.ApiVersionsRequest(SOFTWARE_NAME, software_version())

    def read(
        self, request: Request[int], response: protocol.ApiVersionsResponse
    ) -> Outcomes[int, Mapping[str, Capability]]:
        from kafkawire.admin.connection.versions import BrokerVersions  # noqa: PLC0415 needed once connected

        found = capabilities_of(
            self._requirements,
            BrokerVersions.of(response),
            controller=self._controllers,
            proposals=self._proposals,
        )
        return dict.fromkeys(request.items, found)


class CapabilityOperations(OperationFamily):
    """The capabilities of nodes."""

    @needs(DescribeCapabilities)
    async def capabilities(
        self, nodes: Iterable[int] | None = None, *, timeout: float | None = None
    ) -> Results[int, Mapping[str, Capability]]:
        """Which methods of this client each node supports, and by which version of which API.

        `kafkawire.admin.requirements.REQUIREMENTS` has, for the same methods, the rights that they need.

        Args:
            nodes: ids of the nodes; None for all that are live.
            timeout: see `AdminClient`.

        Returns:
            Node id to its `Capability` for each method, or to its error.

        Raises:
            KafkaError: if ``nodes`` is None and no node lists the nodes.

        Example:
            ```python
            for node, methods in (await admin.capabilities()).all().items():
                missing = [name for name, capability in methods.items() if capability.support is Support.UNSUPPORTED]
                print("node", node, "cannot", ", ".join(missing))
            ```
        """
        deadline = self._deadline(timeout)
        controllers = self._cluster.kind == "controllers"
        if nodes is None:
            describe = DescribeCluster(controllers=controllers, authorized=False, fenced=False)
            cluster = (await self._until(deadline, describe, (None,)))[None]
            nodes = [member.node.id for member in cluster.nodes]
        operation = DescribeCapabilities(
            requirements_of(type(self)), controllers=controllers, proposals=self._cluster.settings.proposals
        )
        return await self._until(deadline, operation, nodes)
