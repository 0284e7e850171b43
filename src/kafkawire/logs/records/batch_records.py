"""Batches with their records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.frames.batches import ScannedBatch
from kafkawire.wire.batches import RecordBatch


class RecordColumns(msgspec.Struct, frozen=True, gc=False):
    """The records of a batch, a list for each attribute; record headers are checked and dropped.

    Attributes:
        offsets: in the log.
        timestamps: milliseconds since the epoch, -1 for none.
        keys: null for records without key.
        values: null for tombstones.
    """

    offsets: list[int]
    timestamps: list[int]
    keys: list[bytes | None]
    values: list[bytes | None]

    def __len__(self) -> int:
        return len(self.offsets)


class OpenedBatch(msgspec.Struct, frozen=True, gc=False):
    """A batch and its records."""

    file: LogFile
    position: int
    batch: RecordBatch
    records: RecordColumns


@dataclass(frozen=True)
class RecordGroup:
    """Batches and their records. A large batch comes in pieces, each of which is a batch here.

    Attributes:
        batches: some may have no records.
        numbers: int32; the index in ``batches`` of each record.
        offsets: int64; of all records, in the log.
        timestamps: int64; milliseconds since the epoch, -1 for none.
        keys: binary; null for records without key.
        values: binary; null for tombstones.
    """

    batches: Sequence[ScannedBatch]
    numbers: pa.Int32Array
    offsets: pa.Int64Array
    timestamps: pa.Int64Array
    keys: pa.BinaryArray
    values: pa.BinaryArray

    def __len__(self) -> int:
        return len(self.offsets)

    def spread(self, of_batches: Sequence[object], kind: pa.DataType) -> ArrowArray:
        """Values of batches, repeated for each of their records."""
        spread: ArrowArray = pa.array(of_batches, kind).take(self.numbers)
        return spread
