"""The intervals of the keys of a history, made from changes in the order of a log."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter, eq
from typing import Generic, NamedTuple, TypeAlias, cast

import msgspec
import pyarrow as pa

from kafkawire.logs.folding.interval_columns import IntervalColumns, WaitingIntervals
from kafkawire.logs.folding.intervals import Interval, K, Moment, Values
from kafkawire.logs.folding.saved_state import decode_saved, tagged, untagged
from kafkawire.logs.folding.selection import Selection
from kafkawire.logs.limits import LARGEST_ROW_BATCH

_SavedIntervals: TypeAlias = list[tuple[object, object, int | None, int | None, bool, object]]
"""Keys, values, beginnings, whether a snapshot added them, and groups; what a history chose is tagged."""


def fits_where_known(held: Values | None, values: Values) -> bool:
    """Whether values are equal to those of a tuple that are known, which are not None."""
    return isinstance(held, tuple) and all(old is None or old == new for old, new in zip(held, values, strict=True))


def _end_of_unknown(key: K, at: Moment) -> Interval[K]:
    time, offset = at
    return Interval(key, None, None, None, valid_to=time, to_offset=offset)


class LedgerRules(NamedTuple):
    """When the values of a key are new ones.

    Attributes:
        renews: whether new values of a key begin a new interval; otherwise they replace the values of the open one.
        absent: values that are equivalent to no interval: a snapshot omits keys with these values, and setting them
            where every key is known and this one has none changes nothing.
        same: whether two values are equal.
        fits: whether a snapshot that has the second values may complete the first ones, parts of which are unknown; by
            default, where they are equal.
        make: makes values of a plain tuple, such as a saved state has.
    """

    renews: bool = True
    absent: Values | None = None
    same: Callable[[Values | None, Values], bool] = eq
    fits: Callable[[Values | None, Values], bool] | None = None
    make: Callable[[tuple[object, ...]], Values] = tuple


class Ledger(Generic[K]):
    """The open intervals, one for each key, and the ended ones that the caller has not taken yet.

    Memory is bounded by the keys that are open.

    Attributes:
        rules: see ``LedgerRules``.
        complete: whether every key that has values is known. If not, the end of an unknown interval is kept too.
    """

    def __init__(self, rules: LedgerRules | None = None) -> None:
        self.rules = rules or LedgerRules()
        self.complete = False
        self._ended: list[Interval[K]] = []
        self._renews, self._absent, self._same, fits, self._make = self.rules
        self._fits = fits or self._same
        self._open: dict[Hashable, dict[K, Interval[K]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def values(self, key: K, group: Hashable = None) -> Values | None:
        """The current values of a key, or None."""
        held = self._held(key, group)
        return None if held is None else held.values

    def keys(self, group: Hashable) -> Sequence[K]:
        """The keys of a group that have values."""
        return [*self._open.get(group, ())]

    def groups(self) -> Sequence[Hashable]:
        """The groups with keys that have values."""
        return [*self._open]

    def put(self, key: K, values: Values, at: Moment, group: Hashable = None) -> None:
        """Set the values of a key. Setting the values that it already has changes nothing.

        Args:
            key: what they belong to.
            values: from now on.
            at: when.
            group: of the key, always the same one.
        """
        if values == self._absent and self.complete and self._held(key, group) is None:
            return
        time, offset = at
        begun = Interval(key, values, time, offset, group)
        of_group = self._open.get(group)
        if of_group is None:
            of_group = self._open[group] = {}
        held = of_group.setdefault(key, begun)  # one search for the key, since most are new
        if held is not begun:
            self._turn(held, begun)

    def drop(self, key: K, at: Moment) -> None:
        """End the interval of a key of no group."""
        held = self._open.get(None, {}).pop(key, None)
        if held is not None:
            self._end(held, at)
        elif not self.complete:
            self._ended.append(_end_of_unknown(key, at))

    def change(
        self, keys: pa.StringArray, values: pa.BinaryArray, times: pa.Int64Array, offsets: pa.Int64Array
    ) -> None:
        """Set or end keys of no group one after the other, as ``put`` and ``drop``.

        Args:
            keys: some keys, which are strings.
            values: of each from now on; null to end it.
            times, offsets: when.
        """
        moments = zip(times.to_pylist(), offsets.to_pylist(), strict=True)
        for key, new, at in zip(cast("list[K]", keys.to_pylist()), values.to_pylist(), moments, strict=True):
            if new is None:
                self.drop(key, at)
            else:
                self.put(key, new, at)

    def drop_group(self, group: Hashable, at: Moment) -> None:
        """End the intervals of all keys of a group."""
        for held in self._open.pop(group, {}).values():
            self._end(held, at)

    def compare(self, found: Ledger[K], at: Moment, began: Moment) -> None:
        """Change to the state of a snapshot. All differences are changes at the time of the snapshot.

        Args:
            found: the open intervals of the snapshot.
            at: time and end offset of the snapshot.
            began: beginning of the intervals that only the snapshot has.
        """
        for held in [*self._intervals()]:
            if held.values != self._absent and found._held(held.key, held.group) is None:
                self._remove(held)
                self._end(held, at)
        for there in found._intervals():
            before = self._held(there.key, there.group)
            if before is not None and there.values is not None and self._fits(before.values, there.values):
                if not self._same(before.values, there.values):
                    self._replace(before, there.values)
                continue
            if before is not None and not self._renews:
                self._replace(before, there.values)
                continue
            since = began
            if before is not None:
                self._end(before, at)
                since = at
            self._begin(Interval(there.key, there.values, *since, added_by_snapshot=True, group=there.group))

    def take_ended(self) -> Iterable[Interval[K]]:
        """The intervals that have ended since the last call, in this order."""
        ended, self._ended = self._ended, []
        return ended

    def forget_ended(self) -> None:
        """Forget the intervals that have ended."""
        self._ended.clear()

    def still_open(self) -> Iterator[Interval[K]]:
        """The open intervals in the order of the records that began them; unknown beginnings come first."""
        yield from [held for held in self._intervals() if held.from_offset is None]
        known = [held for held in self._intervals() if held.from_offset is not None]
        yield from sorted(known, key=attrgetter("from_offset"))

    def waiting(self, selection: Selection) -> WaitingIntervals[K]:
        """Those that the options include, for batches of rows; it takes what has ended."""
        return _WaitingObjects(self, selection)

    def save(self) -> bytes:
        """The open intervals, from which ``restore`` continues."""
        return msgspec.msgpack.encode(
            [
                (
                    tagged(each.key),
                    tagged(each.values),
                    each.valid_from,
                    each.from_offset,
                    each.added_by_snapshot,
                    tagged(each.group),
                )
                for each in self.still_open()
            ]
        )

    def restore(self, octets: bytes) -> None:
        """Add the open intervals that a ledger of the same kind saved; an earlier reading has returned them.

        Raises:
            SavedStateError: the bytes are no such intervals.
        """
        for key, values, valid_from, from_offset, added_by_snapshot, group in decode_saved(octets, _SavedIntervals):
            plain = untagged(values)
            self._begin(
                Interval(
                    cast("K", untagged(key)),
                    self._make(plain) if isinstance(plain, tuple) else cast("bytes | None", plain),
                    valid_from,
                    from_offset,
                    added_by_snapshot=added_by_snapshot,
                    group=untagged(group),
                    is_saved=True,
                )
            )

    def _begin(self, interval: Interval[K]) -> None:
        """Add an open interval of a key that has none, or one that was ended."""
        self._open.setdefault(interval.group, {})[interval.key] = interval

    def _intervals(self) -> Iterator[Interval[K]]:
        return chain.from_iterable(of_group.values() for of_group in self._open.values())

    def _held(self, key: K, group: Hashable) -> Interval[K] | None:
        of_group = self._open.get(group)
        return None if of_group is None else of_group.get(key)

    def _turn(self, held: Interval[K], begun: Interval[K]) -> None:
        """Set the values of a key to those of another interval, unless they are the same."""
        values = cast("Values", begun.values)
        if self._same(held.values, values):
            return
        if self._renews:
            self._end(held, (begun.valid_from, begun.from_offset))
            self._begin(begun)
        else:
            self._replace(held, values)

    def _remove(self, held: Interval[K]) -> None:
        of_group = self._open[held.group]
        del of_group[held.key]
        if not of_group:
            del self._open[held.group]

    @staticmethod
    def _replace(held: Interval[K], values: Values | None) -> None:
        held.values, held.is_saved = values, False

    def _end(self, interval: Interval[K], at: Moment) -> None:
        interval.valid_to, interval.to_offset = at
        self._ended.append(interval)


class _WaitingObjects(Generic[K]):
    """See ``WaitingIntervals``."""

    def __init__(self, ledger: Ledger[K], selection: Selection) -> None:
        self._ledger, self._selection = ledger, selection
        self._waiting: list[Interval[K]] = []

    def add_ended(self) -> None:
        self._waiting += self._selection.kept(self._ledger.take_ended())

    def full(self) -> Iterator[IntervalColumns[K]]:
        while len(self._waiting) >= LARGEST_ROW_BATCH:
            yield IntervalColumns.of(self._waiting[:LARGEST_ROW_BATCH])
            del self._waiting[:LARGEST_ROW_BATCH]

    def rest(self) -> Iterator[IntervalColumns[K]]:
        self._waiting += self._selection.kept(held for held in self._ledger.still_open() if not held.is_saved)
        for start in range(0, len(self._waiting), LARGEST_ROW_BATCH):
            yield IntervalColumns.of(self._waiting[start : start + LARGEST_ROW_BATCH])
