"""A limit on the memory of large requests of all connections together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LARGE_FRAME: Final = 1 << 16
"""Bytes of the smallest request that is counted."""

_MOST_BYTES: Final = 1 << 26
_SECONDS_TO_COME: Final = 5.0


@dataclass(eq=False, slots=True)
class LargeFrame:
    """A large request from its first byte to its response.

    Attributes:
        size: its bytes.
        abort: closes its connection.
        is_complete: whether all of it was received.
        waits: whether its answer may be a long time coming, as that of Fetch and of JoinGroup.
    """

    size: int
    abort: Callable[[], None]
    is_complete: bool = False
    waits: bool = False


class FrameRoom:
    """Admits large requests as long as they fit, and a single one of any size.

    While others wait, a request must arrive completely within some seconds, and be answered if it is one that may wait
    long; else its connection is closed, the oldest first. So clients that announce much and send little do not block
    others, and neither do large requests to join a group.

    Args:
        most: bytes of all large requests together.
        seconds: after which the connection of such a request is closed, if others wait.
    """

    def __init__(self, most: int = _MOST_BYTES, seconds: float = _SECONDS_TO_COME) -> None:
        self._most = most
        self._seconds = seconds
        self._held: dict[LargeFrame, None] = {}
        self._bytes = 0
        self._left = asyncio.Event()

    async def enter(self, frame: LargeFrame) -> None:
        """Wait until the request fits."""
        while self._held and self._bytes + frame.size > self._most:
            self._left.clear()
            try:
                async with asyncio.timeout(self._seconds):
                    await self._left.wait()
            except TimeoutError:
                self._close_oldest()
        self._held[frame] = None
        self._bytes += frame.size

    def leave(self, frame: LargeFrame) -> None:
        """Release the memory of a request that is answered or whose connection is closed; may be called twice."""
        if frame in self._held:
            del self._held[frame]
            self._bytes -= frame.size
            self._left.set()

    def _close_oldest(self) -> None:
        waiting = (frame for frame in self._held if frame.waits or not frame.is_complete)
        oldest = next(waiting, None)
        if oldest is not None:
            oldest.abort()
            self.leave(oldest)
