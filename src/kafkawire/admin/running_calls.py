"""The running calls of a client, so that closing it can wait for them."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from kafkawire.wire.kafka_errors import ClosedError

MADE_BEFORE_FORK = (
    "this process was forked from the one that the client belongs to, and shares its connections: make a new client "
    "after the fork"
)


class _Home(NamedTuple):
    """Where a client lives: connections belong to one event loop of one process."""

    process: int
    loop: asyncio.AbstractEventLoop


class Ending(Protocol):
    """A call that can be ended."""

    def end(self) -> None:
        """End at once, with an error for open items."""


class RunningCalls:
    """The running calls. New ones are refused when the client is being closed, and in other event loops."""

    def __init__(self) -> None:
        self._home: _Home | None = None
        self._running: list[Ending] = []
        self._closing = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def are_over(self) -> bool:
        """Whether the client is closed, or is being closed."""
        return self._closing

    def check_open(self) -> None:
        """Let a call begin.

        Raises:
            ClosedError: if the client is closed, or is being closed.
            RuntimeError: if the client was used in another event loop or another process.
        """
        self._check_home()
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
        """Refuse new calls, wait ``grace`` seconds for the running ones, then end them.

        Raises:
            RuntimeError: as `check_open`.
        """
        self._check_home()
        self._closing = True
        try:
            async with asyncio.timeout(grace):
                await self._until_idle()
        except TimeoutError:
            for call in self._running:
                call.end()
            await self._until_idle()

    def _check_home(self) -> None:
        home = _Home(os.getpid(), asyncio.get_running_loop())
        if self._home is None:
            self._home = home
        if self._home.process != home.process:
            raise RuntimeError(MADE_BEFORE_FORK)
        if self._home.loop is not home.loop:
            raise RuntimeError(
                "this AdminClient was first used in another event loop, which its connections belong to; make a new "
                "AdminClient in each asyncio.run(), or use a BlockingAdminClient"
            )

    async def _until_idle(self) -> None:
        while self._running:  # a call of several steps is idle for a moment between them
            await self._idle.wait()
