"""Batches with a wrong offset that fits: another replica has the same batch at another offset.

No checksum covers the offset of a batch. Where a batch is lost without a trace, the next one can have the offset of the
lost one, in more replicas than the right one. But each replica has a batch once, so the same batch at two offsets has a
wrong one: the offset where replicas have another batch too, if at the other offset they have no other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from kafkawire.logs.replicas.sound_batches import SoundBatch
from kafkawire.logs.replicas.walking import Step

_Steps: TypeAlias = Iterable[Step[SoundBatch]]
_Same: TypeAlias = tuple[int, int, int, int]
"""Offsets, size, CRC and leader epoch of a batch: the same batch has these in all replicas. A producer that repeats a
batch at another leader makes one with another epoch."""

_Placed: TypeAlias = tuple[int, _Same]
"""A batch and its offset."""


class Misplaced:
    """The batches that another replica has at another offset, where it is right.

    Args:
        walk: begins a walk along the replicas; a second one follows if replicas have different batches at an offset.
    """

    def __init__(self, walk: Callable[[], _Steps]) -> None:
        rivals = {_same(each) for place in _places(walk()) if place.is_disputed for each in place.found.values()}
        self._wrong = _Dispute(rivals, _places(walk())).wrong if rivals else set[_Placed]()

    def without(self, steps: _Steps) -> Iterator[Step[SoundBatch]]:
        """Steps without these batches."""
        for step in steps:
            found = {number: each for number, each in step.found.items() if _placed(each) not in self._wrong}
            if found:
                yield step if len(found) == len(step.found) else replace(step, found=found)


@dataclass(frozen=True)
class _Place:
    """What replicas have at an offset.

    Attributes:
        offset: the offset.
        found: the batches, by the number of the replica.
        reaching: batches that begin before and reach beyond it; a replica has one at most.
    """

    offset: int
    found: dict[int, SoundBatch]
    reaching: frozenset[_Placed]

    @property
    def is_disputed(self) -> bool:
        return bool(self.reaching) or len({_same(each) for each in self.found.values()}) > 1


@dataclass
class _Dispute:
    """Finds the wrong offsets of some batches.

    Args:
        rivals: the batches.
        places: all offsets.

    Attributes:
        wrong: the batches with their wrong offsets.
    """

    rivals: set[_Same]
    places: Iterable[_Place]
    wrong: set[_Placed] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._at = dict[int, set[_Same]]()
        self._reaching = dict[int, frozenset[_Placed]]()
        self._reached_by: dict[_Placed, list[int]] = defaultdict(list)
        self._offsets: dict[_Same, dict[int, int]] = defaultdict(dict)
        self._repeated = set[_Same]()
        for place in self.places:
            self._note(place)
        settled = [offset for offset in self._at if self._is_settled(offset)]
        while settled:
            settled += self._follow(settled.pop())

    def _note(self, place: _Place) -> None:
        here = {number: _same(each) for number, each in place.found.items()}
        if self.rivals.isdisjoint(here.values()):
            return
        self._at[place.offset] = set(here.values())
        self._reaching[place.offset] = place.reaching
        for each in place.reaching:
            self._reached_by[each].append(place.offset)
        for number, batch in here.items():
            if self._offsets[batch].setdefault(number, place.offset) != place.offset:
                self._repeated.add(batch)  # records may be sent twice with the same times

    def _is_settled(self, offset: int) -> bool:
        """Whether replicas have one batch there, and no other that may be right."""
        if len(self._at[offset]) > 1:
            return False
        (batch,) = self._at[offset]
        reaching = self._reaching[offset]
        return (offset, batch) not in self.wrong and all(each in self.wrong or each[1] == batch for each in reaching)

    def _follow(self, settled: int) -> Iterator[int]:
        """Note other offsets of the batch that is right there as wrong; returns the offsets that this settles."""
        (batch,) = self._at[settled]
        if batch in self._repeated:
            return
        for offset in {*self._offsets[batch].values()} - {settled}:
            if batch not in self._at[offset] or self._is_settled(offset):
                continue
            self.wrong.add((offset, batch))
            if len(self._at[offset]) > 1:
                self._at[offset].remove(batch)
            yield from filter(self._is_settled, (offset, *self._reached_by.get((offset, batch), ())))


def _places(steps: _Steps) -> Iterator[_Place]:
    latest = dict[int, SoundBatch]()
    for step in steps:
        reaching = (each for each in latest.values() if each.offset < step.offset <= each.batch.last_offset)
        yield _Place(step.offset, step.found, frozenset(map(_placed, reaching)))
        latest |= step.found


def _placed(batch: SoundBatch) -> _Placed:
    return batch.offset, _same(batch)


def _same(batch: SoundBatch) -> _Same:
    own = batch.batch
    return own.last_offset_delta, own.size, own.crc, own.partition_leader_epoch
