"""A broker that is killed at any moment and started again over the same directory, and those that use it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

from tests.embedded.driven_broker import DrivenBroker, DrivenClient
from tests.embedded.mortal_disk import KilledError, MortalDisk
from tests.embedded.turning_loop import TurningLoop

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration

T = TypeVar("T")

_MOST_TURNS: Final = 50_000
_MOST_ROUNDS: Final = 100


class MortalBroker:
    """One broker after another over a directory.

    All that awaits something of a broker goes through ``run``, ``wait`` and ``turns``, which raise `KilledError` when
    the broker is dead.

    Args:
        disk: has the directory.
        chance: of the life.
        configuration: of all brokers.

    Attributes:
        clock: of all brokers.
        disk: as given.
        broker: the current one.
    """

    def __init__(self, disk: MortalDisk, chance: random.Random, configuration: BrokerConfiguration) -> None:
        self.clock = ManualClock()
        self.disk = disk
        self.broker: DrivenBroker | None = None
        self._chance = chance
        self._configuration = configuration
        self._data_dir = disk.folder / "data"

    async def start(self) -> None:
        """Start a broker; it may have to be killed later already."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, TurningLoop)
        loop.begin(self._chance.getrandbits(32))
        self.broker = DrivenBroker(self._data_dir, self._configuration, self.clock)
        await self.run(self.broker.start())

    @property
    def running(self) -> DrivenBroker:
        """The current broker."""
        assert self.broker is not None
        return self.broker

    def connected(self) -> DrivenClient:
        """A client of the current broker."""
        return self.running.connected(lambda: not self.disk.is_dead)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of something that the broker does."""
        task = asyncio.get_running_loop().create_task(work)
        await self.wait(task)
        return task.result()

    async def wait(self, *tasks: asyncio.Task[Any]) -> None:
        """Wait until tasks are done."""
        for _ in range(_MOST_TURNS):
            if self.disk.is_dead:
                raise KilledError
            if all(task.done() for task in tasks):
                break
            await asyncio.sleep(0)
        else:
            raise AssertionError(f"no answer comes: {[task for task in tasks if not task.done()]}")
        for task in tasks:
            task.result()

    async def turns(self, count: int) -> None:
        """Let the broker go on for some turns of the event loop."""
        for _ in range(count):
            await asyncio.sleep(0)
            if self.disk.is_dead:
                raise KilledError

    async def stop(self) -> None:
        """Stop the broker without killing it; it may be killed meanwhile."""
        await self.run(self.running.stop())
        await self.bury()

    async def bury(self) -> None:
        """What is left of a process ends, with no effect on the files."""
        loop, current = asyncio.get_running_loop(), asyncio.current_task()
        assert isinstance(loop, TurningLoop)
        self.disk.die()
        loop.is_dead = True
        rounds = 0
        while len(loop.tasks) > 1 and (rounds := rounds + 1) < _MOST_ROUNDS:
            for task in [task for task in loop.tasks if task is not current]:
                task.cancel()
            await asyncio.sleep(0)
        assert [*loop.tasks] == [current], "tasks do not end"
        self.disk.bury()
        self.disk.begin()
        self.broker = None


def folder_in_memory(otherwise: Path) -> Path:
    """Where the directories of many lives are best."""
    memory = Path("/dev/shm")  # noqa: S108 - a directory in it has a random name
    return memory if memory.is_dir() else otherwise
