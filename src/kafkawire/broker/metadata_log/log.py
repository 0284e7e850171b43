"""The metadata log as the controller uses it, and the log of a broker that keeps its state in memory only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafkawire.wire import Message


class MetadataLog:
    """An append-only log of metadata records. This one stores nothing: a broker that uses it has no records to read.

    Args:
        end_offset: the offset of the first record that is appended.
    """

    def __init__(self, end_offset: int = 0) -> None:
        self._appended = end_offset

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self._appended

    @property
    def snapshot_is_due(self) -> bool:
        """Whether so much was appended since the last snapshot that the next one should be taken."""
        return False

    def replay(self) -> Iterator[Message]:
        """The records that make the state; read them before anything is appended.

        Raises:
            StorageError: a record cannot be read.
        """
        return iter(())

    def lead(self, node_id: int) -> int:
        """Begin a leader epoch, after the replay and before anything is appended; returns the epoch.

        Raises:
            StorageError: the file of leader epochs or the quorum state is damaged.
            OSError: they cannot be written.
        """
        return 1

    def append(self, records: Sequence[Message]) -> None:
        """Append records, all in one batch; they are durable later.

        Raises:
            EncodeError: a record cannot be encoded; none is appended then.
            StorageError: the log has failed before.
        """
        self._appended += len(records)

    def is_durable(self, offset: int) -> bool:
        """Whether all records below an offset would survive a crash."""
        return True

    async def durable(self, offset: int) -> None:
        """Wait until all records below an offset would survive a crash.

        Raises:
            StorageError: they could not be written.
        """

    def take_snapshot(self, records: Iterable[Message]) -> None:
        """Write a snapshot in the background.

        Args:
            records: the state after all records so far.
        """

    async def close(self) -> None:
        """Write what is not durable yet, and close the files."""
