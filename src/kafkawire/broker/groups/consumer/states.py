"""The states of consumer groups and of their members, and what a member does in each, as data.

The table is that of Apache Kafka's ``CurrentAssignmentBuilder``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum, auto
from types import MappingProxyType
from typing import Final


class GroupState(Enum):
    """The states of a group, with Kafka's names."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    """The group has a newer epoch than the target assignment."""
    RECONCILING = "Reconciling"
    """Some members do not have their target assignment yet."""
    STABLE = "Stable"
    DEAD = "Dead"


class MemberState(IntEnum):
    """The states of a member, with the numbers of records."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    """It must give up partitions before it gets others."""
    UNRELEASED_PARTITIONS = 2
    """It waits for partitions of other members."""
    UNKNOWN = 127
    """A newer release wrote the record."""

    @classmethod
    def of(cls, number: int) -> MemberState:
        """The state with a number; unknown for any other."""
        return cls(number) if number in {*cls} else cls.UNKNOWN


class Step(Enum):
    """What a member does when it sends a heartbeat."""

    KEEP = auto()
    SHRINK = auto()
    """Give up the partitions of topics that it does not subscribe to any more."""
    ADVANCE = auto()
    """Come as near to the target assignment as the other members allow."""
    FENCE = auto()
    """Join again, without partitions."""


class Situation(Enum):
    """What decides about the step."""

    DONE = auto()
    """It has the epoch of the target, or still owns what it must give up, or must give up all that it owns."""
    DONE_SUBSCRIBED_OTHERWISE = auto()
    """The same, and its subscription has changed."""
    MAY_ADVANCE = auto()


_DONE: Final = Situation.DONE
_OTHERWISE: Final = Situation.DONE_SUBSCRIBED_OTHERWISE
_MAY: Final = Situation.MAY_ADVANCE

TABLE: Final[Mapping[MemberState, Mapping[Situation, Step]]] = MappingProxyType(
    {
        MemberState.STABLE: {_DONE: Step.KEEP, _OTHERWISE: Step.SHRINK, _MAY: Step.ADVANCE},
        MemberState.UNREVOKED_PARTITIONS: {_DONE: Step.KEEP, _OTHERWISE: Step.SHRINK, _MAY: Step.ADVANCE},
        MemberState.UNRELEASED_PARTITIONS: {_MAY: Step.ADVANCE},
        MemberState.UNKNOWN: {_DONE: Step.FENCE, _OTHERWISE: Step.FENCE, _MAY: Step.ADVANCE},
    }
)
"""What a member does in each state and situation."""
