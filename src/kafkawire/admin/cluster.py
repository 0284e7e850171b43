"""The state of the cluster in the client: its nodes and its controller, and how they are found (admin-bootstrap).

Bootstrap addresses are nodes with negative ids until the first answer names the real ones. They stay known: when
no node can be reached any more, the client starts over from them (KIP-899).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from kafkawire import protocol
from kafkawire.admin.backoff import chance
from kafkawire.admin.event_loop import now, retrieve, shared
from kafkawire.admin.first_versions import CLUSTER_ALONE_SINCE, first_version, metadata_request
from kafkawire.admin.pool import ConnectionPool, Link
from kafkawire.admin.settings import AdminSettings
from kafkawire.model.nodes import Node
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import (
    MismatchedEndpointTypeError,
    NotControllerError,
    RebootstrapRequiredError,
    UnsupportedEndpointTypeError,
    UnsupportedVersionError,
    error_of,
)
from kafkawire.wire.kafka_errors import (
    ClosedError,
    ConnectionFailedError,
    ConnectionImpossibleError,
    KafkaError,
    UnresolvedHostError,
)

Kind: TypeAlias = Literal["brokers", "controllers"]
"""The kind of the bootstrap addresses: brokers, or the controllers themselves (KIP-919)."""

_NODES_NAMED = 5
"""How many unreachable nodes an error lists."""

_SECONDS_WITHOUT_NAMES = 5.0
"""How long the bootstrap names are looked up again if the resolver has no answer for now.

Resolvers of containers say this of names that do not exist, too. The network of a machine that starts is there sooner.
"""

_CONTROLLER_ENDPOINTS = 2
"""DescribeCluster's endpoint type for controllers."""

_log = logging.getLogger(__name__)


class Cluster:
    """The nodes of a cluster.

    Args:
        bootstrap: the bootstrap addresses.
        kind: their kind.
        pool: connections.
        settings: the client's.
    """

    def __init__(self, bootstrap: Sequence[Node], kind: Kind, pool: ConnectionPool, settings: AdminSettings) -> None:
        self.kind = kind
        self.pool = pool
        self.settings = settings
        self.cluster_id: str | None = None
        self._bootstrap = tuple(bootstrap)
        self._nodes: dict[int, Node] = {}
        self._controller_id: int | None = None
        self._refreshed_at = float("-inf")
        self._refreshing: asyncio.Task[None] | None = None
        self._doubted: set[int] = set()
        self._was_reached = False
        self._failures: dict[str, str] = {}
        self._without_names_since: float | None = None

    def __str__(self) -> str:
        """The bootstrap addresses and what was found there."""
        if not self._nodes:
            return f"{self.addresses}, not connected yet"
        count = f"{len(self._nodes)} node{'' if len(self._nodes) == 1 else 's'}"
        return f"{self.addresses}, cluster {self.cluster_id or 'without id'}, {count}"

    @property
    def addresses(self) -> str:
        """The first bootstrap addresses, and the number of the others."""
        addresses = ",".join(node.address for node in self._bootstrap[:_NODES_NAMED])
        more = f" and {len(self._bootstrap) - _NODES_NAMED} more" if len(self._bootstrap) > _NODES_NAMED else ""
        return f"{addresses}{more}"

    async def nodes(self, deadline: float) -> tuple[Node, ...]:
        """All live nodes in the order of their ids, not older than ``metadata_maximum_age``."""
        await self._keep_fresh(deadline)
        return tuple(sorted(self._nodes.values()))

    async def any_node(self, deadline: float) -> tuple[Node, Link]:
        """The least loaded node that can be reached (admin-least-loaded); nodes that recently gave no answer come last.

        Raises:
            ConnectionFailedError: if no node can be reached; names those that were tried, and why. It is a
                `ConnectionImpossibleError` if that would not change, for none of them.
            ApiError: if a login fails: the other nodes would refuse it too.
            TimeoutError: if the deadline is over first.
        """
        await self._keep_fresh(deadline)
        return await self._reach_any(deadline)

    async def node(self, node_id: int, deadline: float) -> tuple[Node, Link]:
        """A particular node.

        Raises:
            ConnectionFailedError: if the cluster has no such node at the moment, or it cannot be reached.
            ApiError: if the login fails.
            TimeoutError: if the deadline is over first.
        """
        await self._keep_fresh(deadline)
        if node_id not in self._nodes:
            await self.refresh(deadline)
        node = self._nodes.get(node_id)
        if node is None:
            known = ", ".join(map(str, sorted(self._nodes))) or "none"
            raise ConnectionFailedError(f"the cluster has no live node {node_id}; live nodes: {known}", node=node_id)
        return node, await self._channel(node, deadline)

    async def controller(self, deadline: float) -> tuple[Node, Link]:
        """The node that the cluster names as its controller.

        Raises:
            NotControllerError: if it names none at the moment.
            ConnectionFailedError, ApiError, TimeoutError: as `node`.
        """
        await self._keep_fresh(deadline)
        if self._controller_id is None:
            await self.refresh(deadline)
        if self._controller_id is None:
            raise NotControllerError("the cluster names no controller")
        return await self.node(self._controller_id, deadline)

    def forget_controller(self) -> None:
        """Have the controller looked up again before it is next used (NOT_CONTROLLER)."""
        self._controller_id = None

    def outdate(self) -> None:
        """Have the nodes looked up again before they are next used."""
        self._refreshed_at = float("-inf")

    def doubt(self, node_id: int) -> None:
        """Prefer other nodes from now on: this one gave no answer."""
        self._doubted.add(node_id)

    def trust(self, node_id: int) -> None:
        """Take back a doubt: the node has answered."""
        self._doubted.discard(node_id)

    async def refresh(self, deadline: float) -> None:
        """Look the nodes up now; callers that want it at the same time share one request.

        Raises:
            KafkaError: if no node answers.
            ClosedError: if the client is closed meanwhile.
            TimeoutError: if the deadline is over first.
        """
        if self._refreshing is None:
            self._refreshing = asyncio.create_task(self._refresh(), name="kafkawire: refresh metadata")
            self._refreshing.add_done_callback(retrieve)
        await shared(self._refreshing, deadline, lambda: ClosedError("the client was closed"))

    async def close(self) -> None:
        """Close all connections."""
        if self._refreshing is not None:
            self._refreshing.cancel()
        await self.pool.close()

    async def _reach_any(self, deadline: float) -> tuple[Node, Link]:
        failures: dict[str, ConnectionFailedError] = {}
        for node in self._candidates():
            if node.id >= 0 and node.id not in self._nodes:
                continue  # starting over has removed it
            try:
                channel = await self._channel(node, deadline)
            except ConnectionFailedError as error:
                failures[node.address] = error
                self.outdate()
            except TimeoutError:
                self._failures.update((address, failure.message) for address, failure in failures.items())
                raise
            else:
                self._note(failures, "other nodes are used")
                self._failures.pop(node.address, None)
                return node, channel
        none = self._no_node(list(failures.values()))
        if none.retriable:
            self._note(failures, "the client tries again until the timeout of the call")
        raise none

    def unreached(self) -> str:
        """The addresses that gave no connection, with the last reason of each, for an error."""
        nodes = list(self._candidates())[:_NODES_NAMED]
        said = [self._failures.get(node.address, f"{node.address}: no answer") for node in nodes]
        return f"no node could be reached: {'; '.join(said)}"

    def _note(self, failures: Mapping[str, ConnectionFailedError], then: str) -> None:
        """Remember failures, and log each address once until it is reached."""
        for address, failure in failures.items():
            if address not in self._failures:
                _log.warning("%s; %s", failure.message, then)
            self._failures[address] = failure.message

    def _no_node(self, failures: Sequence[ConnectionFailedError]) -> ConnectionFailedError:
        """The one error for all nodes that could not be reached."""
        is_final = all(self._is_final(failure) for failure in failures)
        if is_final:
            self._without_names_since = None
        if len(failures) == 1 and failures[0].retriable != is_final:
            return failures[0]
        said = [failure.message for failure in failures[:_NODES_NAMED]]
        more = [f"and {len(failures) - _NODES_NAMED} more"] if len(failures) > _NODES_NAMED else []
        error = (ConnectionImpossibleError if is_final else ConnectionFailedError)("; ".join([*said, *more]))
        error.__cause__ = failures[-1]
        return error

    def _is_final(self, failure: ConnectionFailedError) -> bool:
        """Whether a node will not be reached by trying again.

        A host name that never resolved is a mistake. The name of a known broker may be missing while the broker
        restarts.
        """
        if self._was_reached or not failure.retriable:
            return not failure.retriable
        if isinstance(failure.__cause__, socket.gaierror) and not isinstance(failure, UnresolvedHostError):
            if self._without_names_since is None:
                self._without_names_since = now()
            return now() - self._without_names_since >= _SECONDS_WITHOUT_NAMES
        return isinstance(failure, UnresolvedHostError)

    async def _channel(self, node: Node, deadline: float) -> Link:
        try:
            return await self.pool.channel(node, deadline)
        except RebootstrapRequiredError as error:
            if self._nodes.get(node.id) is node:
                await self._start_over()
            raise ConnectionFailedError(
                f"what answers at {node.address} is not node {node.id} of the cluster {node.cluster_id}; the client "
                "starts over from its bootstrap addresses",
                node=node.id,
            ) from error

    async def _start_over(self) -> None:
        """Forget the cluster, and find it again from the bootstrap addresses (KIP-1102)."""
        self._nodes = {}
        self._controller_id = None
        self.cluster_id = None
        self._doubted.clear()
        self.outdate()
        await self.pool.start_over()

    def _candidates(self) -> Iterator[Node]:
        """Nodes, best first; nodes without a connection in random order, so that clients spread over them."""
        yield from sorted(self._nodes.values(), key=self._load)
        known = {(node.host, node.port) for node in self._nodes.values()}
        yield from sorted((node for node in self._bootstrap if (node.host, node.port) not in known), key=self._load)

    def _load(self, node: Node) -> tuple[float, ...]:
        doubted = node.id in self._doubted
        channel = self.pool.connected(node)
        if channel is None:
            return doubted, 1, self.pool.is_resting(node), chance()
        return doubted, 0, channel.throttled_until > now(), channel.in_flight, chance()

    async def _keep_fresh(self, deadline: float) -> None:
        if now() - self._refreshed_at > self.settings.metadata_maximum_age:
            await self.refresh(deadline)

    async def _refresh(self) -> None:
        deadline = now() + self.settings.request_timeout
        node: Node | None = None
        try:
            node, channel = await self._reach_any(deadline)
            if self.kind == "brokers":
                await self._ask_broker(channel, deadline)
            else:
                await self._ask_controller(channel, deadline)
        except (KafkaError, TimeoutError) as error:
            if node is not None:
                self.doubt(node.id)
            if isinstance(error, TimeoutError):
                silent = f"{node.address} did not list the members of the cluster in time" if node else None
                raise ConnectionFailedError(silent or self.unreached()) from error
            raise
        finally:
            self._refreshing = None
        self.trust(node.id)
        self._refreshed_at = now()
        if node.id < 0:
            self._adopt_bootstrap()

    async def _ask_broker(self, channel: Link, deadline: float) -> None:
        try:
            version = channel.versions.choose(protocol.MetadataRequest, minimum=CLUSTER_ALONE_SINCE)
        except UnsupportedVersionError as error:
            if ApiKey.METADATA in channel.versions.ranges:
                raise
            raise MismatchedEndpointTypeError("not a broker: give controllers as bootstrap_controllers") from error
        answer = await channel.request(metadata_request(version, ()), protocol.MetadataResponse, version, deadline)
        if answer.error_code == RebootstrapRequiredError.code:
            await self._start_over()
            raise ConnectionFailedError("the broker requires clients to start again from the bootstrap servers")
        if answer.error_code:
            raise error_of(answer.error_code, None)
        self.cluster_id = answer.cluster_id
        self._know(
            (Node(b.node_id, b.host, b.port, b.rack, answer.cluster_id) for b in answer.brokers), answer.controller_id
        )

    async def _ask_controller(self, channel: Link, deadline: float) -> None:
        try:
            minimum = first_version(protocol.DescribeClusterRequest, "endpoint_type")
            version = channel.versions.choose(protocol.DescribeClusterRequest, minimum=minimum)
        except UnsupportedVersionError as error:
            raise UnsupportedEndpointTypeError(f"this node cannot list the controllers: {error}") from error
        request = protocol.DescribeClusterRequest(endpoint_type=_CONTROLLER_ENDPOINTS)
        answer = await channel.request(request, protocol.DescribeClusterResponse, version, deadline)
        if answer.error_code:
            raise error_of(answer.error_code, answer.error_message)
        self.cluster_id = answer.cluster_id
        self._know(
            (Node(b.broker_id, b.host, b.port, b.rack, answer.cluster_id or None) for b in answer.brokers),
            answer.controller_id,
        )

    def _know(self, nodes: Iterator[Node], controller_id: int) -> None:
        known = {node.id: node for node in nodes}
        if not known:
            # A broker that is starting may list no broker yet; accepting that would leave no node to connect to.
            raise ConnectionFailedError("the node names no member of the cluster")
        self._nodes = known
        self._was_reached = True
        addresses = {node.address for node in self._candidates()}
        self._failures = {address: said for address, said in self._failures.items() if address in addresses}
        self._controller_id = controller_id if controller_id in known else None

    def _adopt_bootstrap(self) -> None:
        """Keep connections to bootstrap addresses as connections to the nodes at these addresses."""
        by_place = {(node.host, node.port): node for node in self._nodes.values()}
        for bootstrap in self._bootstrap:
            node = by_place.get((bootstrap.host, bootstrap.port))
            if node is not None:
                self.pool.adopt(bootstrap, node)
