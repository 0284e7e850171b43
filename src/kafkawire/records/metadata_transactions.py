"""Transactions of the metadata log (KIP-868): which records count, and from when on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

from kafkawire.protocol import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord

T = TypeVar("T")

_BEGIN: Final = BeginTransactionRecord.API_KEY
_END: Final = EndTransactionRecord.API_KEY

OUTCOMES: Final[Mapping[int | None, str]] = {_END: "committed", AbortTransactionRecord.API_KEY: "aborted"}
"""Ids of the records that end a transaction, and its outcome."""

MARKERS: Final = frozenset((_BEGIN, *OUTCOMES))
"""Ids of the records that begin or end a transaction."""


class MetadataTransactions(Generic[T]):
    """Holds back the records of a transaction until its end.

    A transaction that is aborted changes nothing, and neither does one that another begins in the middle of.

    Attributes:
        begun: the record that began the open transaction; None if none is open.
    """

    def __init__(self) -> None:
        self.begun: T | None = None
        self._held: list[T] = []

    def take(self, record_id: int | None, record: T) -> Sequence[T]:
        """Read the next record of the log.

        Args:
            record_id: of the record.
            record: what is returned for it when it counts.

        Returns:
            The records that count from here on: the record itself outside of transactions, all records of a transaction
            at its end. Markers are left out.
        """
        if record_id not in MARKERS:
            if self.begun is None:
                return (record,)
            self._held.append(record)
            return ()
        held = self._held
        self._held = []
        self.begun = record if record_id == _BEGIN else None
        return held if record_id == _END else ()

    @property
    def held(self) -> Sequence[T]:
        """The records of the open transaction, so far."""
        return self._held

    def resume(self, begun: T | None, held: Sequence[T]) -> None:
        """Continue with an open transaction that another reading left."""
        self.begun, self._held = begun, list(held)

    def forget(self) -> None:
        """Drop the open transaction, because records of it are missing."""
        self.begun = None
        self._held = []
