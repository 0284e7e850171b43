"""Records on their way to become rows, and the columns that say where they are from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import OpenedBatch
from kafkawire.wire.batches import RecordBatch

__all__ = ["PendingRows", "flaw_columns", "times", "times_of_milliseconds"]

_TIME: Final = pa.timestamp("us", tz="UTC")
_LATEST: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, which is as far as the calendars of most readers go."""
_EARLIEST: Final = -62_135_596_800_000


class PendingRows:
    """Records of one file that will be rows.

    Attributes:
        file: where they are from.
        offsets, timestamps, keys, values: of each record.
        octets: bytes that they hold.
    """

    def __init__(self, file: LogFile) -> None:
        self.file = file
        self.offsets: list[int] = []
        self.timestamps: list[int] = []
        self.keys: list[bytes | None] = []
        self.values: list[bytes | None] = []
        self.octets = 0
        self.batches: list[RecordBatch] = []
        self.run_ends: list[int] = []
        self._numbers: ArrowArray | None = None

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, opened: OpenedBatch, chosen: Sequence[int] | None) -> None:
        """Add records of a batch: those of the numbers given, or all."""
        records = opened.records
        if chosen is None:
            self.offsets += records.offsets
            self.timestamps += records.timestamps
            self.keys += records.keys
            self.values += records.values
        else:
            self.offsets += [records.offsets[each] for each in chosen]
            self.timestamps += [records.timestamps[each] for each in chosen]
            self.keys += [records.keys[each] for each in chosen]
            self.values += [records.values[each] for each in chosen]
        self.octets += opened.batch.size
        self.batches.append(opened.batch)
        self.run_ends.append(len(self.offsets))

    def column(self, name: str, options: ReadOptions) -> ArrowArray:
        """A column of provenance."""
        match name:
            case "cluster":
                return _repeated(options.cluster or self.file.cluster, len(self))
            case "file":
                return _repeated(self.file.path, len(self))
            case "batch_position":
                return self.of_batches([batch.position for batch in self.batches], pa.int64())
            case "log_offset":
                return pa.array(self.offsets, pa.int64())
            case "leader_epoch":
                return self.of_batches([batch.partition_leader_epoch for batch in self.batches], pa.int32())
            case _:
                return times_of_milliseconds(self.timestamps)

    def of_batches(self, values: Sequence[int | bool | None], kind: pa.DataType) -> ArrowArray:
        """A column whose values belong to batches."""
        column: ArrowArray = pa.array(values, kind)
        if len(values) == len(self):
            return column
        return column.take(self._batch_numbers())

    def _batch_numbers(self) -> ArrowArray:
        """The number of the batch of each record."""
        if self._numbers is None or len(self._numbers) != len(self):
            numbers: list[int] = []
            begin = 0
            for number, end in enumerate(self.run_ends):
                numbers += [number] * (end - begin)
                begin = end
            self._numbers = pa.array(numbers, pa.int32())
        return self._numbers


def flaw_columns(flaws: Sequence[Flaw], schema: pa.Schema, options: ReadOptions) -> pa.RecordBatch:
    """Rows for bytes that no records could be made of: their place, what is wrong, and the bytes."""
    known: dict[str, Iterable[object]] = {
        "cluster": [options.cluster or flaw.file.cluster for flaw in flaws],
        "file": [flaw.file.path for flaw in flaws],
        "batch_position": [flaw.position for flaw in flaws],
        "log_offset": [flaw.base_offset for flaw in flaws],
        "_error": [flaw.code for flaw in flaws],
        options.corrupt_record_column: [flaw.raw for flaw in flaws],
    }
    arrays = [
        pa.array(known[field.name], field.type) if field.name in known else pa.nulls(len(flaws), field.type)
        for field in schema
    ]
    return pa.record_batch(arrays, schema=schema)


def times_of_milliseconds(values: Sequence[int]) -> ArrowArray:
    """Times of Kafka, milliseconds since the epoch, as microseconds; null for -1 and what no calendar has."""
    if not values:
        return pa.array([], _TIME)
    if min(values) >= 0 and max(values) <= _LATEST:
        return pc.multiply(pa.array(values, pa.int64()), 1000).cast(_TIME)
    return pa.array([value * 1000 if 0 <= value <= _LATEST else None for value in values], _TIME)


def times(value: int) -> int | None:
    """A time of Kafka in microseconds, or None for -1 and what no calendar has."""
    return value * 1000 if 0 <= value <= _LATEST else None


def _repeated(value: str | None, count: int) -> ArrowArray:
    return pa.nulls(count, pa.string()) if value is None else pa.repeat(pa.scalar(value, pa.string()), count)
