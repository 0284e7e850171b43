"""The states of streams groups and of their members."""

from __future__ import annotations

from enum import Enum, IntEnum


class StreamsGroupStatus(Enum):
    """The states of a group, with Kafka's names."""

    EMPTY = "Empty"
    NOT_READY = "NotReady"
    """Topics of the topology are missing or wrong."""
    ASSIGNING = "Assigning"
    """The group has a newer epoch than the target assignment."""
    RECONCILING = "Reconciling"
    """Some members do not have their target assignment yet."""
    STABLE = "Stable"


class StreamsMemberState(IntEnum):
    """The states of a member, with the numbers of records."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    """It must give up tasks before it gets others."""
    UNRELEASED_TASKS = 3
    """It waits for tasks of others."""
    UNKNOWN = 127
    """A newer release wrote the record."""

    @classmethod
    def of(cls, number: int) -> StreamsMemberState:
        """The state with a number; unknown for any other."""
        return cls(number) if number in {*cls} else cls.UNKNOWN
