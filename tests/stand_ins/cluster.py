"""Several stand-in brokers that name each other as a cluster: for routing, retries and the end of a broker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from tests.stand_ins.broker import Answer, Handler, StandInBroker

from kafkawire.admin.client import AdminClient
from kafkawire.admin.settings import AdminSettings
from kafkawire.protocol import (
    DescribeClusterRequest,
    DescribeClusterResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message

FAST = AdminSettings(
    request_timeout=10.0, call_timeout=20.0, retry_backoff=0.005, retry_backoff_maximum=0.02,
    reconnect_backoff=0.005, reconnect_backoff_maximum=0.02,
)  # fmt: skip
"""Settings for tests: short pauses between attempts, and deadlines that a busy machine does not miss."""

NodeHandler = Callable[[int, Request], Message | Answer | Awaitable[Message | Answer]]
"""Answers a request that the node of the given id was sent."""

Leaders = Mapping[str, Mapping[int, int]]
"""Topic to partition to the id of its leader; -1 for none."""


class StandInCluster:
    """Brokers with ids from 1.

    Args:
        nodes: how many.
        handlers: request class to what answers it on any node.
        versions: as for `StandInBroker`.

    Attributes:
        brokers: node id to broker.
        controller: id of the node that all call the controller; -1 for none.
        leaders: leaders of partitions; tests may change them.
        asked: (node id, request) of all requests except metadata, in order.
    """

    def __init__(
        self,
        nodes: int = 1,
        handlers: Mapping[type[Message], NodeHandler] | None = None,
        *,
        versions: Mapping[int, range] | None = None,
    ) -> None:
        self.controller = 1
        self.leaders: Leaders = {}
        self.asked: list[tuple[int, Message]] = []
        self.brokers = {
            node: StandInBroker(
                {
                    MetadataRequest: self._metadata,
                    DescribeClusterRequest: self._describe_cluster,
                    **{request: self._handler(node, handler) for request, handler in (handlers or {}).items()},
                },
                versions=versions,
            )
            for node in range(1, nodes + 1)
        }
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for broker in self.brokers.values():
            await self._stack.enter_async_context(broker)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    @property
    def bootstrap(self) -> str:
        """All addresses."""
        return ",".join(f"{broker.host}:{broker.port}" for broker in self.brokers.values())

    def client(self, settings: AdminSettings = FAST) -> AdminClient:
        """A client of the cluster."""
        return AdminClient(self.bootstrap, settings=settings)

    def _handler(self, node: int, handler: NodeHandler) -> Handler:
        def handle(request: Request) -> Message | Answer | Awaitable[Message | Answer]:
            assert request.body is not None
            self.asked.append((node, request.body))
            return handler(node, request)

        return handle

    def _metadata(self, request: Request) -> MetadataResponse:
        assert isinstance(request.body, MetadataRequest)
        asked = None if request.body.topics is None else {topic.name for topic in request.body.topics}
        brokers = tuple(
            MetadataResponse.MetadataResponseBroker(node, broker.host, broker.port)
            for node, broker in self.brokers.items()
        )
        topics = [self._topic(name) for name in (self.leaders if asked is None else asked) if name is not None]
        return MetadataResponse(brokers=brokers, controller_id=self.controller, cluster_id="stand-in", topics=topics)

    def _topic(self, name: str) -> MetadataResponse.MetadataResponseTopic:
        if name not in self.leaders:
            return MetadataResponse.MetadataResponseTopic(error_code=3, name=name)
        partitions = tuple(
            MetadataResponse.MetadataResponsePartition(
                error_code=0 if leader > 0 else 5, partition_index=partition, leader_id=leader, leader_epoch=0,
                replica_nodes=tuple(self.brokers), isr_nodes=tuple(self.brokers), offline_replicas=(),
            )
            for partition, leader in self.leaders[name].items()
        )  # fmt: skip
        return MetadataResponse.MetadataResponseTopic(error_code=0, name=name, partitions=partitions)

    def _describe_cluster(self, request: Request) -> DescribeClusterResponse:
        brokers = tuple(
            DescribeClusterResponse.DescribeClusterBroker(node, broker.host, broker.port)
            for node, broker in self.brokers.items()
        )
        return DescribeClusterResponse(
            cluster_id="stand-in", controller_id=self.controller, brokers=brokers,
            endpoint_type=getattr(request.body, "endpoint_type", 1),
        )  # fmt: skip
