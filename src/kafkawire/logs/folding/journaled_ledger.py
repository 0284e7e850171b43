"""A ledger that also keeps each beginning and end of an interval, in the order in which they happened."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic

import msgspec

from kafkawire.logs.folding.intervals import Interval, K, Moment, Values
from kafkawire.logs.folding.ledger import Ledger, LedgerRules


class Turn(msgspec.Struct, Generic[K], frozen=True, gc=False):
    """The beginning or the end of an interval.

    Attributes:
        interval: which. Its end may be known by now, also where this is its beginning.
        is_end: whether it ended.
    """

    interval: Interval[K]
    is_end: bool

    @property
    def at(self) -> Moment:
        """When: time in milliseconds, and offset of the record."""
        interval = self.interval
        return (interval.valid_to, interval.to_offset) if self.is_end else (interval.valid_from, interval.from_offset)


class JournaledLedger(Ledger[K]):
    """The same ledger. The journal lacks the end of what is not known, and what a state was saved with.

    What began before all that is known has no time and no offset.

    Attributes:
        journal: the turns that the caller has not taken yet. The caller clears the list.
    """

    def __init__(self, rules: LedgerRules) -> None:
        super().__init__(rules)
        self.journal: list[Turn[K]] = []

    def put(self, key: K, values: Values, at: Moment, group: Hashable = None) -> None:
        """See ``Ledger``."""
        is_new = self._held(key, group) is None
        super().put(key, values, at, group)
        now = self._held(key, group)
        if is_new and now is not None:
            self._note_beginning(now)

    def _begin(self, interval: Interval[K]) -> None:
        super()._begin(interval)
        self._note_beginning(interval)

    def _end(self, interval: Interval[K], at: Moment) -> None:
        super()._end(interval, at)
        self.journal.append(Turn(interval, is_end=True))

    def _note_beginning(self, interval: Interval[K]) -> None:
        if not interval.is_saved:
            self.journal.append(Turn(interval, is_end=False))
