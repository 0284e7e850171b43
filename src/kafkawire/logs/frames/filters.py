"""Which batches and records the options include, by offset and time."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.times import milliseconds
from kafkawire.wire.batches import RecordBatch

_LOWEST: Final = -(1 << 63)
_HIGHEST: Final = 1 << 63


class BatchFilter:
    """The limits of offset and time, for one file.

    Records in a snapshot have offsets of their own, so for a snapshot the offset limits apply to its end offset.

    Attributes:
        excludes_file: whether the options exclude the whole file.
        is_active: whether any limit applies to the records of the file.
    """

    def __init__(self, options: ReadOptions, file: LogFile) -> None:
        ends = [each for each in (options.until_offset, options.high_watermark) if each is not None]
        self._from_offset = _LOWEST if options.from_offset is None else options.from_offset
        self._until_offset = min(ends, default=_HIGHEST)
        self._from_time = _LOWEST if options.from_time is None else milliseconds(options.from_time, round_up=True)
        self._until_time = _HIGHEST if options.until_time is None else milliseconds(options.until_time, round_up=True)
        self.excludes_file: bool = file.base_offset >= self._until_offset
        if file.kind is FileKind.SNAPSHOT:
            until = _HIGHEST if options.until_offset is None else options.until_offset
            self.excludes_file = not self._from_offset <= file.base_offset < until
            self._from_offset, self._until_offset = _LOWEST, _HIGHEST
        self._limits_offsets = self._from_offset > _LOWEST or self._until_offset < _HIGHEST
        self._limits_times = self._from_time > _LOWEST or self._until_time < _HIGHEST
        self.is_active: bool = self._limits_offsets or self._limits_times

    def excludes(self, batch: RecordBatch) -> bool:
        """Whether the header of a batch shows that the options exclude all of its records."""
        is_elsewhere = batch.base_offset >= self._until_offset or batch.last_offset < self._from_offset
        return is_elsewhere or batch.max_timestamp < self._from_time

    def kept(self, offsets: pa.Int64Array, timestamps: pa.Int64Array) -> pa.BooleanArray | None:
        """A mask of the included records, or None if all are included."""
        if not self.is_active:
            return None
        return pc.and_(
            _within(offsets, self._from_offset, self._until_offset),
            _within(timestamps, self._from_time, self._until_time),
        )


def _within(numbers: pa.Int64Array, start: int, end: int) -> pa.BooleanArray:
    """Which numbers are at least ``start`` and below ``end``."""
    first, last = (pa.scalar(min(max(each, _LOWEST), _HIGHEST - 1), pa.int64()) for each in (start, end - 1))
    return pc.and_(pc.greater_equal(numbers, first), pc.less_equal(numbers, last))
