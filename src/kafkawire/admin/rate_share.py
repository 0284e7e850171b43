"""Waiting for work that several callers share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from kafkawire.wire.kafka_errors import KafkaError

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
