"""The queue of responses to a client."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from kafkawire.broker.dispatch import Reply

_MOST_REPLIES: Final = 128
_MOST_BYTES: Final = 1 << 20
_BYTES_AT_ONCE: Final = 1 << 16


class Outbox:
    """A bounded queue, so that requests of a client that does not read its responses wait."""

    def __init__(self) -> None:
        self._replies: deque[Reply] = deque()
        self._unsent = 0
        self._is_ended = False
        self._filled = asyncio.Event()
        self._emptied = asyncio.Event()

    def add(self, reply: Reply) -> None:
        """Append a response."""
        self._replies.append(reply)
        self._unsent += _size(reply)
        self._filled.set()

    def end(self) -> None:
        """End the queue: no more responses follow."""
        self._is_ended = True
        self._filled.set()

    async def room(self) -> None:
        """Wait until another response fits."""
        while len(self._replies) >= _MOST_REPLIES or self._unsent > _MOST_BYTES:
            self._emptied.clear()
            await self._emptied.wait()

    async def take(self, durable: Callable[[Reply], Awaitable[None]]) -> list[Reply]:
        """Wait for the next responses, as many as should go into one write.

        Args:
            durable: waits until what a response says is durable; the other ones wait for nothing more.

        Returns:
            The responses; none at the end of the queue.
        """
        while not self._replies:
            if self._is_ended:
                return []
            self._filled.clear()
            await self._filled.wait()
        first = self._replies.popleft()
        await durable(first)
        taken, size = [first], _size(first)
        while self._replies and _is_durable(self._replies[0], first) and size < _BYTES_AT_ONCE:
            taken.append(self._replies.popleft())
            size += _size(taken[-1])
        return taken

    def sent(self, replies: list[Reply]) -> None:
        """Responses that were taken are written."""
        self._unsent -= sum(map(_size, replies))
        self._emptied.set()


def _is_durable(reply: Reply, first: Reply) -> bool:
    """Whether all that a response says is durable, once all is that an earlier one says."""
    is_written = all(log.high_watermark >= offset for log, offset in reply.appended)
    return is_written and reply.end_offset <= first.end_offset


def _size(reply: Reply) -> int:
    return 0 if reply.frame is None else len(reply.frame)
