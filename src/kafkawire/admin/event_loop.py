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
    """Retrieve the error of a task, so that asyncio does not report it as never retrieved."""
    if not task.cancelled():
        task.exception()


T = TypeVar("T")


async def shared(work: asyncio.Task[T], deadline: float, stopped: Callable[[], KafkaError]) -> T:
    """The result of a task that several callers wait for; cancelling one caller does not cancel the task.

    Args:
        work: a task.
        deadline: until when to wait, in the time of the event loop; the task continues for others.
        stopped: makes the error to raise if the task itself is cancelled.

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

    Errors of brokers are outcomes, so an error here comes from a function of the user, or is a defect: the other
    errors of the group add nothing.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            yield tasks
    except BaseExceptionGroup as group:
        error = _first(group)
        raise error from error.__cause__  # which the message of a timeout names


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
