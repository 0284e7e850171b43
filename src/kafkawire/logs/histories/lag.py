"""``lag_history``: a row for each offset commit, with the end of the partition then and at the end of the row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowField
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.coordinator_log import CONSUMER_OFFSETS
from kafkawire.logs.folding.history import INTERVAL, History, id_fields
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.histories.offsets import HISTORY as OFFSET_COMMITS
from kafkawire.logs.histories.partition_ends import EndsOfPartitions
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.tables.table import PROVENANCE, error_fields
from kafkawire.logs.times import TIMESTAMP, milliseconds
from kafkawire.wire.batches import TimestampType

_OF_COMMIT: Final[Mapping[str, pa.DataType]] = {
    "group_id": pa.string(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "committed_offset": pa.int64(),
    "valid_from": TIMESTAMP,
    "valid_to": TIMESTAMP,
    "to_offset": pa.int64(),
}
_OF_END: Final[Mapping[str, pa.DataType]] = {
    "end_offset": pa.int64(),
    "lag": pa.int64(),
    "last_end_offset": pa.int64(),
    "last_lag": pa.int64(),
    "timestamp_type": pa.string(),
}
_NEVER_HELD: Final = pa.array(["aborted", "open"])
_MICROSECONDS: Final = 1000


_TIMESTAMP_TYPES: Final[Mapping[TimestampType | None, str | None]] = {
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
    None: None,
}
"""As Kafka calls them."""

_Commit: TypeAlias = tuple[str | None, int | None, int | None, int | None, int | None]
"""Topic, partition, committed offset, and the interval in milliseconds since the epoch."""

_Ends: TypeAlias = tuple[int | None, int | None, int | None, int | None, str | None]
"""The cells of ``_OF_END``."""

_UNKNOWN: Final[_Ends] = (None, None, None, None, None)


@dataclass(frozen=True)
class LagHistory(History):
    """How far groups were from the ends of their partitions, from their commits and the logs of the partitions."""

    @property
    def logs(self) -> frozenset[str]:
        """See ``History``."""
        return frozenset({CONSUMER_OFFSETS})

    @property
    def spans_logs(self) -> bool:
        """Yes: the ends are in the logs of the partitions."""
        return True

    def fields(self, options: ReadOptions) -> tuple[ArrowField, ...]:
        """See ``History``."""
        own = (pa.field(name, kind) for name, kind in self.own_columns.items())
        return (*PROVENANCE, *own, *error_fields(options), *id_fields(options))

    def read(self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource) -> Iterator[pa.RecordBatch]:
        """See ``History``; the files are those of all logs of a cluster."""
        ends = EndsOfPartitions(files, source)
        as_of = None if source.options.as_of is None else milliseconds(source.options.as_of)
        needed = pa.schema([each for each in OFFSET_COMMITS.fields(source.options) if each.name != "metadata"])
        for _, log in groupby(_of_commits(files), key=attrgetter("folder")):
            for rows in OFFSET_COMMITS.read(list(log), needed, source):
                yield _with_ends(_commits(rows, source), ends, as_of, schema)


def _of_commits(files: Sequence[LogFile]) -> Sequence[LogFile]:
    """The files of the logs of group coordinators; without any, those whose topic is not known."""
    return [file for file in files if file.topic == CONSUMER_OFFSETS] or [file for file in files if file.topic is None]


def _commits(rows: pa.RecordBatch, source: FoldSource) -> pa.RecordBatch:
    """The commits that were the offset of a group, and rows about errors; others have no lag."""
    never_held = pc.is_in(rows.column("txn_outcome"), _NEVER_HELD)
    tombstone = pc.fill_null(cast("pa.BooleanArray", rows.column("tombstone")), pa.scalar(False))
    dropped = pc.or_(never_held, cast("pa.BooleanArray", tombstone))
    kept = rows.filter(pc.invert(dropped))
    source.accounts.rows -= rows.num_rows - kept.num_rows
    source.accounts.dropped("filtered", rows.num_rows - kept.num_rows)
    return kept


def _with_ends(rows: pa.RecordBatch, ends: EndsOfPartitions, as_of: int | None, schema: pa.Schema) -> pa.RecordBatch:
    names = ("topic", "partition", "committed_offset", *INTERVAL)
    commits: Iterator[_Commit] = zip(*(_plain(rows.column(name)) for name in names), strict=True)
    found = [_ends_of(commit, ends, as_of) for commit in commits]
    of_end = dict(zip(_OF_END, zip(*found, strict=True), strict=True)) if found else {}
    arrays = [
        pa.array(of_end.get(field.name, ()), field.type) if field.name in _OF_END else rows.column(field.name)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _plain(column: pa.Array[Any]) -> list[Any]:
    """The cells of a column; times as milliseconds since the epoch."""
    if not pa.types.is_timestamp(column.type):
        return column.to_pylist()
    return [None if each is None else each // _MICROSECONDS for each in column.cast(pa.int64()).to_pylist()]


def _ends_of(commit: _Commit, ends: EndsOfPartitions, as_of: int | None) -> _Ends:
    """The ends for a commit, which are not before it: the group had read what is before it."""
    topic, partition, committed, valid_from, valid_to = commit
    if topic is None or partition is None or committed is None or valid_from is None:
        return _UNKNOWN
    of = ends.of((topic, partition))
    if of is None or committed > of.final:
        return _UNKNOWN
    end, kind = of.at(valid_from, committed)
    until = valid_to if as_of is None else as_of
    last, last_kind = (of.final, of.final_type) if until is None else of.at(until, committed)
    return (
        end,
        None if end is None else end - committed,
        last,
        None if last is None else last - committed,
        _TIMESTAMP_TYPES[_less_certain(kind, last_kind)],
    )


def _less_certain(one: TimestampType | None, other: TimestampType | None) -> TimestampType | None:
    """The first of the two kinds, if any of two is of it."""
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)


HISTORY: Final = LagHistory(
    "lag_history",
    "offsets that groups committed, and how far they were from the ends of the partitions",
    {**_OF_COMMIT, **_OF_END},
    keys=("group_id", "topic", "partition"),
    details=("end_offset", "last_end_offset"),
)
