"""Long work in slices, so that others have their turn in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from time import perf_counter
from typing import Final, TypeVar

__all__ = ["SLICE", "in_slices"]

SLICE: Final = 0.005
"""Seconds after which others have their turn."""

T = TypeVar("T")


async def in_slices(items: Iterable[T]) -> AsyncIterator[T]:
    """The items one after the other; other tasks run whenever work on them has taken a slice of time.

    Args:
        items: not to be changed by others: what runs in between may change the state of the broker.
    """
    begun = perf_counter()
    for item in items:
        yield item
        if perf_counter() - begun > SLICE:
            await asyncio.sleep(0)
            begun = perf_counter()
