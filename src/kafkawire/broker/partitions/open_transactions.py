"""The transactions of a partition that are open, and the last stable offset that follows from them (KIP-98)."""

from __future__ import annotations

from kafkawire.broker.storage.transaction_index import AbortedTransaction


class OpenTransactions:
    """The open transactions by producer, and those that ended with a marker that may not be durable yet."""

    def __init__(self) -> None:
        self._first_offsets: dict[int, int] = {}
        self._ended: list[tuple[int, int]] = []

    def copied(self) -> OpenTransactions:
        """The same transactions, for another log."""
        copy = OpenTransactions()
        copy._first_offsets, copy._ended = {**self._first_offsets}, [*self._ended]
        return copy

    def begin(self, producer_id: int, offset: int) -> None:
        """A producer wrote to the partition; that begins a transaction, unless one is open."""
        self._first_offsets.setdefault(producer_id, offset)

    def end(self, producer_id: int, offset: int) -> AbortedTransaction | None:
        """A marker at an offset ended the transaction of a producer.

        Returns:
            What is to be noted if the marker aborted it; None if no transaction was open.
        """
        first_offset = self._first_offsets.pop(producer_id, None)
        if first_offset is None:
            return None
        self._ended.append((first_offset, offset))
        return AbortedTransaction(
            producer_id, first_offset, offset, self._first() if self._first_offsets else offset + 1
        )

    def first_offset(self, producer_id: int) -> int | None:
        """Where the open transaction of a producer begins; None if none is open."""
        return self._first_offsets.get(producer_id)

    def first_unstable(self, high_watermark: int) -> int:
        """The first offset of a transaction that is open or whose marker is not below the high watermark.

        Returns:
            The high watermark if there is none.
        """
        if self._ended:
            self._ended = [(first, last) for first, last in self._ended if last >= high_watermark]
        firsts = [first for first, _ in self._ended]
        if self._first_offsets:
            firsts.append(self._first())
        return min(firsts, default=high_watermark)

    def _first(self) -> int:
        """The first offset of all open transactions: they are in the order in which they began."""
        return next(iter(self._first_offsets.values()))
