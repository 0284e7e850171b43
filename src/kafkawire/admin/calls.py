"""The calls of a client that are going on, so that closing it can wait for them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Protocol

from kafkawire.wire.kafka_errors import ClosedError


class Ending(Protocol):
    """A call that can be told to end."""

    def end(self) -> None:
        """End at once, with an error for whatever is still open."""


class RunningCalls:
    """Knows the calls that run; refuses new ones when the client is being closed."""

    def __init__(self) -> None:
        self._running: list[Ending] = []
        self._closing = False
        self._idle = asyncio.Event()
        self._idle.set()

    def check_open(self) -> None:
        """Let a call begin.

        Raises:
            ClosedError: if the client is closed, or is being closed.
        """
        if self._closing:
            raise ClosedError("the client is closed")

    @contextlib.contextmanager
    def one(self, call: Ending) -> Iterator[None]:
        """A call, or one step of a call that has begun, runs inside."""
        self._running.append(call)
        self._idle.clear()
        try:
            yield
        finally:
            self._running.remove(call)
            if not self._running:
                self._idle.set()

    async def finish(self, grace: float) -> None:
        """Let no call begin any more, wait so many seconds for those that run, then end them."""
        self._closing = True
        try:
            async with asyncio.timeout(grace):
                await self._until_idle()
        except TimeoutError:
            for call in self._running:
                call.end()
            await self._until_idle()

    async def _until_idle(self) -> None:
        while self._running:  # a call of several steps is idle for a moment between them
            await self._idle.wait()
