"""Intervals: what was so from when to when, made of changes in the order of a log."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

__all__ = ["Interval", "K", "Ledger", "Moment", "Values"]

K = TypeVar("K", bound=Hashable)

Values: TypeAlias = tuple[object, ...]
"""What is so during an interval, column by column."""


class Moment(NamedTuple):
    """A place in a log.

    Attributes:
        time: in milliseconds since the epoch; None if nobody knows.
        offset: of the record; None if nobody knows.
    """

    time: int | None
    offset: int | None


class Interval(msgspec.Struct, Generic[K], gc=False):
    """A time during which something was so.

    Attributes:
        key: what it is about.
        values: what was so; None if only its end is known.
        valid_from, valid_to: milliseconds since the epoch, the end excluded. An unknown beginning is None, and so is
            the end of what is still so.
        from_offset, to_offset: of the records that began and ended it; where a snapshot told, its end offset.
        added_by_snapshot: whether a snapshot and no record of the log told that it began.
        group: what it ends together with.
    """

    key: K
    values: Values | None
    valid_from: int | None
    from_offset: int | None
    valid_to: int | None = None
    to_offset: int | None = None
    added_by_snapshot: bool = False
    group: Hashable = None


class Ledger(Generic[K]):
    """The open intervals, one for each key, and those that ended since they were last taken.

    Memory is bounded by the keys that are open.

    Args:
        renews: whether other values for a key begin another interval; else they replace the ones that it has.
        nothing: values that say that there is nothing, which a snapshot leaves out.

    Attributes:
        complete: whether nothing can be so that is not open here. If it can, an end without a beginning is kept.
        ended: intervals in the order in which they ended. Whoever takes them clears the list.
    """

    def __init__(self, *, renews: bool = True, nothing: Values | None = None) -> None:
        self.complete = False
        self.ended: list[Interval[K]] = []
        self._renews = renews
        self._nothing = nothing
        self._open: dict[K, Interval[K]] = {}
        self._groups: dict[Hashable, dict[K, None]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def values(self, key: K) -> Values | None:
        """What is so for a key, or None."""
        held = self._open.get(key)
        return None if held is None else held.values

    def put(self, key: K, values: Values, at: Moment, group: Hashable = None) -> None:
        """From now on this is so. The same again changes nothing."""
        held = self._open.get(key)
        if held is not None:
            if held.values == values:
                return
            if not self._renews:
                held.values = values
                return
            self._end(held, at)
        self._begin(Interval(key, values, at.time, at.offset, group=group))

    def drop(self, key: K, at: Moment) -> None:
        """From now on nothing is so for a key."""
        held = self._open.pop(key, None)
        if held is not None:
            self._end(held, at)
        elif not self.complete:
            self.ended.append(Interval(key, None, None, None, at.time, at.offset))

    def drop_group(self, group: Hashable, at: Moment) -> None:
        """From now on nothing is so for all keys of a group."""
        for key in self._groups.pop(group, ()):
            self._end(self._open.pop(key), at)

    def compare(self, found: Ledger[K], at: Moment, began: Moment) -> None:
        """Take over what a snapshot says is so. What is otherwise here changed at its time.

        Args:
            found: the open intervals of the snapshot.
            at: its time and end offset.
            began: when what is only there began.
        """
        for key in [key for key, held in self._open.items() if key not in found._open and held.values != self._nothing]:
            self._end(self._open.pop(key), at)
        for key, there in found._open.items():
            held = self._open.get(key)
            if held is not None and held.values == there.values:
                continue
            if held is not None and not self._renews:
                held.values = there.values
                continue
            since = began
            if held is not None:
                self._end(held, at)
                since = at
            self._begin(
                Interval(key, there.values, since.time, since.offset, added_by_snapshot=True, group=there.group)
            )

    def still_open(self) -> Iterator[Interval[K]]:
        """The open intervals in the order of the records that began them, those with an unknown beginning first."""
        return iter(sorted(self._open.values(), key=lambda held: -1 if held.from_offset is None else held.from_offset))

    def _begin(self, interval: Interval[K]) -> None:
        self._open[interval.key] = interval
        if interval.group is not None:
            self._groups.setdefault(interval.group, {})[interval.key] = None

    def _end(self, interval: Interval[K], at: Moment) -> None:
        interval.valid_to, interval.to_offset = at
        self.ended.append(interval)
        if interval.group is None:
            return
        keys = self._groups.get(interval.group)
        if keys is not None:
            keys.pop(interval.key, None)
            if not keys:
                del self._groups[interval.group]
