"""Replicas side by side: which of them have something at each offset, and why the others have nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from kafkawire.logs.replicas.finding import Replica
from kafkawire.logs.replicas.sound_batches import Damage


class Absence(StrEnum):
    """Why a replica has nothing at an offset that another has."""

    BEFORE_START = "begins later"
    """Its older segments were deleted by retention."""

    AFTER_END = "ends before"
    """It lagged when it was copied."""

    DAMAGED = "is damaged there"
    """Its bytes there are damaged."""

    GAP = "has nothing there"
    """What it has before and after the offset is sound."""


class Placed(Protocol):
    """A batch or record of a replica."""

    @property
    def offset(self) -> int:
        """Its offset, or the first one."""

    @property
    def after(self) -> tuple[Damage, ...]:
        """The damage before it, up to the sound bytes before."""


P = TypeVar("P", bound=Placed)
P_co = TypeVar("P_co", bound=Placed, covariant=True)


class Source(Protocol[P_co]):
    """What a replica has, in the order of the offsets."""

    @property
    def replica(self) -> Replica:
        """Which replica."""

    @property
    def at_end(self) -> tuple[Damage, ...]:
        """The damage at the end; complete after the iteration."""

    def __iter__(self) -> Iterator[P_co]: ...


@dataclass(frozen=True)
class Step(Generic[P]):
    """An offset at which at least one replica has something.

    Attributes:
        offset: which one.
        found: what they have, by the number of the replica.
        absent: why the others have nothing, by their number.
        damage: what those have there that are damaged, by their number.
    """

    offset: int
    found: dict[int, P]
    absent: dict[int, Absence]
    damage: dict[int, tuple[Damage, ...]]


def walk(sources: Sequence[Source[P]]) -> Iterator[Step[P]]:
    """All offsets at which a replica has something, in order.

    Raises:
        LogReadError: a file cannot be read.
    """
    iterators = [iter(each) for each in sources]
    heads: list[P | None] = [next(each, None) for each in iterators]
    while present := [head for head in heads if head is not None]:
        offset = min(head.offset for head in present)
        found = {number: head for number, head in enumerate(heads) if head is not None and head.offset == offset}
        yield _step(offset, found, sources, heads)
        for number in found:
            heads[number] = next(iterators[number], None)


def _step(offset: int, found: dict[int, P], sources: Sequence[Source[P]], heads: Sequence[P | None]) -> Step[P]:
    absent, damage = dict[int, Absence](), dict[int, tuple[Damage, ...]]()
    for number, (source, head) in enumerate(zip(sources, heads, strict=True)):
        if number in found:
            continue
        lost = source.at_end if head is None else head.after
        if offset < source.replica.start:
            absent[number] = Absence.BEFORE_START
        elif lost:
            absent[number], damage[number] = Absence.DAMAGED, lost
        else:
            absent[number] = Absence.AFTER_END if head is None else Absence.GAP
    return Step(offset, found, absent, damage)
