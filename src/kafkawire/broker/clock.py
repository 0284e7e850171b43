"""The time of a broker: the machine's clock, or one that a test moves."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, runtime_checkable

_TURNS: Final = 10
"""Turns of an event loop after which a task that was woken has run: it may be three waits away from its sleep."""

_FEWEST_ABANDONED: Final = 100


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
        self._abandoned = 0
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
        try:
            await woken
        except asyncio.CancelledError:
            self._abandon()
            raise

    @property
    def sleepers(self) -> int:
        """How many tasks wait for this clock, those of the broker itself included."""
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
        self._move_to(self._seconds + _forward(seconds))

    async def advance_in_steps(self, seconds: float, settled: Callable[[], Awaitable[None]] | None = None) -> None:
        """Move the clock from one sleeper's time to the next: each runs at its own time, and so do those it leads to.

        Args:
            seconds: how far.
            settled: waits until the tasks that were woken have run; by default, for some turns of the event loop.

        Raises:
            ValueError: the time is negative.

        Example:
            ```python
            import asyncio

            from kafkawire.broker import ManualClock

            clock, seen = ManualClock(), []

            async def twice() -> None:
                for _ in range(2):
                    await clock.sleep(10)
                    seen.append(clock.seconds())

            twice_task = asyncio.ensure_future(twice())
            await clock.advance_in_steps(60)
            assert seen == [10, 20]
            ```
        """
        end, settle = self._seconds + _forward(seconds), settled or some_turns
        await settle()
        while (due := self._next_due()) <= end:
            self._move_to(due)
            await settle()
        self._move_to(end)
        await settle()

    def _next_due(self) -> float:
        with self._lock:
            while self._sleepers and self._sleepers[0][2].done():
                heapq.heappop(self._sleepers)
            return self._sleepers[0][0] if self._sleepers else float("inf")

    def _move_to(self, seconds: float) -> None:
        with self._lock:
            self._seconds = max(self._seconds, seconds)
            while self._sleepers and self._sleepers[0][0] <= self._seconds:
                _, _, woken = heapq.heappop(self._sleepers)
                loop = woken.get_loop()
                if not loop.is_closed():
                    loop.call_soon_threadsafe(_wake, woken)

    def _abandon(self) -> None:
        """Forget the sleeps that were cancelled, once they are many: fetches end most of theirs."""
        with self._lock:
            self._abandoned += 1
            if self._abandoned > max(_FEWEST_ABANDONED, len(self._sleepers) // 2):
                self._sleepers = [sleeper for sleeper in self._sleepers if not sleeper[2].done()]
                heapq.heapify(self._sleepers)
                self._abandoned = 0


async def pass_time(clock: Clock, seconds: float) -> None:
    """Let time pass: wait on a clock that goes by itself, and move a manual one."""
    await (clock.advance_in_steps(seconds) if isinstance(clock, ManualClock) else clock.sleep(seconds))


async def sleep_unless(clock: Clock, seconds: float, event: asyncio.Event) -> None:
    """Wait for a time on a clock, or until an event is set."""
    sleep, set_earlier = asyncio.ensure_future(clock.sleep(seconds)), asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait((sleep, set_earlier), return_when=asyncio.FIRST_COMPLETED)
    finally:
        sleep.cancel()
        set_earlier.cancel()


async def some_turns() -> None:
    """Wait until tasks that were woken have run, as far as they wait for nothing else."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)


def _forward(seconds: float) -> float:
    if seconds < 0:
        raise ValueError(f"the clock cannot go back by {-seconds} seconds: pass 0 or more")
    return seconds


def _wake(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():
        sleeper.set_result(None)
