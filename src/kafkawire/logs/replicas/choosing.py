"""Which batch of several replicas belongs to the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from kafkawire.logs.options import ReadOptions
from kafkawire.logs.replicas.finding import ReplicatedLog
from kafkawire.logs.replicas.misplaced import Misplaced
from kafkawire.logs.replicas.sound_batches import Batches, SoundBatch
from kafkawire.logs.replicas.walking import Absence, Step, walk

_Content: TypeAlias = tuple[int, int, int]
"""Last offset, size and CRC of a batch."""


@dataclass
class Choice:
    """The batches of the log, each with the number of its replica. Iterate over it once.

    Attributes:
        log: the replicas.
        options: how to read.
        is_compacted: whether Kafka compacts the log.
        dropped: how many batches were left out because a leader of a later epoch did not have them.
        lost: ranges of offsets that no replica has, in a log that is not compacted.
    """

    log: ReplicatedLog
    options: ReadOptions
    is_compacted: bool
    dropped: int = 0
    lost: list[tuple[int, int]] = field(default_factory=list)

    def __iter__(self) -> Iterator[tuple[int, SoundBatch]]:
        """The batches.

        Raises:
            LogReadError: a file cannot be read.
        """
        sources = self._sources()
        misplaced = None if self.is_compacted else Misplaced(lambda: walk(self._sources()))
        epochs = _EpochEnds(_without(misplaced, walk(sources)))
        base = _most_complete(sources) if self.is_compacted else None
        expected: int | None = None
        for step in _without(misplaced, walk(self._sources())):
            valid = epochs.valid(step.found)
            self.dropped += len(_by_content(step.found)) - len(_by_content(valid))
            if not valid or (expected is not None and step.offset < expected):
                continue
            number = _best(valid) if base is None else _of_base(step, valid, base)
            if number is None:
                continue
            if expected is not None and step.offset > expected and base is None:
                self.lost.append((expected, step.offset - 1))
            expected = valid[number].batch.last_offset + 1
            yield number, valid[number]

    def _sources(self) -> tuple[Batches, ...]:
        return tuple(Batches(each, self.is_compacted, self.options) for each in self.log.replicas)


def _without(misplaced: Misplaced | None, steps: Iterator[Step[SoundBatch]]) -> Iterator[Step[SoundBatch]]:
    return steps if misplaced is None else misplaced.without(steps)


class _EpochEnds:
    """The offset at which each leader epoch ends: where the first later one begins in any replica (KIP-101)."""

    def __init__(self, steps: Iterable[Step[SoundBatch]]) -> None:
        self._starts: dict[int, int] = {}
        for step in steps:
            confirmed = {number: each for number, each in step.found.items() if each.is_confirmed}
            for batches in _by_content(confirmed).values():
                self._starts.setdefault(min(map(_epoch, batches.values())), step.offset)
        self._ends: dict[int, int] = {}
        end: int | None = None
        for epoch in sorted(self._starts, reverse=True):
            if end is not None:
                self._ends[epoch] = end
            end = self._starts[epoch] if end is None else min(end, self._starts[epoch])

    def valid(self, batches: Mapping[int, SoundBatch]) -> dict[int, SoundBatch]:
        """The batches that no later leader lacks."""
        kept = dict[int, SoundBatch]()
        for same in _by_content(batches).values():
            end = self._ends.get(min(map(_epoch, same.values())))
            kept |= {number: each for number, each in same.items() if end is None or each.offset < end}
        return kept


def _by_content(batches: Mapping[int, SoundBatch]) -> dict[_Content, dict[int, SoundBatch]]:
    """Batches at one offset by their bytes. Their epochs are outside the CRC, so one of them may be damaged."""
    found = dict[_Content, dict[int, SoundBatch]]()
    for number, each in batches.items():
        content = (each.batch.last_offset, each.batch.size, each.batch.crc)
        found.setdefault(content, {})[number] = each
    return found


def _epoch(batch: SoundBatch) -> int:
    return batch.batch.partition_leader_epoch


def _best(batches: Mapping[int, SoundBatch]) -> int:
    """The highest epoch; of equal bytes the lowest, since an epoch that only one has is damage; found in its place.

    The wrong offset of a batch between damaged bytes may be that of another batch, which more replicas have.
    """
    groups = _by_content(batches).values()
    group = max(
        groups,
        key=lambda same: (
            min(map(_epoch, same.values())),
            any(each.is_confirmed for each in same.values()),
            len(same),
        ),
    )
    return min(group, key=lambda number: (_epoch(group[number]), group[number].is_salvaged, number))


def _of_base(step: Step[SoundBatch], batches: Mapping[int, SoundBatch], base: int) -> int | None:
    """The batch of one replica; another one only where that one is damaged, begins later or ends before."""
    if base in batches:
        return base
    return None if step.absent.get(base) is Absence.GAP else _best(batches)


def _most_complete(sources: tuple[Batches, ...]) -> int:
    """The replica that reaches furthest in the latest epoch, after all were read; of equal ones the least damaged."""
    return max(range(len(sources)), key=lambda number: (*_reach(sources[number]), -number))


def _reach(source: Batches) -> tuple[int, int, int]:
    epoch = -1 if source.last_epoch is None else source.last_epoch
    return epoch, -1 if source.last_offset is None else source.last_offset, -source.damaged
