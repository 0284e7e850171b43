"""Accepts connections."""

from __future__ import annotations

import asyncio

from kafkawire.broker.controller import Controller
from kafkawire.broker.dispatch import Dispatcher
from kafkawire.broker.listener.connection import Connection
from kafkawire.broker.sessions import ANONYMOUS, Session

__all__ = ["Server"]


class Server:
    """Listens on one address.

    Attributes:
        host, port: where.
    """

    def __init__(self, host: str, port: int, dispatcher: Dispatcher, controller: Controller) -> None:
        self.host = host
        self.port = port
        self._dispatcher = dispatcher
        self._controller = controller
        self._serving: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def bind(self) -> None:
        """Take the port, a free one for 0; nobody is served yet.

        Raises:
            OSError: the address cannot be had.
        """
        self._server = await asyncio.start_server(self._accept, self.host, self.port, start_serving=False)
        self.port = self._server.sockets[0].getsockname()[1]

    async def start(self) -> None:
        """Serve."""
        if self._server is None:
            raise RuntimeError("bind comes first")
        await self._server.start_serving()

    async def stop(self) -> None:
        """Close the socket and all connections."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("connections are served by tasks")
        self._serving.add(task)
        try:
            host = writer.get_extra_info("peername")[0]
            session = Session(ANONYMOUS, host, "PLAINTEXT")
            await Connection(reader, writer, self._dispatcher, self._controller, session).serve()
        finally:
            self._serving.discard(task)
