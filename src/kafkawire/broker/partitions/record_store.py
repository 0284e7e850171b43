"""The records of all partitions, in limited memory; a subclass has them on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from kafkawire.broker.image.topics import Topic
from kafkawire.broker.partitions.checked_batch import RefusedRecordsError
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.producers import Appended
from kafkawire.broker.partitions.segment import OVERHEAD, MemoryUse, SegmentRules
from kafkawire.broker.partitions.verifications import Verification
from kafkawire.protocol import RemoveTopicRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.message import Struct

MOST_BYTES: Final = 256 * 1024 * 1024
"""The most bytes of memory for the records of a broker."""

_DEFAULT_RULES: Final = SegmentRules()
_MEMORY: Final = "memory"


class LogDirectory(Struct, frozen=True, gc=False):
    """Where the records are.

    Attributes:
        path: of the directory; ``memory`` if there is none.
        total_bytes, usable_bytes: the size of its volume, and what is free.
    """

    path: str
    total_bytes: int
    usable_bytes: int


class RecordStore:
    """The logs of all partitions; those of a topic are deleted with it.

    Args:
        most_bytes: the most bytes of memory for all logs.

    Attributes:
        on_append: called when records are appended.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._used = MemoryUse()
        self._logs: dict[bytes, dict[int, PartitionLog]] = {}
        self._when_used: Callable[[], None] | None = None
        self.on_append: Callable[[], None] | None = None

    def when_used(self, function: Callable[[], None]) -> None:
        """Call a function once there is a log: at once, or with the first one."""
        if self._logs:
            function()
        else:
            self._when_used = function

    def log(self, topic_id: bytes, partition: int) -> PartitionLog:
        """The log of an existing partition."""
        logs = self._logs.setdefault(topic_id, {})
        log = logs.get(partition)
        if log is None:
            log = logs[partition] = self._new_log(topic_id, partition)
            self._note_use()
        return log

    def logs_of(self, topic_id: bytes) -> Mapping[int, PartitionLog]:
        """Partition to its log, of those of a topic that have been used."""
        return self._logs.get(topic_id, {})

    def serve(self, topic_id: bytes, partition: int, log: PartitionLog) -> None:
        """Let clients read a log that is written elsewhere, in place of an empty one."""
        logs = self._logs.setdefault(topic_id, {})
        empty, logs[partition] = logs.get(partition), log
        self._note_use()
        if empty is not None:
            empty.close()  # who waits for its records reads the other one

    def logs(self) -> Iterator[tuple[bytes, int, PartitionLog]]:
        """Topic id, partition and log of all that have been used."""
        for topic_id, logs in tuple(self._logs.items()):
            for partition, log in tuple(logs.items()):
                yield topic_id, partition, log

    def size(self, topic: Topic, partition: int) -> int:
        """Bytes of the records of a partition."""
        log = self._logs.get(topic.topic_id, {}).get(partition)
        return 0 if log is None else log.size

    def directory(self) -> LogDirectory:
        """The directory of all logs.

        Raises:
            OSError: its volume cannot be asked.
        """
        return LogDirectory(_MEMORY, self._most_bytes, max(self._most_bytes - self._used.bytes, 0))

    def append(
        self,
        topic_id: bytes,
        partition: int,
        batch: RecordBatch,
        leader_epoch: int,
        *,
        rules: SegmentRules = _DEFAULT_RULES,
        now_ms: int = 0,
        verification: Verification | None = None,
    ) -> Appended:
        """Append a batch to a partition, unless it is a duplicate.

        Args:
            topic_id, partition: the partition.
            batch: the batch.
            leader_epoch: of the partition.
            rules: when a segment ends.
            now_ms: milliseconds since the epoch.
            verification: of its transaction, as of `PartitionLog.append`.

        Raises:
            RefusedRecordsError: it does not fit into the memory.
            ProducerStateError: as `PartitionLog.append`.
            StorageError: nothing can be written any more.
        """
        if self._used.bytes + batch.size + OVERHEAD > self._most_bytes:
            raise RefusedRecordsError(
                ErrorCode.POLICY_VIOLATION,
                f"This broker keeps at most {self._most_bytes} bytes of records in memory, and has {self._used.bytes}. "
                "Delete topics that are no longer needed, or start it with a data directory.",
            )
        if self.on_append is not None:
            self.on_append()
        return self.log(topic_id, partition).append(batch, leader_epoch, rules, now_ms, verification=verification)

    def remove(self, record: Message) -> None:
        """Delete the records of a topic that a metadata record removes; ignore other metadata records."""
        if isinstance(record, RemoveTopicRecord):
            for log in self._logs.pop(record.topic_id, {}).values():
                log.close()

    async def drained(self) -> None:
        """Wait until nothing is left to write."""

    async def durable(self) -> None:
        """Wait until all records so far would survive a crash, as far as this store can.

        Raises:
            StorageError: they could not be written.
        """
        for _, _, log in self.logs():
            await log.durable()

    def copied(self) -> RecordStore:
        """A store in memory with the same records, as far as clients can read them; both share their bytes.

        Raises:
            OSError: a file cannot be read.
        """
        copy = RecordStore(self._most_bytes)
        for topic_id, partition, log in self.logs():
            copy._logs.setdefault(topic_id, {})[partition] = log.copied(copy._used)
        return copy

    async def close(self) -> None:
        """Write what is not durable yet."""

    def _note_use(self) -> None:
        function, self._when_used = self._when_used, None
        if function is not None:
            function()

    def _new_log(self, topic_id: bytes, partition: int) -> PartitionLog:
        return PartitionLog(self._used)
