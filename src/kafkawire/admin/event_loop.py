"""The event loop's clock, and its tasks that no one waits for any more."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from kafkawire.wire.kafka_errors import KafkaError


def now() -> float:
    """The time of the event loop that runs, in seconds."""
    return asyncio.get_running_loop().time()


def retrieve(task: asyncio.Task[Any]) -> None:
    """Look at how a task ended, so that asyncio does not report its error as one that no one retrieved."""
    if not task.cancelled():
        task.exception()


T = TypeVar("T")


async def shared(work: asyncio.Task[T], deadline: float, stopped: Callable[[], KafkaError]) -> T:
    """What work comes to that others wait for as well: a caller that is cancelled does not take it from them.

    Args:
        work: a task.
        deadline: until when to wait, in the time of the event loop; the work goes on for others then.
        stopped: says what is raised if the work itself is cancelled; for a caller that is no cancellation.

    Raises:
        TimeoutError: if the deadline is over first.
    """
    async with asyncio.timeout_at(deadline):
        await asyncio.wait((work,))
    if work.cancelled():
        raise stopped()
    return work.result()


@contextlib.asynccontextmanager
async def together() -> AsyncIterator[asyncio.TaskGroup]:
    """A task group whose first error is raised itself, not in an ``ExceptionGroup``.

    What a broker says is an outcome, so an error here is that of a function which the user gave, or a mistake: the
    others of the group add nothing to it.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            yield tasks
    except BaseExceptionGroup as group:
        raise _first(group) from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
