"""Records that become rows, and the columns with their provenance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import OCTETS_AT_A_TIME, RECORDS_AT_A_TIME
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.records.batch_records import RecordGroup
from kafkawire.logs.tables.secret_records import shows_broken_bytes
from kafkawire.logs.times import LATEST, TIMESTAMP
from kafkawire.wire.batches.batch import CONTROL, TRANSACTIONAL

_EPOCH: Final = pa.scalar(0, pa.int64())
_NO_TIME: Final = pa.scalar(None, pa.int64())
_MICROSECONDS: Final = pa.scalar(1000, pa.int64())


_RAW_TYPES: Final[Mapping[str, pa.DataType]] = {
    "batch_position": pa.int64(),
    "leader_epoch": pa.int32(),
    "attributes": pa.int16(),
    "producer_id": pa.int64(),
    "log_offset": pa.int64(),
    "timestamp": pa.int64(),
    "key": pa.binary(),
    "value": pa.binary(),
}
RAW_COLUMNS: Final = pa.schema(_RAW_TYPES)
"""A record before its key and value are decoded; timestamps are in milliseconds, as in Kafka."""


class BatchOfRows(NamedTuple):
    """The attributes of a batch that its rows need; named as in ``RecordBatch``."""

    is_control: bool
    is_transactional: bool
    position: int
    producer_id: int


class RawRows:
    """Records of one file that may become rows.

    Args:
        file: the file of the records.
        columns: with the schema ``RAW_COLUMNS``.
    """

    def __init__(self, file: LogFile, columns: pa.RecordBatch) -> None:
        self.file = file
        self.columns = columns

    @classmethod
    def of(cls, file: LogFile, group: RecordGroup) -> RawRows:
        """All records of a group."""
        batches = [each.batch for each in group.batches]
        columns = [
            group.spread([each.position for each in group.batches], pa.int64()),
            group.spread([each.partition_leader_epoch for each in batches], pa.int32()),
            group.spread([each.attributes for each in batches], pa.int16()),
            group.spread([each.producer_id for each in batches], pa.int64()),
            group.records.offsets,
            group.records.timestamps,
            group.records.keys,
            group.records.values,
        ]
        return cls(file, pa.RecordBatch.from_arrays(columns, schema=RAW_COLUMNS))

    def __len__(self) -> int:
        return self.columns.num_rows

    @property
    def keys(self) -> pa.BinaryArray:
        """The keys; null for records without key."""
        return cast("pa.BinaryArray", self.columns.column("key"))

    @property
    def values(self) -> pa.BinaryArray:
        """The values; null for tombstones."""
        return cast("pa.BinaryArray", self.columns.column("value"))

    @property
    def control(self) -> pa.BooleanArray:
        """Which records are control records, which consumers never see."""
        return self._have(CONTROL)

    @property
    def transactional(self) -> pa.BooleanArray:
        """Which records belong to transactions of producers."""
        return self._have(TRANSACTIONAL)

    def _have(self, bit: int) -> pa.BooleanArray:
        """Which records are from batches with an attribute."""
        mask = pa.scalar(bit, pa.int16())
        attributes = cast("pa.Int16Array", self.columns.column("attributes"))
        return pc.equal(pc.bit_wise_and(attributes, mask), mask)

    def batches(self) -> Iterator[tuple[BatchOfRows, Sequence[int]]]:
        """The batches of the records, each with the offsets of its records."""
        of_rows = (self.columns.column(name).to_pylist() for name in ("batch_position", "producer_id", "log_offset"))
        cells = zip(self.control.to_pylist(), self.transactional.to_pylist(), *of_rows, strict=True)
        for batch, rows in groupby(cells, key=itemgetter(slice(0, -1))):
            yield BatchOfRows(*batch), [offset for *_, offset in rows]

    def where(self, mask: pa.BooleanArray) -> RawRows:
        """The records where a mask is true."""
        if mask.true_count == len(self):
            return self
        return RawRows(self.file, self.columns.filter(mask))

    def without_control_records(self, accounts: Accounts) -> RawRows:
        """The records without control records, which are counted as dropped."""
        control = self.control
        if not pc.any(control).as_py():
            return self
        rows = self.where(pc.invert(control))
        accounts.dropped("control", len(self) - len(rows))
        return rows

    def column(self, name: str, options: ReadOptions) -> ArrowArray:
        """A column of ``PROVENANCE``."""
        match name:
            case "cluster":
                return _repeated(options.cluster or self.file.cluster, len(self))
            case "file":
                return _repeated(self.file.shown_path, len(self))
            case "append_time":
                return _times(cast("pa.Int64Array", self.columns.column("timestamp")))
            case _:
                return self.columns.column(name)


class PendingRows:
    """Collects records until there are enough to convert."""

    def __init__(self, file: LogFile) -> None:
        self._file = file
        self._waiting: list[pa.RecordBatch] = []
        self._count = 0
        self._octets = 0

    def add(self, rows: RawRows) -> Iterator[RawRows]:
        """Add records, and take out all full batches."""
        if len(rows):
            self._waiting.append(rows.columns)
            self._count += len(rows)
            self._octets += rows.columns.nbytes
        if self._octets >= OCTETS_AT_A_TIME:
            yield from self.rest()
        elif self._count >= RECORDS_AT_A_TIME:
            gathered = self._gathered()
            full = gathered.num_rows - gathered.num_rows % RECORDS_AT_A_TIME
            yield from self._pieces(gathered.slice(0, full))
            yield from self.add(RawRows(self._file, gathered.slice(full)))

    def rest(self) -> Iterator[RawRows]:
        """Take out all records."""
        if self._waiting:
            yield from self._pieces(self._gathered())

    def _gathered(self) -> pa.RecordBatch:
        waiting = self._waiting
        self._waiting, self._count, self._octets = [], 0, 0
        return pa.Table.from_batches(waiting).combine_chunks().to_batches()[0]

    def _pieces(self, gathered: pa.RecordBatch) -> Iterator[RawRows]:
        for start in range(0, gathered.num_rows, RECORDS_AT_A_TIME):
            yield RawRows(self._file, gathered.slice(start, RECORDS_AT_A_TIME))


def flaw_columns(flaws: Sequence[Flaw], schema: pa.Schema, options: ReadOptions) -> pa.RecordBatch:
    """Rows for flaws: their place, their code, and the bytes unless they are hidden."""
    known: dict[str, Iterable[object]] = {
        "cluster": [options.cluster or flaw.file.cluster for flaw in flaws],
        "file": [flaw.file.shown_path for flaw in flaws],
        "batch_position": [flaw.position for flaw in flaws],
        "log_offset": [flaw.base_offset for flaw in flaws],
        "_error": [flaw.code for flaw in flaws],
        options.corrupt_record_column: [flaw.raw if shows_broken_bytes(flaw.file, options) else None for flaw in flaws],
    }
    arrays = [
        pa.array(known[field.name], field.type) if field.name in known else pa.nulls(len(flaws), field.type)
        for field in schema
    ]
    return pa.record_batch(arrays, schema=schema)


def _times(values: pa.Int64Array) -> ArrowArray:
    """As ``microseconds``, for a column."""
    has_time = pc.and_(pc.greater_equal(values, _EPOCH), pc.less_equal(values, pa.scalar(LATEST, pa.int64())))
    times: ArrowArray = pc.multiply(pc.if_else(has_time, values, _NO_TIME), _MICROSECONDS).cast(TIMESTAMP)
    return times


def _repeated(value: str | None, count: int) -> ArrowArray:
    return pa.nulls(count, pa.string()) if value is None else pa.repeat(pa.scalar(value, pa.string()), count)
