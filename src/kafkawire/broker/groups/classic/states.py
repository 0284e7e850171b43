"""The states of a classic group, and what each event does in each state, as data.

The table is that of Apache Kafka's ``ClassicGroup`` and ``GroupMetadataManager``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import Final, TypeAlias

from kafkawire.protocol.error_codes import ErrorCode


class State(Enum):
    """The states of a group, with Kafka's names."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class Event(Enum):
    """What happens to a group; a member is known before its event is looked up."""

    NEW_MEMBER = auto()
    """A member was added."""
    JOIN_AGAIN = auto()
    """A member joins with the protocols that it has."""
    LEADER_JOINS_AGAIN = auto()
    """The same, from the leader: what it assigns may have changed."""
    JOIN_WITH_OTHER_PROTOCOLS = auto()
    """A member joins with other protocols or another subscription."""
    STATIC_MEMBER_RETURNS = auto()
    """A static member joins without a member id, and the group would select the protocol that it has (KIP-345)."""
    STATIC_MEMBER_CHANGES_PROTOCOL = auto()
    """The same, where the group would select another protocol."""
    SYNC = auto()
    HEARTBEAT = auto()
    MEMBER_LEFT = auto()
    """Members have left with LeaveGroup, and are removed."""
    MEMBER_EXPIRED = auto()
    """A member sent no heartbeat for its session timeout, and is removed."""
    PENDING_MEMBER_EXPIRED = auto()
    """A client did not use the member id that it got (KIP-394), and the id is removed."""
    SYNC_EXPIRED = auto()
    """Members did not send SyncGroup within the rebalance timeout (KIP-766)."""
    COMMIT_BY_MEMBER = auto()
    DELETION = auto()
    """Of the group; and of offsets, if the group's members are no consumers."""


class Step(Enum):
    """What the group does."""

    NOTHING = auto()
    REBALANCE = auto()
    """Begin a rebalance: wait until all members have joined."""
    COMPLETE_IF_ALL_JOINED = auto()
    """End the wait if it is not for the first members of a group, and all have joined."""
    COMPLETE_EVEN_AT_FIRST = auto()
    """End the wait if all members have joined."""
    ANSWER_CURRENT_GENERATION = auto()
    KEEP_ASSIGNMENT = auto()
    """Record the member's new id, and answer with the current generation."""
    AWAIT_ASSIGNMENT = auto()
    """Wait for the leader; if it is the leader, distribute its assignment."""
    ANSWER_ASSIGNMENT = auto()


_Row: TypeAlias = Mapping[State, Step | ErrorCode]


def _row(
    empty: Step | ErrorCode,
    preparing: Step | ErrorCode,
    completing: Step | ErrorCode,
    stable: Step | ErrorCode,
    dead: Step | ErrorCode = ErrorCode.COORDINATOR_NOT_AVAILABLE,
) -> _Row:
    return MappingProxyType(dict(zip(State, (empty, preparing, completing, stable, dead), strict=True)))


_UNKNOWN: Final = ErrorCode.UNKNOWN_MEMBER_ID
_IN_PROGRESS: Final = ErrorCode.REBALANCE_IN_PROGRESS
_NOT_EMPTY: Final = ErrorCode.NON_EMPTY_GROUP
_IF_ALL: Final = Step.COMPLETE_IF_ALL_JOINED
_AT_FIRST: Final = Step.COMPLETE_EVEN_AT_FIRST
_REBALANCE: Final = Step.REBALANCE
_CURRENT: Final = Step.ANSWER_CURRENT_GENERATION
_KEEP: Final = Step.KEEP_ASSIGNMENT
_NOTHING: Final = Step.NOTHING
_OK: Final = ErrorCode.NONE

TABLE: Final[Mapping[Event, _Row]] = MappingProxyType(
    {
        #                                         Empty       Preparing     Completing   Stable
        Event.NEW_MEMBER: _row(_REBALANCE, _IF_ALL, _REBALANCE, _REBALANCE),
        Event.JOIN_AGAIN: _row(_UNKNOWN, _IF_ALL, _CURRENT, _CURRENT),
        Event.LEADER_JOINS_AGAIN: _row(_UNKNOWN, _IF_ALL, _CURRENT, _REBALANCE),
        Event.JOIN_WITH_OTHER_PROTOCOLS: _row(_UNKNOWN, _IF_ALL, _REBALANCE, _REBALANCE),
        Event.STATIC_MEMBER_RETURNS: _row(_UNKNOWN, _IF_ALL, _REBALANCE, _KEEP),
        Event.STATIC_MEMBER_CHANGES_PROTOCOL: _row(_UNKNOWN, _IF_ALL, _REBALANCE, _REBALANCE),
        Event.SYNC: _row(_UNKNOWN, _IN_PROGRESS, Step.AWAIT_ASSIGNMENT, Step.ANSWER_ASSIGNMENT),
        Event.HEARTBEAT: _row(_UNKNOWN, _IN_PROGRESS, _OK, _OK),
        Event.MEMBER_LEFT: _row(_NOTHING, _IF_ALL, _REBALANCE, _REBALANCE),
        Event.MEMBER_EXPIRED: _row(_NOTHING, _AT_FIRST, _REBALANCE, _REBALANCE),
        Event.PENDING_MEMBER_EXPIRED: _row(_NOTHING, _AT_FIRST, _NOTHING, _NOTHING),
        Event.SYNC_EXPIRED: _row(_NOTHING, _NOTHING, _REBALANCE, _REBALANCE),
        Event.COMMIT_BY_MEMBER: _row(_UNKNOWN, _OK, _IN_PROGRESS, _OK),
        Event.DELETION: _row(_OK, _NOT_EMPTY, _NOT_EMPTY, _NOT_EMPTY, ErrorCode.GROUP_ID_NOT_FOUND),
    }
)
"""Each event in each state: an error for the client, NONE included, or a step of the group."""

PRECEDING: Final[Mapping[State, frozenset[State]]] = MappingProxyType(
    {
        State.EMPTY: frozenset({State.PREPARING_REBALANCE}),
        State.PREPARING_REBALANCE: frozenset({State.STABLE, State.COMPLETING_REBALANCE, State.EMPTY}),
        State.COMPLETING_REBALANCE: frozenset({State.PREPARING_REBALANCE}),
        State.STABLE: frozenset({State.COMPLETING_REBALANCE}),
        State.DEAD: frozenset(State),
    }
)
"""The states that a group may have had before each."""
