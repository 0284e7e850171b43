"""Answers on their way to a client."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from kafkawire.broker.dispatch import Reply

__all__ = ["Outbox"]

_MOST_REPLIES: Final = 128
_MOST_BYTES: Final = 1 << 20
_BYTES_AT_ONCE: Final = 1 << 16


class Outbox:
    """A queue that has room for so much, so that who does not read its answers is asked to wait."""

    def __init__(self) -> None:
        self._replies: deque[Reply] = deque()
        self._unsent = 0
        self._is_ended = False
        self._filled = asyncio.Event()
        self._emptied = asyncio.Event()

    def add(self, reply: Reply) -> None:
        """Put an answer at the end."""
        self._replies.append(reply)
        self._unsent += _size(reply)
        self._filled.set()

    def end(self) -> None:
        """Nothing more will come."""
        self._is_ended = True
        self._filled.set()

    async def room(self) -> None:
        """Wait until there is room for more."""
        while len(self._replies) >= _MOST_REPLIES or self._unsent > _MOST_BYTES:
            self._emptied.clear()
            await self._emptied.wait()

    async def take(self) -> list[Reply]:
        """Wait for the next answers, as many as go well in one write; none once nothing more will come."""
        while not self._replies:
            if self._is_ended:
                return []
            self._filled.clear()
            await self._filled.wait()
        taken = [self._replies.popleft()]
        size = _size(taken[0])
        while self._replies and self._replies[0].end_offset <= taken[0].end_offset and size < _BYTES_AT_ONCE:
            taken.append(self._replies.popleft())
            size += _size(taken[-1])
        return taken

    def sent(self, replies: list[Reply]) -> None:
        """Answers that were taken are with the client, or nearly."""
        self._unsent -= sum(map(_size, replies))
        self._emptied.set()


def _size(reply: Reply) -> int:
    return 0 if reply.frame is None else len(reply.frame)
