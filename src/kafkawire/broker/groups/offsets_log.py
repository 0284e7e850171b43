"""The log of a partition of ``__consumer_offsets``, in Kafka's format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from kafkawire.broker.groups.state import Change
from kafkawire.broker.storage.batch_log import BatchLog, KeyValue
from kafkawire.broker.storage.errors import CorruptLogError, StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once
from kafkawire.broker.storage.partition_files import read_leader_epochs, write_leader_epochs, write_topic_id
from kafkawire.broker.topic_names import OFFSETS_TOPIC
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue
from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record
from kafkawire.records.coordinator_records import (
    CoordinatorRecord,
    decode_coordinator_record,
    encode_coordinator_record,
)
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.batches import RecordBatch, decode_records

_SEGMENT_BYTES: Final = 100 * 1024 * 1024  # of the topic, where Kafka makes it
_RECORDS_AT_ONCE: Final = 1_000


class OffsetsLog:
    """The log of a partition, in Kafka's files.

    Args:
        folder: of the partition; made if it does not exist.
        on_failure: called with the first error of a write.
        before_write: awaited before each write, with the name of what is written.

    Attributes:
        files: the segments of the partition.

    Raises:
        StorageError: it is damaged before its end.
        OSError: a file cannot be read or made.
    """

    def __init__(
        self,
        folder: Path,
        on_failure: Callable[[StorageError], None] | None = None,
        before_write: BeforeWrite = at_once,
    ) -> None:
        self.files = BatchLog(
            folder, segment_bytes=_SEGMENT_BYTES, compacted=True, on_failure=on_failure, before_write=before_write
        )

    def lead(self, topic_id: Uuid, leader_epoch: int) -> None:
        """Write the files with the topic id and the leader epochs; call it before the first append.

        Args:
            topic_id: of ``__consumer_offsets``.
            leader_epoch: of the partition.

        Raises:
            StorageError: the file of leader epochs is damaged.
            OSError: a file cannot be written.
        """
        write_topic_id(self.files.folder, topic_id)
        earlier = read_leader_epochs(self.files.folder)
        epochs = dict(earlier)
        if self.files.leader_epoch >= 0:
            epochs.setdefault(self.files.leader_epoch, self.files.start_offset)
        self.files.leader_epoch = max(leader_epoch, *epochs, 0)
        epochs.setdefault(self.files.leader_epoch, self.files.end_offset)
        if epochs != earlier:
            write_leader_epochs(self.files.folder, dict(sorted(epochs.items())))

    def changes(self) -> Iterator[tuple[int, Change]]:
        """The changes in the log with the timestamps of their records; read them before anything is appended.

        Commits of a transaction follow when it is committed; those of aborted and open transactions are left out.

        Raises:
            StorageError: a record cannot be decoded.
            OSError: a file cannot be read.
        """
        held: dict[int, list[tuple[int, Change]]] = {}
        for batch in self.files.batches():
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
                    f"{self.files.folder}: a record of the batch at offset {batch.base_offset} cannot be read: "
                    f"{error}; another program wrote it: move the folder away to start without its commits"
                ) from error

    @property
    def size(self) -> int:
        """How many records there are, on disk or not yet written."""
        return self.files.end_offset - self.files.start_offset

    def append(self, changes: Sequence[Change], timestamp: int) -> None:
        """Append changes, all in one batch; they are durable later.

        Args:
            changes: the changes.
            timestamp: milliseconds since the epoch.

        Raises:
            EncodeError: a change cannot be encoded; none is appended then.
            StorageError: the log has failed before.
        """
        self.files.append([_record(key, value) for key, value in changes], timestamp)

    def append_anew(self, changes: Sequence[Change], timestamp: int) -> int:
        """Append changes that replace all earlier ones, in batches of moderate size.

        Returns:
            The offset below which no record is needed once they are durable.

        Raises:
            StorageError: the log has failed before.
        """
        start = self.files.end_offset
        for first in range(0, len(changes), _RECORDS_AT_ONCE):
            self.append(changes[first : first + _RECORDS_AT_ONCE], timestamp)
            self.files.seal()
        return start


def _changes(batch: RecordBatch) -> Iterator[tuple[int, Change]]:
    for record in decode_records(batch):
        change = decode_coordinator_record(OFFSETS_TOPIC, record.key, record.value)
        if isinstance(change, CoordinatorRecord) and isinstance(change.key, OffsetCommitKey | GroupMetadataKey):
            yield record.timestamp, (change.key, change.value)


def _commits(batch: RecordBatch) -> bool:
    """Whether a batch of control records commits a transaction."""
    markers = (decode_control_record(record.key, record.value) for record in decode_records(batch))
    return any(isinstance(marker, ControlRecord) and marker.type is ControlRecordType.COMMIT for marker in markers)


def _record(key: Message, value: Message | None) -> KeyValue:
    return encode_coordinator_record(OFFSETS_TOPIC, key, value, _value_version(value))


def _value_version(value: Message | None) -> int | None:
    """The version that Kafka 4.3 writes: the newest, except for commits that expire, which only version 1 supports."""
    match value:
        case OffsetCommitValue():
            return 4 if value.expire_timestamp < 0 else 1
        case GroupMetadataValue():
            return 3
    return None
