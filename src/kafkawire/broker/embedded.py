"""The embedded broker: everything put together."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from kafkawire.broker.calls import Routes
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.controller import Controller
from kafkawire.broker.dispatch import Dispatcher
from kafkawire.broker.handlers.cluster import ClusterHandlers
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.listener.server import Server
from kafkawire.broker.metadata_log.log import MemoryLog
from kafkawire.broker.offered_versions import offered_versions
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ApiVersionsRequest, DescribeClusterRequest

__all__ = ["EmbeddedBroker"]


class EmbeddedBroker:
    """A broker in this process, for as long as its context lasts.

    ::

        async with EmbeddedBroker() as broker:
            ... connect to broker.bootstrap_servers

    Args:
        host: the address to listen on.
        port: the port; 0 for a free one.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._cluster = Cluster(str(Uuid.random()), 1, host, port)
        self._controller = Controller(MemoryLog(), MetadataImage())
        offered = offered_versions((ApiVersionsRequest, DescribeClusterRequest), unstable=False)
        routes: Routes = ClusterHandlers(self._cluster, offered).routes
        self._server = Server(host, port, Dispatcher(routes, offered, self._controller), self._controller)

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect, ``127.0.0.1:9092``."""
        return f"{self._cluster.host}:{self._cluster.port}"

    async def start(self) -> None:
        """Listen.

        Raises:
            OSError: the address cannot be had.
        """
        await self._server.bind()
        self._cluster.port = self._server.port
        await self._server.start()

    async def stop(self) -> None:
        """Close all connections."""
        await self._server.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
