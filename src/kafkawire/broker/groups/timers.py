"""The timers of a group, as data: nothing here waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from operator import itemgetter
from typing import Final, NamedTuple

_NEVER: Final = float("inf")


class Now(NamedTuple):
    """The time of an event.

    Attributes:
        seconds: of the broker's clock, for timers.
        ms: since the epoch, for records.
    """

    seconds: float
    ms: int


class TimerKind(Enum):
    """What a timer is for."""

    JOIN = auto()
    """Ends the wait for members that have not joined, or removes one that does not join again."""
    SYNC = auto()
    """Removes members that have not sent SyncGroup."""
    SESSION = auto()
    """Removes a member that sends no heartbeats, or an id that no client joins with."""
    REVOCATION = auto()
    """Removes a member that does not give up partitions or tasks."""
    ASSIGNMENT = auto()
    """Ends the wait of a streams group for more members."""


class Timer(NamedTuple):
    """A timer; at most one of each name is set.

    Attributes:
        kind: what it is for.
        member_id: of the member; empty for timers of the whole group.
    """

    kind: TimerKind
    member_id: str = ""


JOIN: Final = Timer(TimerKind.JOIN)
SYNC: Final = Timer(TimerKind.SYNC)
ASSIGNMENT: Final = Timer(TimerKind.ASSIGNMENT)


def session(member_id: str) -> Timer:
    """The timer of a member's session."""
    return Timer(TimerKind.SESSION, member_id)


def revocation(member_id: str) -> Timer:
    """The timer of a member that must give up partitions."""
    return Timer(TimerKind.REVOCATION, member_id)


def join(member_id: str) -> Timer:
    """The timer of a classic member of a consumer group that must join again."""
    return Timer(TimerKind.JOIN, member_id)


def sync(member_id: str) -> Timer:
    """The timer of a classic member of a consumer group that must send SyncGroup."""
    return Timer(TimerKind.SYNC, member_id)


def of_member(member_id: str) -> Iterable[Timer]:
    """All timers of a member of a consumer group or a streams group."""
    return (session(member_id), revocation(member_id), join(member_id), sync(member_id))


class Timers:
    """Deadlines by timer, in seconds of the broker's clock.

    Attributes:
        look_at: no timer is due before this time; infinity without timers. After a heartbeat it may be too early.
    """

    def __init__(self) -> None:
        self.look_at = _NEVER
        self._deadlines: dict[Timer, float] = {}

    def set(self, timer: Timer, deadline: float) -> None:
        """Set a timer, instead of an earlier one of the same name."""
        self._deadlines[timer] = deadline
        self.look_at = min(self.look_at, deadline)

    def cancel(self, timer: Timer) -> None:
        """Forget a timer, if it is set."""
        self._deadlines.pop(timer, None)

    def __contains__(self, timer: object) -> bool:
        return timer in self._deadlines

    def __len__(self) -> int:
        return len(self._deadlines)

    def due(self, now: float) -> Iterator[Timer]:
        """The timers that are due, the earliest first, each forgotten when it is returned.

        One that is set again or cancelled meanwhile is not due any more.
        """
        due = [(deadline, timer) for timer, deadline in self._deadlines.items() if deadline <= now]
        for deadline, timer in sorted(due, key=itemgetter(0)):
            if self._deadlines.get(timer) == deadline:
                del self._deadlines[timer]
                yield timer
        self.look_at = min(self._deadlines.values(), default=_NEVER)
