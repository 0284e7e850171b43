"""An event loop in which the work of threads is done between its turns, in an order that a seed decides."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor
from contextvars import Context
from functools import partial
from typing import Any, Final, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_WAITS: Final = (0, 0, 0, 1, 2, 5, 12)
"""Turns until the next work of a thread begins."""

_PACES: Final = (1, 1, 1, 8)
"""How much longer it takes until then, for each thread."""


class TurningLoop(asyncio.SelectorEventLoop):
    """Nothing runs at the same time as anything else, so that a seed decides all that happens.

    Attributes:
        chance: decides when the work of a thread is done.
        is_dead: whether no work of threads is done any more.
        tasks: those that are not done.
    """

    def __init__(self) -> None:
        super().__init__()
        self.chance = random.Random(0)
        self.is_dead = False
        self.tasks: dict[asyncio.Task[Any], None] = {}
        self._work: dict[Executor, deque[Callable[[], None]]] = {}
        self._paces: dict[Executor, int] = {}

    def begin(self, seed: int) -> None:
        """Begin with no work, as a process does."""
        self.chance = random.Random(seed)
        self.is_dead = False
        self._work, self._paces = {}, {}

    def create_task(
        self,
        coro: Coroutine[Any, Any, T] | Generator[Any, None, T],
        *,
        name: object = None,
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        """Begin a task, and keep it until it is done."""
        task = super().create_task(coro, name=None if name is None else str(name), context=context)
        self.tasks[task] = None
        task.add_done_callback(self.tasks.pop)
        return task

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Call a function some turns later; those of one thread follow each other."""
        done: asyncio.Future[T] = self.create_future()
        work = partial(_do, partial(func, *args), done)
        if executor is None:
            self._later(self.chance.choice(_WAITS), work)
        else:
            queue = self._work.setdefault(executor, deque())
            queue.append(work)
            if len(queue) == 1:
                self._next_of(executor)
        return done

    def _next_of(self, executor: Executor) -> None:
        pace = self._paces.get(executor)
        if pace is None:
            pace = self._paces[executor] = self.chance.choice(_PACES)
        self._later(self.chance.choice(_WAITS) * pace, partial(self._do_next, executor))

    def _do_next(self, executor: Executor) -> None:
        queue = self._work[executor]
        queue[0]()
        queue.popleft()
        if queue:
            self._next_of(executor)

    def _later(self, turns: int, work: Callable[[], None]) -> None:
        if self.is_dead:
            return
        if turns:
            self.call_soon(self._later, turns - 1, work)
        else:
            self.call_soon(self._at_last, work)

    def _at_last(self, work: Callable[[], None]) -> None:
        if not self.is_dead:
            work()


def _do(func: Callable[[], Any], done: asyncio.Future[Any]) -> None:
    if done.cancelled():
        return
    try:
        result = func()
    except BaseException as error:  # noqa: BLE001 - also that of a killed process
        done.set_exception(error)
    else:
        done.set_result(result)
