"""Long work in time slices, so that other tasks run in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from time import perf_counter
from typing import Final, TypeVar

SLICE: Final = 0.002
"""Seconds after which other tasks run."""

T = TypeVar("T")


async def in_slices(items: Iterable[T]) -> AsyncIterator[T]:
    """The items in order; other tasks run whenever the work on them has taken a time slice.

    Args:
        items: a collection that other tasks do not change; they may change the state of the broker in between.
    """
    begun = perf_counter()
    for item in items:
        yield item
        if perf_counter() - begun > SLICE:
            await asyncio.sleep(0)
            begun = perf_counter()
