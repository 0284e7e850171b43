"""The event loop's clock, and its tasks that no one waits for any more."""

from __future__ import annotations

import asyncio
from typing import Any


def now() -> float:
    """The time of the event loop that runs, in seconds."""
    return asyncio.get_running_loop().time()


def retrieve(task: asyncio.Task[Any]) -> None:
    """Look at how a task ended, so that asyncio does not report its error as one that no one retrieved."""
    if not task.cancelled():
        task.exception()
