"""What clients have sent to a broker that may be killed, and whether readers find what they must."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise

from tests.embedded.partition_reading import FoundBatch, Place, Reading


class Fate(Enum):
    """What the sender of a batch has heard of it."""

    SENT = auto()
    """Nothing: it may be there or not."""
    KEPT = auto()
    """It was acknowledged, or seen after a start: it stays."""
    GONE = auto()
    """It was not there after a start: it does not come."""


@dataclass(eq=False)
class SentBatch:
    """A batch that a client has sent.

    Attributes:
        place: its partition.
        values: of its records, which no other batch has.
        key: of its records; None outside of compacted topics.
        transaction: that it is in; None for none.
        sequence: of the first record; -1 without one.
        fate: as far as it is known.
        offset: of the first record, once it is known; else -1.
        incarnation: of its topic.
    """

    place: Place
    values: tuple[bytes, ...]
    key: bytes | None = None
    transaction: SentTransaction | None = None
    sequence: int = -1
    fate: Fate = Fate.SENT
    offset: int = -1
    incarnation: int = 0

    def acknowledged(self, offset: int) -> None:
        """The broker has answered."""
        assert self.offset in {-1, offset}, f"{self.values[0]!r} was at {self.offset}, and is acknowledged at {offset}"
        self.offset, self.fate = offset, Fate.KEPT


@dataclass(eq=False)
class SentTransaction:
    """A transaction of a client.

    Attributes:
        name: the transactional id.
        batches: in it.
        offset: the offset that a group commits with it; None for none.
        ends: how the client wants to end it; None before it has.
        is_committed: whether it is; None if that is not known.
        is_left: whether another process has the transactional id, so that no one asks again.
    """

    name: str
    batches: list[SentBatch] = field(default_factory=list)
    offset: int | None = None
    ends: bool | None = None
    is_committed: bool | None = None
    is_left: bool = False

    @property
    def may_be_seen(self) -> bool:
        """Whether committed readers may have its records."""
        return bool(self.ends) and self.is_committed is not False


class KeptRecords:
    """All batches that were sent, and the rules for what readers find.

    Attributes:
        by_value: each value to its batch.
        incarnations: topic to the number of its current incarnation; those that do not exist are missing.
        compacted: names of compacted topics.
        starts: partition to the first offsets that it may have; the last one is that of the last request.
        seen: what readers have seen, with its place.
    """

    def __init__(self, compacted: Iterable[str] = ()) -> None:
        self.by_value: dict[bytes, SentBatch] = {}
        self.incarnations: dict[str, int] = {}
        self.compacted = frozenset(compacted)
        self.starts: dict[Place, list[int]] = {}
        self.seen: dict[bytes, SentBatch] = {}
        self.number = 0

    def made(
        self,
        place: Place,
        count: int,
        *,
        key: bytes | None = None,
        transaction: SentTransaction | None = None,
        sequence: int = -1,
    ) -> SentBatch:
        """A batch to send."""
        values = tuple(b"%d" % (self.number + index) for index in range(count))
        self.number += count
        incarnation = self.incarnations.get(place[0], 0)
        batch = SentBatch(place, values, key, transaction, sequence, incarnation=incarnation)
        self.by_value.update(dict.fromkeys(values, batch))
        if transaction is not None:
            transaction.batches.append(batch)
        return batch

    def note_seen(self, readings: Mapping[Place, Reading]) -> None:
        """A committed reader got this while others wrote: it may be there, and then stays there."""
        for place, reading in readings.items():
            for found in reading.batches:
                for value in found.values:
                    batch = self._sent(place, value)
                    transaction = batch.transaction
                    assert transaction is None or transaction.may_be_seen, f"{value!r} of {transaction} is seen"
                    assert batch.fate is not Fate.GONE, f"{value!r} comes late"
                    self.seen[value] = batch

    def check(self, every: Mapping[Place, Reading], committed: Mapping[Place, Reading]) -> None:
        """What readers find after a start, while no client writes: all that was promised, and nothing half.

        Raises:
            AssertionError: something is missing, or there that must not be.
        """
        for place, reading in every.items():
            self._check_order(place, reading)
            self._check_start(place, reading)
            found = self._check_batches(place, reading)
            self._check_missing(place, reading, found)
        for batch in self.by_value.values():
            if batch.fate is Fate.SENT and batch.place in every and self._is_current(batch):
                batch.fate = Fate.GONE
        visible = {value for reading in committed.values() for value in reading.values}
        for place, reading in committed.items():
            assert len(reading.values) == len({*reading.values}), f"{place}: a value twice"
            for value in reading.values:
                transaction = self._sent(place, value).transaction
                assert transaction is None or transaction.may_be_seen, f"{value!r} of {transaction} is seen"
        for value, batch in self.seen.items():
            if self._must_be_there(batch, every.get(batch.place)):
                assert value in visible, f"{value!r} was seen, and is not there any more"
        self._check_plain(every, committed)

    def is_whole(self, transaction: SentTransaction, committed: Mapping[Place, Reading]) -> bool | None:
        """Whether the records of a transaction are visible; None if none of them shows it.

        Raises:
            AssertionError: some are, and others are not.
        """
        seen: dict[bytes, bool] = {}
        for batch in transaction.batches:
            reading = committed.get(batch.place)
            if reading is None or batch.fate is not Fate.KEPT or not self._is_current(batch):
                continue
            visible = {*reading.values}
            for offset, value in enumerate(batch.values, batch.offset):
                is_there = batch.place[0] not in self.compacted and offset >= reading.start_offset
                if value in visible or (is_there and offset < reading.stable_offset):
                    seen[value] = value in visible
        assert len({*seen.values()}) <= 1, f"a part of {transaction} is seen: {seen}"
        return next(iter(seen.values()), None)

    def _sent(self, place: Place, value: bytes) -> SentBatch:
        batch = self.by_value.get(value)
        assert batch is not None, f"{place}: {value!r} was never sent"
        assert batch.place == place, f"{value!r} was sent to {batch.place}, and is in {place}"
        assert self._is_current(batch), f"{place}: {value!r} is of a topic that was deleted"
        return batch

    def _is_current(self, batch: SentBatch) -> bool:
        return self.incarnations.get(batch.place[0]) == batch.incarnation

    def _must_be_there(self, batch: SentBatch, reading: Reading | None) -> bool:
        if reading is None or not self._is_current(batch) or batch.place[0] in self.compacted:
            return False
        return batch.offset >= reading.start_offset

    def _check_order(self, place: Place, reading: Reading) -> None:
        if not reading.batches:
            return
        is_compacted = place[0] in self.compacted
        for before, after in pairwise(reading.batches):
            follows = before.last_offset < after.offset if is_compacted else before.last_offset + 1 == after.offset
            assert follows, f"{place}: {before} is followed by {after}"
        last = reading.batches[-1].last_offset
        assert last + 1 == reading.end_offset or is_compacted, f"{place}: it ends at {reading.end_offset}"

    def _check_start(self, place: Place, reading: Reading) -> None:
        starts = self.starts.get(place, [0])
        assert reading.start_offset in starts, f"{place}: begins at {reading.start_offset} instead of one of {starts}"
        self.starts[place] = [reading.start_offset]

    def _check_batches(self, place: Place, reading: Reading) -> set[SentBatch]:
        found: set[SentBatch] = set()
        for each in reading.batches:
            if each.is_control or not each.values:
                continue
            batch = self._sent(place, each.values[0])
            self._check_batch(batch, each, reading)
            assert batch not in found, f"{place}: {batch} is there twice"
            found.add(batch)
        return found

    def _check_batch(self, batch: SentBatch, each: FoundBatch, reading: Reading) -> None:
        assert batch.values[-len(each.values) :] == each.values, f"{each} instead of {batch}"
        is_whole = len(each.values) == len(batch.values) or each.offset < reading.start_offset
        assert is_whole, f"a part of {batch} is there"
        assert batch.fate is not Fate.GONE, f"{batch} comes late"
        batch.acknowledged(each.offset)

    def _check_missing(self, place: Place, reading: Reading, found: set[SentBatch]) -> None:
        newest: dict[bytes | None, int] = {}
        for batch in found:
            if batch.transaction is None or batch.transaction.may_be_seen:
                newest[batch.key] = max(newest.get(batch.key, -1), batch.offset)
        for batch in {*self.by_value.values()} - found:
            if batch.place != place or batch.fate is not Fate.KEPT or not self._is_current(batch):
                continue
            if place[0] in self.compacted:
                is_dropped = batch.transaction is not None and batch.transaction.is_committed is not True
                is_there = is_dropped or newest.get(batch.key, -1) > batch.offset
            else:
                is_there = batch.offset + len(batch.values) <= reading.start_offset
            assert is_there, f"{batch} is lost"

    def _check_plain(self, every: Mapping[Place, Reading], committed: Mapping[Place, Reading]) -> None:
        """Committed readers get all that is in no transaction, up to the last stable offset."""
        for place, reading in every.items():
            stable = committed[place].stable_offset
            seen = {*committed[place].values}
            for each in reading.batches:
                if each.offset < stable and each.values and self._sent(place, each.values[0]).transaction is None:
                    assert seen.issuperset(each.values), f"{place}: committed readers lack {each}"
