"""Intervals of time during which a key had the same values."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Generic, TypeAlias, TypeVar

import msgspec

K = TypeVar("K", bound=Hashable)

Values: TypeAlias = tuple[object, ...] | bytes
"""The values that hold during an interval: column by column, or the encoded record that has them."""

Moment: TypeAlias = tuple[int | None, int | None]
"""A place in a log: time in milliseconds since the epoch, and offset of the record; None if unknown."""

UNKNOWN: Final[Moment] = (None, None)


class Interval(msgspec.Struct, Generic[K], gc=False):
    """A time during which a key had the same values.

    Attributes:
        key: what the values belong to.
        values: None if only the end of the interval is known.
        group: intervals of a group can be ended together.
        valid_from, valid_to: milliseconds since the epoch, the end excluded. None for an unknown beginning, and for the
            end of an open interval.
        from_offset, to_offset: of the records that began and ended it; the end offset of a snapshot, if the change is
            known from a snapshot alone.
        added_by_snapshot: whether the beginning is known from a snapshot alone.
        is_saved: whether an earlier reading of the log has returned it as it is.
    """

    key: K
    values: Values | None
    valid_from: int | None
    from_offset: int | None
    group: Hashable = None
    valid_to: int | None = None
    to_offset: int | None = None
    added_by_snapshot: bool = False
    is_saved: bool = False
