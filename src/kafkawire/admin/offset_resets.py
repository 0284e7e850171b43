"""The targets of offset resets: the scenarios of ``kafka-consumer-groups --reset-offsets``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import msgspec

from kafkawire.model.partitions import OffsetSpec

_EPOCH = datetime.fromtimestamp(0, UTC)
_MILLISECOND = timedelta(milliseconds=1)


class ToOffset(msgspec.Struct, frozen=True):
    """To an offset; the nearest one that the partition has if it lies outside.

    Attributes:
        offset: the offset.
    """

    offset: int


class ShiftBy(msgspec.Struct, frozen=True):
    """From the current offset forward or back, but not out of the partition.

    Attributes:
        count: by how many offsets; below 0 for back.
    """

    count: int


class ToTime(msgspec.Struct, frozen=True):
    """To the first record that is not older than a time; to the end if there is none.

    Attributes:
        time: the time, with its time zone.

    Raises:
        ValueError: for a time without a time zone.
    """

    time: datetime

    def __post_init__(self) -> None:
        if self.time.utcoffset() is None:
            raise ValueError(f"{self.time!r} has no time zone: give one, such as tzinfo=datetime.UTC")

    @property
    def timestamp_ms(self) -> int:
        """The first whole millisecond since 1970 that is not before the time; 0 for times before 1970."""
        return max(0, -((_EPOCH - self.time) // _MILLISECOND))


class ByDuration(msgspec.Struct, frozen=True):
    """To the first record that is not older than some time before now, by the clock of the client.

    Attributes:
        duration: how long before now.

    Raises:
        ValueError: for a duration below 0.
    """

    duration: timedelta

    def __post_init__(self) -> None:
        if self.duration < timedelta(0):
            raise ValueError(f"the duration is counted back from now and must not be below 0, got {self.duration}")

    def before(self, now_ms: int) -> int:
        """The time in milliseconds since 1970 that lies so long before another; 0 for times before 1970."""
        return max(0, now_ms - self.duration // _MILLISECOND)


class ToCurrent(msgspec.Struct, frozen=True):
    """To the current offset; to the end of a partition for which nothing is committed."""


ResetTarget: TypeAlias = OffsetSpec | ToOffset | ShiftBy | ToTime | ByDuration | ToCurrent
"""Where a group is to go on; of the specs mostly ``EARLIEST`` and ``LATEST``."""


class ResetOffset(msgspec.Struct, frozen=True):
    """A partition in which a group was made to go on elsewhere, or would have been.

    Attributes:
        previous_offset: where the group went on before; None if nothing was committed.
        new_offset: where it goes on now.
        is_clamped: whether the wanted offset lay outside of the partition, so that its nearest end was taken.
    """

    previous_offset: int | None
    new_offset: int
    is_clamped: bool = False
