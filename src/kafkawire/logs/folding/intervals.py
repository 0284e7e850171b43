"""Intervals of time during which a key had the same values, made from changes in the order of a log."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from operator import attrgetter, eq
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
        valid_from, valid_to: milliseconds since the epoch, the end excluded. None for an unknown beginning, and for the
            end of an open interval.
        from_offset, to_offset: of the records that began and ended it; the end offset of a snapshot, if the change is
            known from a snapshot alone.
        added_by_snapshot: whether the beginning is known from a snapshot alone.
        group: intervals of a group can be ended together.
        is_saved: whether an earlier reading of the log has returned it as it is.
    """

    key: K
    values: Values | None
    valid_from: int | None
    from_offset: int | None
    valid_to: int | None = None
    to_offset: int | None = None
    added_by_snapshot: bool = False
    group: Hashable = None
    is_saved: bool = False


def fits_where_known(held: Values | None, values: Values) -> bool:
    """Whether values are equal to those of a tuple that are known, which are not None."""
    return isinstance(held, tuple) and all(old is None or old == new for old, new in zip(held, values, strict=True))


class Ledger(Generic[K]):
    """The open intervals, one for each key, and the ended ones that the caller has not taken yet.

    Memory is bounded by the keys that are open.

    Args:
        renews: whether new values of a key begin a new interval; otherwise they replace the values of the open one.
        absent: values that are equivalent to no interval: a snapshot omits keys with these values, and setting them
            where every key is known and this one has none changes nothing.
        same: whether two values are equal.
        fits: whether a snapshot that has the second values may complete the first ones, parts of which are unknown; by
            default, where they are equal.
        make: makes values of a plain tuple, such as a saved state has.

    Attributes:
        complete: whether every key that has values is known. If not, the end of an unknown interval is kept too.
        ended: intervals in the order in which they ended. The caller clears the list.
    """

    def __init__(
        self,
        *,
        renews: bool = True,
        absent: Values | None = None,
        same: Callable[[Values | None, Values], bool] = eq,
        fits: Callable[[Values | None, Values], bool] | None = None,
        make: Callable[[tuple[object, ...]], Values] = tuple,
    ) -> None:
        self.complete = False
        self.ended: list[Interval[K]] = []
        self._renews = renews
        self._absent = absent
        self._same = same
        self._fits = fits or same
        self._make = make
        self._open: dict[K, Interval[K]] = {}
        self._groups: dict[Hashable, dict[K, None]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def values(self, key: K) -> Values | None:
        """The current values of a key, or None."""
        held = self._open.get(key)
        return None if held is None else held.values

    def keys(self, group: Hashable = None) -> Sequence[K]:
        """The keys that have values: all, or those of a group."""
        return [*(self._open if group is None else self._groups.get(group, ()))]

    def put(self, key: K, values: Values, at: Moment, group: Hashable = None) -> None:
        """Set the values of a key. Setting the values that it already has changes nothing."""
        if self.complete and values == self._absent and key not in self._open:
            return
        time, offset = at
        begun = Interval(key, values, time, offset)
        held = self._open.setdefault(key, begun)  # one search for the key, since most are new
        if held is not begun:
            if self._same(held.values, values):
                return
            if not self._renews:
                self._replace(held, values)
                return
            self._end(held, at)
            self._open[key] = begun
        if group is not None:
            begun.group = group
            self._groups.setdefault(group, {})[key] = None

    def drop(self, key: K, at: Moment) -> None:
        """End the interval of a key."""
        held = self._open.pop(key, None)
        if held is not None:
            self._end(held, at)
        elif not self.complete:
            self.ended.append(Interval(key, None, None, None, *at))

    def drop_group(self, group: Hashable, at: Moment) -> None:
        """End the intervals of all keys of a group."""
        for key in self._groups.pop(group, ()):
            self._end(self._open.pop(key), at)

    def compare(self, found: Ledger[K], at: Moment, began: Moment) -> None:
        """Change to the state of a snapshot. All differences are changes at the time of the snapshot.

        Args:
            found: the open intervals of the snapshot.
            at: time and end offset of the snapshot.
            began: beginning of the intervals that only the snapshot has.
        """
        for key in [key for key, held in self._open.items() if key not in found._open and held.values != self._absent]:
            self._end(self._open.pop(key), at)
        for key, there in found._open.items():
            held = self._open.get(key)
            if held is not None and there.values is not None and self._fits(held.values, there.values):
                if not self._same(held.values, there.values):
                    self._replace(held, there.values)
                continue
            if held is not None and not self._renews:
                self._replace(held, there.values)
                continue
            since = began
            if held is not None:
                self._end(held, at)
                since = at
            self.begin(Interval(key, there.values, *since, added_by_snapshot=True, group=there.group))

    def still_open(self) -> Iterator[Interval[K]]:
        """The open intervals in the order of the records that began them; unknown beginnings come first."""
        yield from (held for held in self._open.values() if held.from_offset is None)
        known = (held for held in self._open.values() if held.from_offset is not None)
        yield from sorted(known, key=attrgetter("from_offset"))

    def restore(self, interval: Interval[K]) -> None:
        """Add an open interval of a saved state, whose values are a plain tuple or bytes."""
        if isinstance(interval.values, tuple):
            interval.values = self._make(interval.values)
        self.begin(interval)

    def begin(self, interval: Interval[K]) -> None:
        """Add an open interval of a key that has none."""
        self._open[interval.key] = interval
        if interval.group is not None:
            self._groups.setdefault(interval.group, {})[interval.key] = None

    @staticmethod
    def _replace(held: Interval[K], values: Values | None) -> None:
        held.values, held.is_saved = values, False

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
