"""What each event does to a transaction in each state, as data.

The table is that of Apache Kafka's ``TransactionCoordinator`` and ``TransactionMetadata``. Kafka's states ``Dead`` and
``PrepareEpochFence`` last only while a record is written: here a change takes effect at once, and they do not occur.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import Final, TypeAlias

from kafkawire.model.transactions import TransactionState
from kafkawire.protocol.error_codes import ErrorCode


class Event(Enum):
    """What happens to a transaction; its producer id and epoch are checked before the event is looked up."""

    INITIALIZE = auto()
    """A producer begins, or goes on after an error (KIP-360)."""
    ADD_PARTITIONS = auto()
    VERIFY = auto()
    """Whether partitions are in the transaction."""
    COMMIT = auto()
    """From a client before version 2 of transactions, with the current epoch."""
    ABORT = auto()
    COMMIT_V2 = auto()
    """From a client of version 2, with the current epoch (KIP-890)."""
    ABORT_V2 = auto()
    COMMIT_V2_AGAIN = auto()
    """The same with the epoch before, which the client has if it got no answer."""
    ABORT_V2_AGAIN = auto()
    TIMED_OUT = auto()
    MARKERS_WRITTEN = auto()
    """All partitions have the marker."""
    UNUSED = auto()
    """The transactional id was not used for ``transactional.id.expiration.ms``."""


class Step(Enum):
    """What the coordinator does."""

    NOTHING = auto()
    NEXT_EPOCH = auto()
    FENCE = auto()
    """Abort the transaction with the next epoch, which its producer does not get."""
    ADD = auto()
    CHECK = auto()
    """Answer for each partition."""
    PREPARE_COMMIT = auto()
    PREPARE_ABORT = auto()
    ABORT_NOTHING = auto()
    """Abort a transaction without partitions: the producer wants the next epoch."""
    COMPLETE = auto()
    REMOVE = auto()


STATES: Final = (
    TransactionState.EMPTY,
    TransactionState.ONGOING,
    TransactionState.PREPARE_COMMIT,
    TransactionState.PREPARE_ABORT,
    TransactionState.COMPLETE_COMMIT,
    TransactionState.COMPLETE_ABORT,
)
"""The states; the position of each is its number in records."""

_Row: TypeAlias = Mapping[TransactionState, Step | ErrorCode]


def _row(*cells: Step | ErrorCode) -> _Row:
    return MappingProxyType(dict(zip(STATES, cells, strict=True)))


_CONCURRENT: Final = ErrorCode.CONCURRENT_TRANSACTIONS
_FENCED: Final = ErrorCode.PRODUCER_FENCED
_INVALID: Final = ErrorCode.INVALID_TXN_STATE
_OK: Final = ErrorCode.NONE
_NEXT: Final = Step.NEXT_EPOCH
_ADD: Final = Step.ADD
_CHECK: Final = Step.CHECK
_COMMIT: Final = Step.PREPARE_COMMIT
_ABORT: Final = Step.PREPARE_ABORT
_EMPTY: Final = Step.ABORT_NOTHING
_COMPLETE: Final = Step.COMPLETE
_REMOVE: Final = Step.REMOVE
_NO: Final = Step.NOTHING

TABLE: Final[Mapping[Event, _Row]] = MappingProxyType(
    {
        #                            Empty     Ongoing     PrepareCommit PrepareAbort CompleteCommit CompleteAbort
        Event.INITIALIZE: _row(_NEXT, Step.FENCE, _CONCURRENT, _CONCURRENT, _NEXT, _NEXT),
        Event.ADD_PARTITIONS: _row(_ADD, _ADD, _CONCURRENT, _CONCURRENT, _ADD, _ADD),
        Event.VERIFY: _row(_CHECK, _CHECK, _CONCURRENT, _CONCURRENT, _CHECK, _CHECK),
        Event.COMMIT: _row(_INVALID, _COMMIT, _CONCURRENT, _INVALID, _OK, _INVALID),
        Event.ABORT: _row(_INVALID, _ABORT, _INVALID, _CONCURRENT, _INVALID, _OK),
        Event.COMMIT_V2: _row(_INVALID, _COMMIT, _FENCED, _FENCED, _INVALID, _INVALID),
        Event.ABORT_V2: _row(_EMPTY, _ABORT, _FENCED, _FENCED, _EMPTY, _EMPTY),
        Event.COMMIT_V2_AGAIN: _row(_FENCED, _FENCED, _CONCURRENT, _INVALID, _OK, _INVALID),
        Event.ABORT_V2_AGAIN: _row(_FENCED, _FENCED, _INVALID, _CONCURRENT, _INVALID, _OK),
        Event.TIMED_OUT: _row(_NO, Step.FENCE, _NO, _NO, _NO, _NO),
        Event.MARKERS_WRITTEN: _row(_NO, _NO, _COMPLETE, _COMPLETE, _NO, _NO),
        Event.UNUSED: _row(_REMOVE, _NO, _NO, _NO, _REMOVE, _REMOVE),
    }
)
"""Each event in each state: an error for the client, NONE included, or a step of the coordinator."""

PRECEDING: Final[Mapping[TransactionState, frozenset[TransactionState]]] = MappingProxyType(
    {
        TransactionState.EMPTY: frozenset(
            {TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT}
        ),
        TransactionState.ONGOING: frozenset(
            {
                TransactionState.EMPTY,
                TransactionState.ONGOING,
                TransactionState.COMPLETE_COMMIT,
                TransactionState.COMPLETE_ABORT,
            }
        ),
        TransactionState.PREPARE_COMMIT: frozenset({TransactionState.ONGOING}),
        TransactionState.PREPARE_ABORT: frozenset(
            {
                TransactionState.EMPTY,
                TransactionState.ONGOING,
                TransactionState.COMPLETE_COMMIT,
                TransactionState.COMPLETE_ABORT,
            }
        ),
        TransactionState.COMPLETE_COMMIT: frozenset({TransactionState.PREPARE_COMMIT}),
        TransactionState.COMPLETE_ABORT: frozenset({TransactionState.PREPARE_ABORT}),
    }
)
"""The states that a transaction may have had before each."""
