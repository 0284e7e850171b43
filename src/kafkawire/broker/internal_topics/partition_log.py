"""The log of a partition of an internal topic, in Kafka's format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from kafkawire.broker.internal_topics.coordinator_log import CoordinatorLog
from kafkawire.broker.internal_topics.entries import Change, Ended, Entry, TopicFormat, Written
from kafkawire.broker.partitions.transaction_markers import Marker
from kafkawire.broker.storage.batch_log import BatchLog
from kafkawire.broker.storage.errors import CorruptLogError, StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once
from kafkawire.broker.storage.partition_files import read_leader_epochs, write_leader_epochs, write_topic_id
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.layout.uuid import Uuid
from kafkawire.records.coordinator_records import CoordinatorRecord, decode_coordinator_record
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import RecordBatch, decode_records

_SEGMENT_BYTES: Final = 100 * 1024 * 1024  # of the topic, where Kafka makes it


class InternalPartitionLog:
    """The log of a partition, in Kafka's files.

    Args:
        folder: of the partition; made if it does not exist.
        records: how the state is in its records.
        on_failure: called with the first error of a write.
        before_write: awaited before each write, with the name of what is written.

    Attributes:
        files: the segments of the partition.
        readable: the records in them, for clients; complete after ``entries``.

    Raises:
        StorageError: it is damaged before its end.
        OSError: a file cannot be read or made.
    """

    def __init__(
        self,
        folder: Path,
        records: TopicFormat,
        on_failure: Callable[[StorageError], None] | None = None,
        before_write: BeforeWrite = at_once,
    ) -> None:
        self.files = BatchLog(
            folder,
            segment_bytes=_SEGMENT_BYTES,
            compacted=True,
            on_failure=on_failure,
            before_write=before_write,
            on_durable=self._take,
        )
        self.readable = CoordinatorLog(folder)
        self._format = records

    def lead(self, topic_id: Uuid, leader_epoch: int) -> None:
        """Write the files with the topic id and the leader epochs; call it before the first append.

        Args:
            topic_id: of the topic.
            leader_epoch: of the partition.

        Raises:
            StorageError: the file of leader epochs is damaged.
            OSError: a file cannot be written.
        """
        self.readable.begin(self.files.start_offset, self.files.durable_offset)
        write_topic_id(self.files.folder, topic_id)
        earlier = read_leader_epochs(self.files.folder)
        epochs = dict(earlier)
        if self.files.leader_epoch >= 0:
            epochs.setdefault(self.files.leader_epoch, self.files.start_offset)
        self.files.leader_epoch = max(leader_epoch, *epochs, 0)
        epochs.setdefault(self.files.leader_epoch, self.files.end_offset)
        if epochs != earlier:
            write_leader_epochs(self.files.folder, dict(sorted(epochs.items())))

    def entries(self) -> Iterator[tuple[int, Entry]]:
        """What the log has, with the timestamps of records; read it before anything is appended.

        Raises:
            StorageError: a record cannot be decoded.
            OSError: a file cannot be read.
        """
        open_owners: dict[int, set[str]] = {}
        self.readable = CoordinatorLog(self.files.folder)
        for segment_offset, batch in self.files.batches_in_segments():
            try:
                self.readable.take(segment_offset, batch)
                if batch.is_control:
                    owners = frozenset(open_owners.pop(batch.producer_id, ()))
                    marker = Marker.of(batch)
                    committed = marker is not None and marker.committed
                    yield batch.max_timestamp, Ended(batch.producer_id, owners, committed)
                    continue
                for timestamp, written in self._written(batch):
                    if written.producer is not None:
                        open_owners.setdefault(batch.producer_id, set()).add(self._format.owner(written.key))
                    yield timestamp, written
            except DecodeError as error:
                raise CorruptLogError(
                    f"{self.files.folder}: a record of the batch at offset {batch.base_offset} cannot be read: "
                    f"{error}; another program wrote it: move the folder away to start without its records"
                ) from error

    @property
    def size(self) -> int:
        """How many records there are, on disk or not yet written."""
        return self.files.end_offset - self.files.start_offset

    def append(self, changes: Sequence[Change], timestamp: int, producer: Producer | None = None) -> None:
        """Append changes, all in one batch; they are durable later.

        Args:
            changes: the changes.
            timestamp: milliseconds since the epoch.
            producer: whose transaction they are in; None outside of one.

        Raises:
            EncodeError: a change cannot be encoded; none is appended then.
            StorageError: the log has failed before.
        """
        self.files.append([self._format.record(change) for change in changes], timestamp, producer=producer)

    def append_marker(self, producer: Producer, timestamp: int, *, committed: bool, coordinator_epoch: int) -> None:
        """Append the marker that ends a transaction; it is durable later.

        Args:
            producer: of the transaction.
            timestamp: milliseconds since the epoch.
            committed: whether it commits or aborts.
            coordinator_epoch: of the coordinator of transactions.

        Raises:
            StorageError: the log has failed before.
        """
        marker = Marker(*producer, committed, coordinator_epoch, timestamp)
        self.files.append([marker.record()], timestamp, control=True, producer=producer)

    def append_anew(self, entries: Sequence[Written], timestamp: int) -> None:
        """Append changes that replace all earlier ones of their owners, in batches of moderate size.

        A crash leaves all of them or none: an offset that is committed already, written again, takes the place of those
        that open transactions commit, as long as these do not follow it.

        Raises:
            StorageError: the log has failed before.
        """
        self.files.append_segment(self._format.batches(entries), len(entries), timestamp)

    async def delete_before(self, offset: int) -> None:
        """Delete the segments that have only records below an offset, which later ones replace.

        Raises:
            OSError: one cannot be deleted.
        """
        self.readable.forget_segments(sum(each.base_offset < offset for each in self.readable.segments))
        await self.files.delete_before(offset)

    def _take(self, segment_offset: int, batch: RecordBatch) -> None:
        self.readable.take(segment_offset, batch)

    def _written(self, batch: RecordBatch) -> Iterator[tuple[int, Written]]:
        producer = Producer(batch.producer_id, batch.producer_epoch) if batch.is_transactional else None
        for record in decode_records(batch):
            found = decode_coordinator_record(self._format.topic, record.key, record.value)
            if isinstance(found, CoordinatorRecord) and type(found.key) in self._format.owners:
                yield record.timestamp, Written(found.key, found.value, producer)
