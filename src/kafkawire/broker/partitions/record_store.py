"""The records of all partitions, within bounds."""

from __future__ import annotations

from typing import Final

from kafkawire.broker.partitions.checked_batch import RefusedRecordsError
from kafkawire.broker.partitions.partition_log import OVERHEAD, PartitionLog
from kafkawire.broker.partitions.producers import Appended
from kafkawire.protocol import RemoveTopicRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message
from kafkawire.wire.batches import RecordBatch

__all__ = ["MOST_BYTES", "RecordStore"]

MOST_BYTES: Final = 256 * 1024 * 1024
"""How much memory the records of a broker may take."""


class RecordStore:
    """A log for each partition that was ever written to, gone with its topic.

    Args:
        most_bytes: of memory for all of them.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._logs: dict[bytes, dict[int, PartitionLog]] = {}

    def log(self, topic_id: bytes, partition: int) -> PartitionLog:
        """The log of a partition, which must exist; it is made when it is first asked for."""
        logs = self._logs.setdefault(topic_id, {})
        log = logs.get(partition)
        if log is None:
            log = logs[partition] = PartitionLog()
        return log

    def append(self, topic_id: bytes, partition: int, batch: RecordBatch, leader_epoch: int) -> Appended:
        """Put a batch at the end of a partition, unless it has come before.

        Raises:
            RefusedRecordsError: there is no room for it.
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
        """Forget the records of a topic when it is deleted; nothing happens at other metadata records."""
        if isinstance(record, RemoveTopicRecord):
            for log in self._logs.pop(record.topic_id, {}).values():
                self._bytes -= log.size
                log.close()
