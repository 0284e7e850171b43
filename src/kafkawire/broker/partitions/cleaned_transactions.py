"""Transactions in a round of compaction: whose records go, and which markers have nothing left to end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TypeAlias

from kafkawire.broker.partitions.transaction_markers import Marker
from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.wire.batches import RecordBatch

AbortedIn: TypeAlias = Callable[[int, int], Sequence[AbortedTransaction]]


class CleanedTransactions:
    """Follows the batches of a log below its last stable offset, in order, as Kafka's log cleaner does.

    Args:
        aborted_in: the aborted transactions with records from an offset to an end.

    Attributes:
        aborted: the aborted transactions with batches among those that were seen since it was emptied, in the order of
            their markers.
    """

    def __init__(self, aborted_in: AbortedIn) -> None:
        self.aborted: list[AbortedTransaction] = []
        self._aborted_in = aborted_in
        self._coming: list[AbortedTransaction] = []
        self._last_marker = -1
        self._aborting: dict[int, AbortedTransaction] = {}
        self._observed: set[int] = set()

    def expect(self, offset: int, end: int) -> None:
        """Get ready for the batches from an offset to an end.

        Raises:
            OSError, StorageError: a file cannot be read.
        """
        found = [each for each in self._aborted_in(offset, end) if each.last_offset > self._last_marker]
        running = set(self._aborting.values())
        coming = (each for each in found if each not in running)
        self._coming = sorted(coming, key=attrgetter("first_offset"), reverse=True)

    def is_removable(self, batch: RecordBatch) -> bool:
        """Whether the records of a batch are aborted, or are a marker without any batch of its transaction.

        Raises:
            DecodeError: a marker cannot be read.
        """
        while self._coming and self._coming[-1].first_offset <= batch.last_offset:
            aborted = self._coming.pop()
            self._aborting.setdefault(aborted.producer_id, aborted)
        if batch.is_control:
            return self._is_useless(batch)
        if not batch.is_transactional:
            return False
        self._observed.add(batch.producer_id)
        return batch.producer_id in self._aborting

    def _is_useless(self, batch: RecordBatch) -> bool:
        marker = Marker.of(batch)
        if marker is None:
            return not batch.records_count
        self._last_marker = batch.last_offset
        is_observed = batch.producer_id in self._observed
        self._observed.discard(batch.producer_id)
        aborted = None if marker.committed else self._aborting.pop(batch.producer_id, None)
        if aborted is not None and is_observed:
            self.aborted.append(aborted)
        return not is_observed
