"""One client's connection: frames in, answers out in the same order."""

from __future__ import annotations

import asyncio
import logging
import struct

from kafkawire.broker.controller import Controller
from kafkawire.broker.dispatch import Dispatcher, RefusedRequestError, Reply
from kafkawire.broker.sessions import Session
from kafkawire.rpc import MAXIMUM_FRAME_SIZE

__all__ = ["Connection"]

_log = logging.getLogger(__name__)
_SIZE = struct.Struct(">i")
_ANSWERS_IN_FLIGHT = 128


class Connection:
    """Serves a client until it leaves.

    Requests are taken one after the other, also while earlier answers still wait for the log: so the changes of
    pipelined requests share one write.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        dispatcher: Dispatcher,
        controller: Controller,
        session: Session,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._dispatcher = dispatcher
        self._controller = controller
        self._session = session
        self._replies: asyncio.Queue[Reply | None] = asyncio.Queue(_ANSWERS_IN_FLIGHT)

    async def serve(self) -> None:
        """Answer until either side closes."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send())
                tasks.create_task(self._receive())
        except* (asyncio.IncompleteReadError, ConnectionError):
            pass
        except* RefusedRequestError as refused:
            for error in refused.exceptions:
                _log.info("Closing the connection from %s: %s", self._session.host, error)
        finally:
            self._writer.close()

    async def _receive(self) -> None:
        while True:
            (size,) = _SIZE.unpack(await self._reader.readexactly(_SIZE.size))
            if not 0 <= size <= MAXIMUM_FRAME_SIZE:
                raise RefusedRequestError(f"a frame of {size} bytes")
            frame = await self._reader.readexactly(size)
            reply = await self._dispatcher.reply(frame, self._session)
            await self._replies.put(reply)
            if reply.muted_until:
                await self._dispatcher.unmuted(reply)

    async def _send(self) -> None:
        while True:
            reply = await self._replies.get()
            if reply is None:
                return
            if not self._controller.is_durable(reply.end_offset):
                await self._controller.durable(reply.end_offset)
            if reply.frame is not None:
                self._writer.write(reply.frame)
                if self._replies.empty():
                    await self._writer.drain()
