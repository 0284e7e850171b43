"""Records that become rows, and the columns with their provenance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray, nulls
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import OCTETS_AT_A_TIME, RECORDS_AT_A_TIME
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.records.batch_records import RecordGroup
from kafkawire.logs.tables.secret_records import shows_broken_bytes
from kafkawire.logs.times import timestamps
from kafkawire.wire.batches.batch import CONTROL, TRANSACTIONAL

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
"""A record as in ``RecordArrays``, before its key and value are decoded; timestamps are in milliseconds."""

_MOST_AT_A_TIME: Final = 2 * RECORDS_AT_A_TIME
"""Records of small batches come in groups that are a little larger than one limit; they are not cut."""


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
    def of(cls, group: RecordGroup) -> RawRows:
        """All records of a group."""
        return cls(group.file, pa.RecordBatch.from_arrays(list(group.records), schema=RAW_COLUMNS))

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

    def piece(self, begin: int, end: int) -> RawRows:
        """The records from one to another, the last excluded."""
        return self if (begin, end) == (0, len(self)) else RawRows(self.file, self.columns.slice(begin, end - begin))

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
                return repeated(options.cluster or self.file.cluster, len(self))
            case "file":
                return repeated(self.file.shown_path, len(self))
            case "append_time":
                return timestamps(cast("pa.Int64Array", self.columns.column("timestamp")))
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
        """Add records, and take out all once there are enough."""
        if len(rows):
            self._waiting.append(rows.columns)
            self._count += len(rows)
            self._octets += rows.columns.nbytes
        if self._octets >= OCTETS_AT_A_TIME or self._count >= RECORDS_AT_A_TIME:
            yield from self.rest()

    def rest(self) -> Iterator[RawRows]:
        """Take out all records."""
        waiting = self._waiting
        self._waiting, self._count, self._octets = [], 0, 0
        if waiting:
            gathered = together(waiting, RAW_COLUMNS)
            for start in range(0, gathered.num_rows, _MOST_AT_A_TIME):
                yield RawRows(self._file, gathered.slice(start, _MOST_AT_A_TIME))


def together(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Batches of a schema as one; there may be none."""
    if len(batches) == 1:
        return batches[0]
    columns = zip(*(batch.columns for batch in batches), strict=True)
    arrays = [pa.concat_arrays(parts) for parts in columns] or [nulls(0, kind) for kind in schema.types]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


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


def repeated(value: str | None, count: int) -> ArrowArray:
    """A column of one text."""
    if value is None:
        return pa.nulls(count, pa.string())
    often = _often(value)
    return often.slice(0, count) if count <= len(often) else pa.repeat(pa.scalar(value, pa.string()), count)


@lru_cache(maxsize=2)
def _often(value: str) -> ArrowArray:
    """A value as often as most pieces of a file need it: its path is longer than the rest of a row."""
    return pa.repeat(pa.scalar(value, pa.string()), _MOST_AT_A_TIME)
