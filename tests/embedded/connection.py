"""A connection to an embedded broker in the same event loop, for requests at chosen versions."""

from __future__ import annotations

import asyncio
import itertools
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from kafkawire.broker import EmbeddedBroker
from kafkawire.rpc import decode_response, encode_request
from kafkawire.wire import Message

R = TypeVar("R", bound=Message)

_SECONDS = 20.0


class BrokerConnection:
    """Requests and responses over a socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client_id: str) -> None:
        self._reader = reader
        self._writer = writer
        self._client_id = client_id
        self._correlation_ids = itertools.count(1)

    async def ask(self, request: Message, version: int, response: type[R]) -> R:
        """The answer to a request.

        Raises:
            IncompleteReadError, ConnectionError: the broker closes the connection.
            TimeoutError: no answer comes.
        """
        correlation_id = self.send(request, version)
        answered, answer = decode_response(await self.frame(), response, version)
        assert answered == correlation_id
        return answer

    def send(self, request: Message, version: int) -> int:
        """Send a request and wait for nothing; returns its correlation id."""
        correlation_id = next(self._correlation_ids)
        frame = encode_request(request, version, correlation_id=correlation_id, client_id=self._client_id)
        self._writer.write(frame)
        return correlation_id

    async def frame(self) -> bytes:
        """The content of the next frame that comes."""
        async with asyncio.timeout(_SECONDS):
            (size,) = struct.unpack(">i", await self._reader.readexactly(4))
            return await self._reader.readexactly(size)

    def send_end(self) -> None:
        """Send nothing more."""
        self._writer.write_eof()

    def send_bytes(self, content: bytes) -> None:
        """Send something that is no request."""
        self._writer.write(content)


@asynccontextmanager
async def connected_to(
    broker: EmbeddedBroker, client_id: str = "kafkawire", *, listener: str | None = None
) -> AsyncIterator[BrokerConnection]:
    """Connect to a listener, or the first one; the connection is closed when the context ends."""
    host, _, port = (broker.bootstrap_servers if listener is None else broker.address(listener)).rpartition(":")
    reader, writer = await asyncio.open_connection(host, port)
    try:
        yield BrokerConnection(reader, writer, client_id)
    finally:
        writer.close()
