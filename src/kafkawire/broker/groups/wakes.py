"""When groups are checked: one task that sleeps until the next deadline on the broker's clock."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from typing import Final

from kafkawire.broker.clock import Clock, sleep_unless

_NEVER: Final = float("inf")
_FEWEST_WAKES: Final = 1000


class Wakes:
    """The times at which groups are checked.

    Args:
        clock: the broker's.
        check: called with the id of a group whose time has come.
    """

    def __init__(self, clock: Clock, check: Callable[[str], Awaitable[None]]) -> None:
        self._clock = clock
        self._check = check
        self._wakes: list[tuple[float, str]] = []
        self._wake_of: dict[str, float] = {}
        self._earlier = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._checking = asyncio.Lock()

    @property
    def planned(self) -> int:
        """How many times there are at which a group is checked."""
        return len(self._wakes)

    def set(self, group_id: str, deadline: float) -> None:
        """Check a group at a time.

        A time that is later than one set before changes nothing, as with each heartbeat: the group is checked too early
        then.

        Args:
            group_id: of the group.
            deadline: in seconds of the clock; infinity for none.
        """
        if deadline >= self._wake_of.get(group_id, _NEVER):
            return
        self._wake_of[group_id] = deadline
        heapq.heappush(self._wakes, (deadline, group_id))
        if len(self._wakes) > _FEWEST_WAKES + 2 * len(self._wake_of):
            self._wakes = [(deadline, group_id) for group_id, deadline in self._wake_of.items()]
            heapq.heapify(self._wakes)
        if self._wakes[0] == (deadline, group_id):
            self._earlier.set()
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.get_running_loop().create_task(self._keep_time())

    async def settled(self) -> None:
        """Wait until a group whose time has come has been checked."""
        async with self._checking:
            return

    async def close(self) -> None:
        """End the task."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)

    async def _keep_time(self) -> None:
        while self._wakes:
            deadline, group_id = self._wakes[0]
            if deadline > self._clock.seconds():
                await self._until(deadline)
                continue
            heapq.heappop(self._wakes)
            if self._wake_of.get(group_id) == deadline:
                del self._wake_of[group_id]
                async with self._checking:
                    await self._check(group_id)

    async def _until(self, deadline: float) -> None:
        """Wait for a time, or until an earlier one is set."""
        self._earlier.clear()
        await sleep_unless(self._clock, deadline - self._clock.seconds(), self._earlier)
