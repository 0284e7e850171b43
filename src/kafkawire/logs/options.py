"""How logs are read: one value that tables, planning and scanning share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from kafkawire.logs.registry import BUILT_IN, RecordRegistry

__all__ = ["DEFAULT_OPTIONS", "ReadMode", "ReadOptions"]


MAX_FRAME_BYTES: Final = 64 * 1024 * 1024
"""Largest batch unless the reader says otherwise; by default brokers take batches of 1 MiB, compressed."""


class ReadMode(StrEnum):
    """What becomes of bytes that cannot be decoded; the modes are Spark's."""

    PERMISSIVE = "PERMISSIVE"
    """A row with the code in ``_error`` and the bytes in ``_corrupt_record``."""

    DROPMALFORMED = "DROPMALFORMED"
    """No row, but the accounts count them."""

    FAILFAST = "FAILFAST"
    """A ``LogReadError``."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What to read of logs, and how.

    Attributes:
        mode: what becomes of bytes that cannot be decoded.
        record_types: only these, named as in column ``record_type`` of table ``records``.
        columns: only these columns, in this order; None for all. What no column needs is not decoded.
        from_offset, until_offset: only records of these offsets, the last excluded. A snapshot is read if its end
            offset lies between them.
        from_time, until_time: only records of these times, the last excluded.
        verify_checksums: whether batches with a wrong CRC are refused.
        max_frame_bytes: the largest batch, as it is and decompressed. Where records are decoded, the largest of them
            may have a sixteenth of it, or 1 MiB if that is more.
        high_watermark: of the log: what lies at it and after it is not known to be committed and is not read.
        corrupt_record_column: name of the column of raw bytes in mode PERMISSIVE.
        cluster: what column ``cluster`` says; by default what ``meta.properties`` beside the log folders says.
        secrets: whether tables show salts, keys and sensitive config values, and what could not be read of the
            metadata log.
        no_ops: whether table ``records`` has the no-op records of the metadata log.
        as_of: histories: only what was valid then.
        registry: the record types that are known.
    """

    mode: ReadMode = ReadMode.PERMISSIVE
    record_types: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    from_offset: int | None = None
    until_offset: int | None = None
    from_time: datetime | None = None
    until_time: datetime | None = None
    verify_checksums: bool = True
    max_frame_bytes: int = MAX_FRAME_BYTES
    high_watermark: int | None = None
    corrupt_record_column: str = "_corrupt_record"
    cluster: str | None = None
    secrets: bool = False
    no_ops: bool = False
    as_of: datetime | None = None
    registry: RecordRegistry = BUILT_IN

    @property
    def wants_errors(self) -> bool:
        """Whether a column is asked for that tells of records that cannot be decoded."""
        return self.columns is None or not {"_error", self.corrupt_record_column}.isdisjoint(self.columns)


DEFAULT_OPTIONS = ReadOptions()
