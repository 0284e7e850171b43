"""The time of a broker: the machine's clock, or one that a test moves."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
import time
from typing import Protocol, runtime_checkable


@runtime_checkable
class Clock(Protocol):
    """A wall clock, a monotonic clock and a way to wait."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch, for timestamps."""

    def seconds(self) -> float:
        """Seconds since an unspecified start, for measurements; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Wait for a time on this clock; return at once for zero or less."""


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def seconds(self) -> float:
        """The monotonic time."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait, letting others run."""
        await asyncio.sleep(max(0.0, seconds))


class ManualClock:
    """A clock that stands still until a test moves it.

    It may be moved from any thread.

    Args:
        start_ms: milliseconds since the epoch; 2026-01-01 by default.

    Example:
        ```python
        from kafkawire.admin import BlockingAdminClient
        from kafkawire.broker import ManualClock, ThreadedBroker

        clock = ManualClock()
        with ThreadedBroker(clock=clock) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
            print(clock.now_ms(), admin.describe_cluster().cluster_id)
            clock.advance(3600)  # an hour later, at once
        ```
    """

    def __init__(self, start_ms: int = 1_767_225_600_000) -> None:
        self._start_ms = start_ms
        self._seconds = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        return self._start_ms + round(self._seconds * 1000)

    def seconds(self) -> float:
        """How far the clock was moved, in seconds."""
        return self._seconds

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock is moved that far."""
        if seconds <= 0:
            return
        woken = asyncio.get_running_loop().create_future()
        with self._lock:
            heapq.heappush(self._sleepers, (self._seconds + seconds, next(self._numbers), woken))
        await woken

    @property
    def sleepers(self) -> int:
        """How many tasks wait for this clock."""
        with self._lock:
            return sum(not woken.done() for _, _, woken in self._sleepers)

    def advance(self, seconds: float) -> None:
        """Move the clock forward, and wake the tasks whose time has come, in the order of their times.

        They run when the event loop gets to them, and see the new time.

        Raises:
            ValueError: the time is negative.

        Example:
            ```python
            from kafkawire.broker import ManualClock

            clock = ManualClock(start_ms=0)
            clock.advance(3.5)
            assert clock.now_ms() == 3500
            ```
        """
        if seconds < 0:
            raise ValueError(f"the clock cannot go back by {-seconds} seconds: pass 0 or more")
        with self._lock:
            self._seconds += seconds
            while self._sleepers and self._sleepers[0][0] <= self._seconds:
                _, _, woken = heapq.heappop(self._sleepers)
                loop = woken.get_loop()
                if not loop.is_closed():
                    loop.call_soon_threadsafe(_wake, woken)


def _wake(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():
        sleeper.set_result(None)
