"""Work on large groups, which is done in a thread while other clients are served."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar, TypeVarTuple, cast

from kafkawire.broker.groups.errors import GroupError

R = TypeVar("R")
Ts = TypeVarTuple("Ts")


class LongWorkError(Exception):
    """A heartbeat needs a result that takes long; it has changed nothing, and is tried again when that is there.

    Args:
        work: finds the result and keeps it; it may run in a thread.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__("the result of long work is not there yet")
        self.work = work


class Work:
    """Does all work at once."""

    def result(self, function: Callable[[*Ts], R], *arguments: *Ts, is_long: bool) -> R:
        """The result of a function that depends on its arguments only.

        Args:
            function: the function.
            arguments: that are equal only if the result is the same.
            is_long: whether it takes longer than others may have to wait.
        """
        del is_long
        return function(*arguments)


class DeferredWork(Work):
    """Asks for a time for long work, and has its results afterwards: of each function the last one."""

    def __init__(self) -> None:
        self._known: dict[Callable[..., object], tuple[tuple[object, ...], Future[Any]]] = {}

    def result(self, function: Callable[[*Ts], R], *arguments: *Ts, is_long: bool) -> R:
        """The result of a function.

        Raises:
            LongWorkError: it is not there yet.
            GroupError: the function raises it.
        """
        if not is_long:
            return function(*arguments)
        known, done = self._known.get(function, (None, Future[Any]()))
        if known is not None and known == arguments:
            return cast(R, done.result())

        def work() -> None:
            found = Future[R]()
            try:
                found.set_result(function(*arguments))
            except GroupError as error:
                found.set_exception(error)
            self._known[function] = arguments, found

        raise LongWorkError(work)


AT_ONCE = Work()
