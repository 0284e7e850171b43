"""Operations that go to all nodes, each of which has a part of the result."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Generic

import msgspec

from kafkawire import protocol
from kafkawire.admin.engine.operation import K, Operation, Outcomes, Progress, R, Request, V
from kafkawire.admin.engine.route import OnNode, Route
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.first_versions import CLUSTER_ALONE_SINCE, metadata_request
from kafkawire.admin.results import Results
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ConnectionFailedError, KafkaError


class FindNodes(Operation[None, tuple[int, ...], "protocol.MetadataResponse"]):
    """The ids of the live brokers, as they are now."""

    name = "find_nodes"
    api = ApiKey.METADATA
    minimum_version = CLUSTER_ALONE_SINCE

    def build(self, request: Request[None]) -> Message:
        return metadata_request(request.version, ())

    def read(self, request: Request[None], response: protocol.MetadataResponse) -> Outcomes[None, tuple[int, ...]]:
        if not response.brokers:  # a broker that is starting may list no broker yet
            return {None: ConnectionFailedError("the node names no member of the cluster")}
        return {None: tuple(sorted(broker.node_id for broker in response.brokers))}


class OfNodes(Operation[int, V, R]):
    """Base of operations whose items are node ids."""

    def route_of(self, item: int) -> Route:
        return OnNode(item)


class ItemOnNode(msgspec.Struct, Generic[K], frozen=True):
    """An item in the state of one node.

    Attributes:
        item: the item.
        node: id of the node.
    """

    item: K
    node: int


class EveryNodeFamily(OperationFamily):
    """Base of families whose operations go to all nodes."""

    async def _on_every_node(
        self, operation: Operation[int, V, Any], timeout: float | None, progress: Progress | None = None
    ) -> Results[int, V]:
        """The outcome of each live broker.

        Args:
            operation: whose items are node ids.
            timeout: seconds for all; the settings' ``call_timeout`` by default.
            progress: called after each outcome.

        Raises:
            KafkaError: if no broker lists the brokers.
        """
        deadline = self._deadline(timeout)
        nodes = (await self._until(deadline, FindNodes().named(operation.name), (None,)))[None]
        return await self._until(deadline, operation, nodes, progress)

    async def _wait_on_every_node(
        self, operation: Operation[ItemOnNode[K], None, Any], items: Collection[K], timeout: float | None
    ) -> Results[K, None]:
        """None for each item that all live brokers show as it should be, or the last error of one of them.

        Args:
            operation: fails, and is tried again, while a node does not show an item as it should be.
            items: the items.
            timeout: seconds for all; the settings' ``call_timeout`` by default.

        Raises:
            KafkaError: if no broker lists the brokers.
        """
        deadline = self._deadline(timeout)
        nodes = (await self._until(deadline, FindNodes().named(operation.name), (None,)))[None]
        everywhere = [ItemOnNode(item, node) for item in items for node in nodes]
        failed: dict[K, KafkaError] = {}
        for where, error in (await self._until(deadline, operation, everywhere)).errors().items():
            failed.setdefault(where.item, error)
        return Results({item: failed.get(item) for item in items}, items)
