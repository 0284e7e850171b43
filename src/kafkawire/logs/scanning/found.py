"""What is scanned, and the batches that are found."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from kafkawire.logs.files.log_files import LogFile
from kafkawire.wire.batches import RecordBatch

__all__ = ["FileRange", "OpenedBatch", "RecordColumns", "ScannedBatch"]


@dataclass(frozen=True)
class FileRange:
    """The batches of a file that start at ``start`` or after it, and before ``end``."""

    file: LogFile
    start: int
    end: int


class ScannedBatch(msgspec.Struct, frozen=True, gc=False):
    """A batch as it stands in a file; its records are not decoded yet.

    Attributes:
        file: where it is.
        position: of its first byte in the file.
        batch: header and payload. Its own ``position`` is the same.
    """

    file: LogFile
    position: int
    batch: RecordBatch


class RecordColumns(msgspec.Struct, frozen=True, gc=False):
    """The records of a batch, attribute by attribute; their headers are checked and left out.

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
