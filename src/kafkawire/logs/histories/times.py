"""Times of records, with something sensible where there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["LATEST", "Clock"]

LATEST: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, which is as far as the calendars of most readers go."""


class Clock:
    """Records without a sensible time have that of the record before.

    Attributes:
        now: time of the last record, in milliseconds since the epoch.
        first: the first time, or None.
    """

    def __init__(self) -> None:
        self.now = 0
        self.first: int | None = None

    def read(self, timestamp: int) -> int:
        """The time of the next record."""
        if 0 < timestamp <= LATEST:
            self.now = timestamp
            if self.first is None:
                self.first = timestamp
        return self.now

    def read_all(self, timestamps: Iterable[int]) -> Iterator[int]:
        """The times of the next records."""
        return map(self.read, timestamps)
