"""Telling how far a call has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Told after each outcome how many items have one, and how many there are."""


class TotalProgress:
    """Adds up what several calls tell, for one that was told to expect a single one.

    Args:
        progress: told of the sum; None for nobody.
        total: how many items all calls have together.
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def part(self) -> Progress:
        """What one of the calls is to tell."""
        return self._one_more

    def _one_more(self, _done: int, _total: int) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)
