"""How much memory some work takes, by what Python allocates for it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable


def takes_less(work: Callable[[], object], memory: int) -> bool:
    """Whether some work never holds more than ``memory`` bytes.

    It may try twice: what the work takes it takes each time, and what others take only now and then. Under coverage
    for example, a set of the lines that have run is made larger while the work runs them for the first time.
    """
    return any(most_memory(work) < memory for _ in range(2))


def most_memory(work: Callable[[], object]) -> int:
    """The most bytes that are allocated at any time of some work."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
