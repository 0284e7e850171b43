"""What is scanned, and the batches that are found."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from kafkawire.logs.files.log_files import LogFile
from kafkawire.wire.batches import RecordBatch, RecordColumns

__all__ = ["FileRange", "OpenedBatch", "ScannedBatch"]


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


class OpenedBatch(msgspec.Struct, frozen=True, gc=False):
    """A batch and its records."""

    file: LogFile
    position: int
    batch: RecordBatch
    records: RecordColumns
