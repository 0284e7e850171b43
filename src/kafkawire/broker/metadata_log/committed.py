"""The committed records of a metadata log with transactions (KIP-868)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkawire.protocol import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord
from kafkawire.wire import Message

__all__ = ["CommittedRecords"]


class CommittedRecords:
    """Filters records: those of a transaction follow at its end, or never if it is aborted or open.

    Attributes:
        is_open: whether the last transaction is open.
    """

    def __init__(self) -> None:
        self.is_open = False
        self._held: list[Message] = []

    def of(self, records: Iterable[Message]) -> Iterator[Message]:
        """The committed records, without those that mark transactions."""
        for record in records:
            match record:
                case BeginTransactionRecord():
                    self.is_open = True
                    self._held.clear()
                case EndTransactionRecord():
                    self.is_open = False
                    yield from self._held
                    self._held.clear()
                case AbortTransactionRecord():
                    self.is_open = False
                    self._held.clear()
                case _ if self.is_open:
                    self._held.append(record)
                case _:
                    yield record
