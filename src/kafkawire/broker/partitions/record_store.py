"""The records of all partitions, in limited memory."""

from __future__ import annotations

from typing import Final

from kafkawire.broker.partitions.checked_batch import RefusedRecordsError
from kafkawire.broker.partitions.partition_log import OVERHEAD, PartitionLog
from kafkawire.broker.partitions.producers import Appended
from kafkawire.protocol import RemoveTopicRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message
from kafkawire.wire.batches import RecordBatch

MOST_BYTES: Final = 256 * 1024 * 1024
"""The most bytes of memory for the records of a broker."""


class RecordStore:
    """The logs of all partitions; those of a topic are deleted with it.

    Args:
        most_bytes: the most bytes of memory for all logs.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._logs: dict[bytes, dict[int, PartitionLog]] = {}

    def log(self, topic_id: bytes, partition: int) -> PartitionLog:
        """The log of an existing partition."""
        logs = self._logs.setdefault(topic_id, {})
        log = logs.get(partition)
        if log is None:
            log = logs[partition] = PartitionLog()
        return log

    def append(self, topic_id: bytes, partition: int, batch: RecordBatch, leader_epoch: int) -> Appended:
        """Append a batch to a partition, unless it is a duplicate.

        Raises:
            RefusedRecordsError: it does not fit into the memory.
            SequenceError: batches of its producer are missing before it.
        """
        if self._bytes + batch.size + OVERHEAD > self._most_bytes:
            raise RefusedRecordsError(
                ErrorCode.POLICY_VIOLATION,
                f"This broker keeps at most {self._most_bytes} bytes of records, all in memory, and has "
                f"{self._bytes}. Delete topics that are no longer needed, or use Apache Kafka for more data.",
            )
        log = self.log(topic_id, partition)
        before = log.size
        appended = log.append(batch, leader_epoch)
        self._bytes += log.size - before
        return appended

    def remove(self, record: Message) -> None:
        """Delete the records of a topic that a metadata record removes; ignore other metadata records."""
        if isinstance(record, RemoveTopicRecord):
            for log in self._logs.pop(record.topic_id, {}).values():
                self._bytes -= log.size
                log.close()
