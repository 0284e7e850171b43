"""Record batches and the older message sets, which ``records`` fields, segments and snapshots hold (records-field)."""

from __future__ import annotations

from kafkawire.wire.batches.batch import Header, Record, RecordBatch, TimestampType, read_batches
from kafkawire.wire.batches.legacy_messages import LegacyMessage
from kafkawire.wire.batches.reader import decode_records
from kafkawire.wire.batches.record_set import read_entries, read_records
from kafkawire.wire.batches.writer import encode_batch, seal

__all__ = [
    "Header",
    "LegacyMessage",
    "Record",
    "RecordBatch",
    "TimestampType",
    "decode_records",
    "encode_batch",
    "read_batches",
    "read_entries",
    "read_records",
    "seal",
]
