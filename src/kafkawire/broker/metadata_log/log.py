"""What the controller needs of a log, and the log that keeps nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from kafkawire.wire import Message

__all__ = ["MemoryLog", "MetadataLog"]


class MetadataLog(Protocol):
    """An append-only log of metadata records."""

    @property
    def end_offset(self) -> int:
        """The offset that the next record will have."""

    def replay(self) -> Iterator[Message]:
        """The records that make the state, before anything is appended.

        Raises:
            StorageError: a record cannot be read.
        """

    def lead(self, node_id: int) -> int:
        """Begin a leader epoch, after the replay and before anything is appended; returns the epoch.

        Raises:
            StorageError: what is known about earlier epochs makes no sense.
            OSError: it cannot be written down.
        """

    def append(self, records: Sequence[Message]) -> None:
        """Put records at the end, all in one batch; they are durable later.

        Raises:
            EncodeError: a record cannot be written; none is appended then.
            StorageError: the log has failed before.
        """

    def is_durable(self, offset: int) -> bool:
        """Whether all records below an offset would survive a crash."""

    async def durable(self, offset: int) -> None:
        """Wait until they do.

        Raises:
            StorageError: they could not be written.
        """

    @property
    def snapshot_is_due(self) -> bool:
        """Whether so much was appended since the last snapshot that the next one should be taken."""

    def take_snapshot(self, records: Iterable[Message]) -> None:
        """Write a snapshot, in the background.

        Args:
            records: make the state that all records so far amount to.
        """

    async def close(self) -> None:
        """Write what is left and let go of the files."""


class MemoryLog:
    """Forgets all records: a broker on it starts empty every time."""

    def __init__(self) -> None:
        self._end_offset = 0

    @property
    def end_offset(self) -> int:
        """How many records were appended."""
        return self._end_offset

    def replay(self) -> Iterator[Message]:
        """There are none."""
        return iter(())

    def lead(self, node_id: int) -> int:
        """The first epoch is the only one."""
        return 1

    def append(self, records: Sequence[Message]) -> None:
        """Count the records."""
        self._end_offset += len(records)

    def is_durable(self, offset: int) -> bool:
        """As durable as they get."""
        return True

    async def durable(self, offset: int) -> None:
        """There is nothing to wait for."""

    @property
    def snapshot_is_due(self) -> bool:
        """Never."""
        return False

    def take_snapshot(self, records: Iterable[Message]) -> None:
        """There is nowhere to take it to."""

    async def close(self) -> None:
        """There is nothing to let go of."""
