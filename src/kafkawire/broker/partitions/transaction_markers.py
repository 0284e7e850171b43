"""Markers: the control batches that end transactions (KIP-98)."""

from __future__ import annotations

from typing import Final, Self

from kafkawire.protocol import EndTxnMarker
from kafkawire.records.control_records import (
    ControlRecord,
    ControlRecordType,
    decode_control_record,
    encode_control_record,
)
from kafkawire.wire.batches import Record, RecordBatch, decode_records, encode_batch, read_batches
from kafkawire.wire.message import Struct

_MARKER_VERSION: Final = 0


class Marker(Struct, frozen=True, gc=False):
    """The end of a transaction.

    Attributes:
        producer_id: of the producer.
        producer_epoch: of the producer; newer coordinators end a transaction with the next epoch (KIP-890).
        committed: whether the transaction is committed, else it is aborted.
        coordinator_epoch: of the coordinator that ends it.
        timestamp: milliseconds.
        bumps_epoch: whether the epoch must be higher than that of an open transaction, as in version 2 of
            transactions.
    """

    producer_id: int
    producer_epoch: int
    committed: bool
    coordinator_epoch: int
    timestamp: int
    bumps_epoch: bool = False

    @classmethod
    def of(cls, batch: RecordBatch) -> Self | None:
        """The marker in a control batch; None if compaction has left an empty batch, or if it is another record.

        Raises:
            DecodeError: it cannot be read.
        """
        for record in decode_records(batch):
            found = decode_control_record(record.key, record.value)
            if isinstance(found, ControlRecord) and isinstance(found.message, EndTxnMarker):
                committed = found.type is ControlRecordType.COMMIT
                epoch = found.message.coordinator_epoch
                return cls(batch.producer_id, batch.producer_epoch, committed, epoch, record.timestamp)
        return None

    def record(self) -> tuple[bytes, bytes]:
        """Key and value of its record."""
        control_type = ControlRecordType.COMMIT if self.committed else ControlRecordType.ABORT
        return encode_control_record(control_type, EndTxnMarker(self.coordinator_epoch), _MARKER_VERSION)

    def batch(self, *, log_append_time: bool) -> RecordBatch:
        """The control batch, with Kafka's bytes.

        Args:
            log_append_time: whether the topic has the broker's time.
        """
        key, value = self.record()
        encoded = encode_batch(
            [Record(timestamp=self.timestamp, key=key, value=value)],
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            transactional=True,
            control=True,
            log_append_time=self.timestamp if log_append_time else None,
        )
        return next(read_batches(encoded, check_crc=False))
