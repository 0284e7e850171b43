"""What live groups of both kinds have in common: checks when their time has come, and the bytes of their members."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

from kafkawire.broker.clock import Clock
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.timers import Now
from kafkawire.broker.groups.wakes import Wakes
from kafkawire.broker.storage.errors import StorageError

_log = logging.getLogger(__name__)


class Expiring(Protocol):
    """A group with timers."""

    def expire(self, now: Now) -> None:
        """Do what is due."""


G = TypeVar("G", bound=Expiring)


class LiveGroups(ABC, Generic[G]):
    """The groups that have members or timers; all others are made from their records when they are needed.

    Args:
        coordinator: has the records of all groups, and writes new ones.
        clock: the broker's.
    """

    def __init__(self, coordinator: GroupCoordinator, clock: Clock) -> None:
        self._coordinator = coordinator
        self._clock = clock
        self._live: dict[str, G] = {}
        self._sizes: dict[str, int] = {}
        self._bytes = 0
        self._wakes = Wakes(clock, self._expire)
        coordinator.on_cleared.append(self._forget_all)

    async def settled(self) -> None:
        """Wait until a group whose time has come has been checked."""
        await self._wakes.settled()

    def forget(self, group_id: str) -> None:
        """Forget a group without members: it was deleted, or is made again from its records."""
        self._live.pop(group_id, None)
        self._bytes -= self._sizes.pop(group_id, 0)

    @abstractmethod
    def _forget_all(self) -> None:
        """The topic of the records was deleted."""

    @abstractmethod
    def _settle(self, group: G) -> None:
        """Write what an event demands, and set the timer; the logs are prepared."""

    def _now(self) -> Now:
        return Now(self._clock.seconds(), self._clock.now_ms())

    async def _expire(self, group_id: str) -> None:
        if group_id not in self._live:
            return
        try:
            await self._coordinator.prepare([group_id])
            group = self._live.get(group_id)
            if group is not None:
                group.expire(self._now())
                self._settle(group)
        except (StorageError, OSError) as error:
            _log.warning("Group %r: its record cannot be written: %s", group_id, error)
