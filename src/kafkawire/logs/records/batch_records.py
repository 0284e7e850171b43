"""Batches with their records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from kafkawire.columns import RecordArrays
from kafkawire.logs.files.log_files import LogFile
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
        file: the file of the batches.
        batches: some may have no records.
        records: of all of them.
    """

    file: LogFile
    batches: Sequence[RecordBatch]
    records: RecordArrays

    def __len__(self) -> int:
        return len(self.records.offsets)
