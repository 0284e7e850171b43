"""The calls of a client that are going on, so that closing it can wait for them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

from kafkawire.wire.kafka_errors import ClosedError


class RunningCalls:
    """Counts calls; refuses new ones when the client is being closed."""

    def __init__(self) -> None:
        self._running = 0
        self._closing = False
        self._idle = asyncio.Event()
        self._idle.set()

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """A call runs inside.

        Raises:
            ClosedError: if the client is closed.
        """
        if self._closing:
            raise ClosedError("the client is closed")
        self._running += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()

    async def finish(self, grace: float) -> None:
        """Let no call begin any more, and wait so many seconds for those that run."""
        self._closing = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self._idle.wait()
