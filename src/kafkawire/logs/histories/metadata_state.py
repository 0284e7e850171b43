"""What records of the metadata log do to a history: a reducer for each, and transactions before all (KIP-868)."""

from __future__ import annotations

from typing import ClassVar, Generic, Protocol

from kafkawire.logs.histories.intervals import K, Ledger, Moment
from kafkawire.protocol import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord
from kafkawire.wire import Message

__all__ = ["MetadataState", "StateReducer"]


_OF_TRANSACTIONS: frozenset[type[Message]] = frozenset(
    (BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord)
)


class StateReducer(Protocol[K]):
    """Turns records into intervals.

    Attributes:
        RECORDS: the messages that it wants to see.
        ledger: where it keeps the intervals.
    """

    RECORDS: ClassVar[frozenset[str]]
    ledger: Ledger[K]

    def apply(self, record: Message, at: Moment) -> None:
        """Note what a record changes."""


class MetadataState(Generic[K]):
    """Applies records to a reducer, those of a transaction when it ends.

    Memory holds the records of one open transaction that the reducer wants, beside the intervals.

    Args:
        reducer: what to apply them to.

    Attributes:
        reducer: the same; a snapshot brings another.
    """

    OWN_RECORDS: ClassVar[frozenset[str]] = frozenset(kind.NAME for kind in _OF_TRANSACTIONS)

    def __init__(self, reducer: StateReducer[K]) -> None:
        self.reducer = reducer
        self._held: list[tuple[Message, int | None]] | None = None

    def apply(self, record: Message, at: Moment) -> None:
        """Apply a record. What a transaction changes is so from its end on; an aborted one changes nothing."""
        if self._held is None and type(record) not in _OF_TRANSACTIONS:
            self.reducer.apply(record, at)
            return
        match record:
            case BeginTransactionRecord():
                self._held = []
            case EndTransactionRecord():
                held, self._held = self._held or (), None
                for each, offset in held:
                    self.reducer.apply(each, Moment(at.time, offset))
            case AbortTransactionRecord():
                self._held = None
            case _ if self._held is not None:
                self._held.append((record, at.offset))

    def forget_transaction(self) -> None:
        """Drop what an open transaction has so far: a snapshot or a loss came in between."""
        self._held = None
