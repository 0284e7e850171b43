"""Where commits are kept: a log of one partition of ``__consumer_offsets``, in Kafka's format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol

from kafkawire.broker.groups.state import Change, GroupsState
from kafkawire.broker.storage.batch_log import BatchLog, KeyValue
from kafkawire.broker.storage.errors import CorruptLogError, StorageError
from kafkawire.protocol import GroupMetadataValue, OffsetCommitValue
from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record
from kafkawire.records.coordinator_records import (
    CoordinatorRecord,
    decode_coordinator_record,
    encode_coordinator_record,
)
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.batches import RecordBatch, decode_records

__all__ = ["FileOffsetsLog", "MemoryOffsetsLog", "OffsetsLog"]

TOPIC: Final = "__consumer_offsets"
_SEGMENT_BYTES: Final = 100 * 1024 * 1024  # of the topic, where Kafka makes it
_RECORDS_AT_ONCE: Final = 1_000


class OffsetsLog(Protocol):
    """An append-only log of what groups commit."""

    @property
    def end_offset(self) -> int:
        """The offset that the next record will have."""

    @property
    def size(self) -> int:
        """How many records the log has."""

    def append(self, changes: Sequence[Change], timestamp: int) -> None:
        """Put changes at the end, all in one batch; they are durable later.

        Args:
            changes: what is new.
            timestamp: milliseconds since the epoch.

        Raises:
            EncodeError: a change cannot be written; none is appended then.
            StorageError: the log has failed before.
        """

    async def durable(self, offset: int) -> None:
        """Wait until all records below an offset would survive a crash.

        Raises:
            StorageError: they could not be written.
        """

    async def rewrite(self, state: GroupsState, timestamp: int) -> None:
        """Go on with the changes that make a state, and forget what was before.

        Raises:
            StorageError: they could not be written.
            OSError: old files could not be deleted.
        """

    async def close(self) -> None:
        """Write what is left and let go of the files."""


class MemoryOffsetsLog:
    """Forgets all records."""

    end_offset = 0
    size = 0

    def append(self, changes: Sequence[Change], timestamp: int) -> None:
        """They are the state, and nothing more is kept."""

    async def durable(self, offset: int) -> None:
        """There is nothing to wait for."""

    async def rewrite(self, state: GroupsState, timestamp: int) -> None:
        """There is nothing to forget."""

    async def close(self) -> None:
        """There is nothing to let go of."""


class FileOffsetsLog:
    """The log in segment files.

    Args:
        folder: of the partition, ``__consumer_offsets-0``; made if it is not there.
        on_failure: told the first error of a write.

    Raises:
        StorageError: it is damaged before its end.
        OSError: a file cannot be read or made.
    """

    def __init__(self, folder: Path, on_failure: Callable[[StorageError], None] | None = None) -> None:
        self._log = BatchLog(folder, segment_bytes=_SEGMENT_BYTES, on_failure=on_failure)
        self._log.leader_epoch = max(0, self._log.leader_epoch)

    def changes(self) -> Iterator[Change]:
        """What the log says, from its beginning; read it before anything is appended.

        Commits of transactions count from their end on, and never if that was an abort or is missing.

        Raises:
            StorageError: a record makes no sense.
            OSError: a file cannot be read.
        """
        held: dict[int, list[Change]] = {}
        for batch in self._log.batches():
            try:
                if batch.is_control:
                    transaction = held.pop(batch.producer_id, [])
                    yield from transaction if _commits(batch) else ()
                elif batch.is_transactional:
                    held.setdefault(batch.producer_id, []).extend(_changes(batch))
                else:
                    yield from _changes(batch)
            except DecodeError as error:
                raise CorruptLogError(
                    f"{self._log.folder}: a record of the batch at offset {batch.base_offset} cannot be read: {error}; "
                    "it was written by something else: move the folder away to start without commits"
                ) from error

    @property
    def end_offset(self) -> int:
        """The offset that the next record will have."""
        return self._log.end_offset

    @property
    def size(self) -> int:
        """How many records there are on disk, or soon will be."""
        return self._log.end_offset - self._log.start_offset

    def append(self, changes: Sequence[Change], timestamp: int) -> None:
        """Put changes at the end, all in one batch; they are durable later."""
        self._log.append([_record(key, value) for key, value in changes], timestamp)

    async def durable(self, offset: int) -> None:
        """Wait until all records below an offset would survive a crash."""
        await self._log.durable(offset)

    async def rewrite(self, state: GroupsState, timestamp: int) -> None:
        """Write the state into a new segment, then delete those before it."""
        await self._log.roll()
        start = self._log.end_offset
        changes = list(state.changes())
        for first in range(0, len(changes), _RECORDS_AT_ONCE):
            self.append(changes[first : first + _RECORDS_AT_ONCE], timestamp)
            self._log.seal()
        await self._log.durable(self._log.end_offset)
        await self._log.delete_before(start)

    async def close(self) -> None:
        """Write what is left and let go of the files."""
        await self._log.close()


def _changes(batch: RecordBatch) -> Iterator[Change]:
    for record in decode_records(batch):
        change = decode_coordinator_record(TOPIC, record.key, record.value)
        if isinstance(change, CoordinatorRecord):
            yield change.key, change.value


def _commits(batch: RecordBatch) -> bool:
    """Whether a batch of control records says that a transaction is committed."""
    markers = (decode_control_record(record.key, record.value) for record in decode_records(batch))
    return any(isinstance(marker, ControlRecord) and marker.type is ControlRecordType.COMMIT for marker in markers)


def _record(key: Message, value: Message | None) -> KeyValue:
    return encode_coordinator_record(TOPIC, key, value, _value_version(value))


def _value_version(value: Message | None) -> int | None:
    """The versions that Kafka 4.3 writes: the newest ones, but for commits that expire, which only one can hold."""
    match value:
        case OffsetCommitValue():
            return 4 if value.expire_timestamp < 0 else 1
        case GroupMetadataValue():
            return 3
    return None
