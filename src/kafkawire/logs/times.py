"""Times: Kafka's milliseconds since the epoch, Python's datetimes, and Arrow's microseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray

TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
"""The type of every time in a table."""

LATEST: Final = 253_402_300_799_999
"""The last millisecond of the year 9999. Most calendars end there, so a later time becomes null."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_ZERO: Final = pa.scalar(0, pa.int64())
_LAST: Final = pa.scalar(LATEST, pa.int64())
_NO_TIME: Final = pa.scalar(None, pa.int64())
_MICROSECONDS: Final = pa.scalar(1000, pa.int64())


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


def timestamps(times: pa.Int64Array) -> ArrowArray:
    """As ``microseconds``, for a column; null stays null."""
    has_time = pc.and_(pc.greater_equal(times, _ZERO), pc.less_equal(times, _LAST))
    column: ArrowArray = pc.multiply(pc.if_else(has_time, times, _NO_TIME), _MICROSECONDS).cast(TIMESTAMP)
    return column


class Clock:
    """The times of the records of a log. A record without a usable time has the time of the record before it.

    Args:
        now: the time of the record before the first one, if there is one.

    Attributes:
        now: time of the last record, in milliseconds since the epoch; 0 before the first.
        first: the first usable time; None before it.
        began_without_time: whether a record before the first usable time was read.
    """

    def __init__(self, now: int = 0) -> None:
        self.now: int = now
        self.first: int | None = None
        self.began_without_time: bool = False

    def read(self, timestamp: int) -> int:
        """The time of the next record."""
        if 0 < timestamp <= LATEST:
            self.now = timestamp
            if self.first is None:
                self.first = timestamp
        elif self.first is None:
            self.began_without_time = True
        return self.now

    def read_column(self, times: pa.Int64Array) -> pa.Int64Array:
        """The times of the next records, as a column."""
        usable = pc.and_(pc.greater(times, _ZERO), pc.less_equal(times, _LAST))
        if not len(times):
            return times
        if self.first is None and not usable[0].as_py():
            self.began_without_time = True
        if self.first is None and usable.true_count:
            self.first = times.filter(usable)[0].as_py()
        if usable.true_count < len(times):
            known = pc.fill_null_forward(pc.if_else(usable, times, _NO_TIME))
            times = cast("pa.Int64Array", pc.fill_null(known, pa.scalar(self.now, pa.int64())))
        self.now = times[-1].as_py()
        return times
