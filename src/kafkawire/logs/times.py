"""Times: Kafka's milliseconds since the epoch, Python's datetimes, and Arrow's microseconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pyarrow as pa

TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
"""The type of every time in a table."""

LATEST: Final = 253_402_300_799_999
"""The last millisecond of the year 9999. Most calendars end there, so a later time becomes null."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def milliseconds(time: datetime, *, round_up: bool = False) -> int:
    """A time as Kafka writes it. A time without a zone is in UTC."""
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    return -((_EPOCH - aware) // _MILLISECOND) if round_up else (aware - _EPOCH) // _MILLISECOND


def datetime_of(time: int) -> datetime:
    """A time of Kafka."""
    return _EPOCH + time * _MILLISECOND


def microseconds(time: int) -> int | None:
    """A time of Kafka for Arrow; None for -1, which means no time, and for times after ``LATEST``."""
    return time * 1000 if 0 <= time <= LATEST else None


class Clock:
    """The times of the records of a log. A record without a usable time has the time of the record before it.

    Attributes:
        now: time of the last record, in milliseconds since the epoch; 0 before the first.
        first: the first usable time; None before it.
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
