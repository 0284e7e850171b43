"""The APIs that each node serves, and the methods of this client that it supports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kafkawire import protocol
from kafkawire.admin.engine.operation import Outcomes, Request, V
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import Capability, Requirements, capabilities_of, needs, requirements_of
from kafkawire.admin.operations.cluster import DescribeCluster
from kafkawire.admin.operations.every_node import OfNodes
from kafkawire.admin.results import Results
from kafkawire.admin.settings import SOFTWARE_NAME, SOFTWARE_VERSION
from kafkawire.model.cluster import ServedApi
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.wire import Message


class _AskVersions(OfNodes[V, "protocol.ApiVersionsResponse"]):
    """Sends ApiVersions again, since a node may have been upgraded."""

    api = ApiKey.API_VERSIONS
    on_controllers = True

    def build(self, request: Request[int]) -> Message:
        return protocol.ApiVersionsRequest(SOFTWARE_NAME, SOFTWARE_VERSION)


class DescribeCapabilities(_AskVersions[Mapping[str, Capability]]):
    """What the answer means for each method."""

    name = "capabilities"

    def __init__(self, requirements: Mapping[str, Requirements], *, controllers: bool, proposals: bool) -> None:
        self._requirements = requirements
        self._controllers = controllers
        self._proposals = proposals

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


class DescribeApiVersions(_AskVersions[tuple[ServedApi, ...]]):
    """The answer itself."""

    name = "describe_api_versions"

    def __init__(self, *, proposals: bool) -> None:
        self._proposals = proposals

    def read(
        self, request: Request[int], response: protocol.ApiVersionsResponse
    ) -> Outcomes[int, tuple[ServedApi, ...]]:
        return dict.fromkeys(request.items, tuple(sorted(self._served(response), key=lambda served: served.key)))

    def _served(self, response: protocol.ApiVersionsResponse) -> Iterator[ServedApi]:
        from kafkawire.admin.connection.spoken_versions import spoken_versions  # noqa: PLC0415 needed once connected

        for each in response.api_keys:
            api = APIS.get(each.api_key)
            try:
                spoken = range(0) if api is None else spoken_versions(api, unstable=self._proposals)
            except LookupError:  # this client sends no request of the API
                spoken = range(0)
            used = min(each.max_version, spoken.stop - 1)
            is_common = used >= max(each.min_version, spoken.start)
            name = None if api is None else api.name
            yield ServedApi(each.api_key, name, each.min_version, each.max_version, used if is_common else None)


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
        operation = DescribeCapabilities(
            requirements_of(type(self)), controllers=self._of_controllers, proposals=self._cluster.settings.proposals
        )
        return await self._until(deadline, operation, await self._live(deadline, nodes))

    @needs(DescribeApiVersions)
    async def describe_api_versions(
        self, nodes: Iterable[int] | None = None, *, timeout: float | None = None
    ) -> Results[int, tuple[ServedApi, ...]]:
        """Which APIs each node serves, in which versions, and which version this client uses.

        Args:
            nodes: ids of the nodes; None for all that are live.
            timeout: see `AdminClient`.

        Returns:
            Node id to the APIs by their keys, or to its error.

        Raises:
            KafkaError: if ``nodes`` is None and no node lists the nodes.

        Example:
            ```python
            for node, apis in (await admin.describe_api_versions()).all().items():
                unknown = [api.key for api in apis if api.name is None]
                print("node", node, "serves", len(apis), "APIs; newer than this client:", unknown)
            ```
        """
        deadline = self._deadline(timeout)
        operation = DescribeApiVersions(proposals=self._cluster.settings.proposals)
        return await self._until(deadline, operation, await self._live(deadline, nodes))

    @property
    def _of_controllers(self) -> bool:
        return self._cluster.kind == "controllers"

    async def _live(self, deadline: float, nodes: Iterable[int] | None) -> Iterable[int]:
        """The nodes, or with None all that are live."""
        if nodes is not None:
            return nodes
        describe = DescribeCluster(controllers=self._of_controllers, authorized=False, fenced=False)
        cluster = (await self._until(deadline, describe, (None,)))[None]
        return [member.node.id for member in cluster.nodes]
