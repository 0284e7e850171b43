"""Histories of coordinators in parts of a log; see ``division``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec
import pyarrow as pa

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.coordinator_fold import JoinableFold, RecordFold
from kafkawire.logs.folding.coordinator_history import (
    CoordinatorHistory,
    ShownRows,
    folded,
    known_since,
    ranges_of_log,
)
from kafkawire.logs.folding.coordinator_log import NO_PAST, CoordinatorLog, LogRows, PartOfLog, Past
from kafkawire.logs.folding.division import Bucket, DivisibleHistory, LeftByPart
from kafkawire.logs.folding.flaw_notes import NoteOfFlaw
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.tables.rows import RAW_COLUMNS, RawRows

_ROUTED: Final = pa.schema([*RAW_COLUMNS, pa.field("step", pa.int64()), pa.field("bucket", pa.int32())])
"""A record of a needed type, and the number of its step in the part; see ``RecordFold.steps``."""

_NO_RECORDS: Final = pa.RecordBatch.from_pylist([], schema=_ROUTED)
_NOTES: Final = pa.schema([pa.field("note", pa.binary()), pa.field("bucket", pa.int32())])
"""The file of the records, or a flaw."""


class _OfFile(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """All records of a piece are from this file."""

    path: str


@dataclass(frozen=True)
class DivisibleCoordinatorHistory(CoordinatorHistory, DivisibleHistory):
    """What divisible histories of coordinators have in common."""

    def check_known(
        self, files: Sequence[LogFile], source: FoldSource, found: Sequence[PartOfLog], *, is_last: bool
    ) -> None:
        """See ``DivisibleHistory``."""
        shown = ShownRows(files, pa.schema([]), source)
        shown.refuse_unknown(known_since(ranges_of_log(files), found), is_last=is_last)

    def _log(self, source: FoldSource, needed: frozenset[str], past: Past | None) -> CoordinatorLog:
        return CoordinatorLog(source, needed, NO_PAST if past is None else past, topic=self.topic)


@dataclass(frozen=True)
class JoinedHistory(DivisibleCoordinatorHistory):
    """A history whose parts give nearly all rows: a part folds its records, and the join what is left of the rows."""

    make_fold: Callable[[FoldSource], JoinableFold]

    def part(
        self,
        ranges: Sequence[FileRange],
        files: Sequence[LogFile],
        schema: pa.Schema,
        source: FoldSource,
        past: Past | None,
    ) -> FoldedPart:
        """See ``DivisibleHistory``."""
        fold = self.make_fold(source)
        fold.begin_after_others()
        shown = ShownRows([each.file for each in ranges], schema, source, keys=self.keys)
        return FoldedPart(ranges, past == NO_PAST, fold, self._log(source, fold.needed, past), shown)

    def joined(
        self,
        lefts: Iterable[Iterable[LeftByPart]],
        files: Sequence[LogFile],
        schema: pa.Schema,
        source: FoldSource,
        bucket: Bucket,
    ) -> Iterator[pa.RecordBatch]:
        """See ``DivisibleHistory``."""
        fold, shown = self.make_fold(source), ShownRows(files, schema, source, keys=self.keys)
        for pieces in lefts:
            for left in pieces:
                fold.join(left)
                for rows in fold.ended():
                    yield from shown.batches(rows)
        for rows in fold.rest():
            yield from shown.batches(rows)


@dataclass(frozen=True)
class FoldedPart:
    """See ``PartReading``."""

    ranges: Sequence[FileRange]
    begins: bool
    _fold: JoinableFold
    _log: CoordinatorLog
    _shown: ShownRows

    def rows(self) -> Iterator[pa.RecordBatch]:
        """See ``PartReading``."""
        for _ in folded(self._log, self._fold, self.ranges):
            if self.begins:
                self._shown.refuse_unknown(known_since(self.ranges, [self.found]), is_last=False)
            for rows in self._fold.ended():
                yield from self._shown.batches(rows)
        for rows in self._fold.last_ended():
            yield from self._shown.batches(rows)

    @property
    def found(self) -> PartOfLog:
        """See ``PartReading``."""
        return self._log.read_so_far

    def left(self, buckets: int) -> Iterator[LeftByPart]:
        """See ``PartReading``."""
        yield self._fold.left(buckets)


@dataclass(frozen=True)
class RoutedHistory(DivisibleCoordinatorHistory):
    """A history whose parts give no rows: a part takes the records of its batches, and the join folds those of a key.

    The records of a key are so few that nearly every row depends on records of several parts.
    """

    make_fold: Callable[[FoldSource], RecordFold[Any]]

    def part(
        self,
        ranges: Sequence[FileRange],
        files: Sequence[LogFile],
        schema: pa.Schema,
        source: FoldSource,
        past: Past | None,
    ) -> _RoutedPart:
        """See ``DivisibleHistory``."""
        fold = self.make_fold(source)
        return _RoutedPart(ranges, fold, self._log(source, fold.needed, past))

    def joined(
        self,
        lefts: Iterable[Iterable[LeftByPart]],
        files: Sequence[LogFile],
        schema: pa.Schema,
        source: FoldSource,
        bucket: Bucket,
    ) -> Iterator[pa.RecordBatch]:
        """See ``DivisibleHistory``."""
        fold, shown = self.make_fold(source), ShownRows(files, schema, source, keys=self.keys)
        by_path = {file.path: file for file in files}
        for pieces in lefts:
            fold.end_step()
            for left in pieces:
                _apply(fold, left, by_path)
                for rows in fold.ended():
                    yield from shown.batches(rows)
        for rows in fold.rest():
            yield from shown.batches(rows)


@dataclass(frozen=True)
class _RoutedPart:
    """See ``PartReading``."""

    ranges: Sequence[FileRange]
    _fold: RecordFold[Any]
    _log: CoordinatorLog

    def rows(self) -> Iterator[pa.RecordBatch]:
        """See ``PartReading``."""
        return iter(())

    @property
    def found(self) -> PartOfLog:
        """See ``PartReading``."""
        return self._log.read_so_far

    def left(self, buckets: int) -> Iterator[LeftByPart]:
        """See ``PartReading``."""
        for found in self._log.read(self.ranges):
            yield _of_flaw(found) if isinstance(found, Flaw) else self._routed(found, buckets)

    def _routed(self, rows: LogRows, buckets: int) -> LeftByPart:
        records = rows.records
        routes = [self._fold.steps(records), pa.array(self._fold.buckets(records, buckets), pa.int32())]
        routed = pa.RecordBatch.from_arrays([*records.columns.columns, *routes], schema=_ROUTED)
        return LeftByPart(routed, _notes([_OfFile(records.file.path)], None))


def _of_flaw(flaw: Flaw) -> LeftByPart:
    """A flaw is a row of no key, so one bucket has it."""
    return LeftByPart(_NO_RECORDS, _notes([NoteOfFlaw.of(flaw)], 0))


def _notes(notes: Sequence[_OfFile | NoteOfFlaw], bucket: int | None) -> pa.RecordBatch:
    encoded = [msgspec.msgpack.encode(each) for each in notes]
    return pa.RecordBatch.from_pydict({"note": encoded, "bucket": [bucket] * len(notes)}, schema=_NOTES)


def _apply(fold: RecordFold[Any], left: LeftByPart, files: Mapping[str, LogFile]) -> None:
    for octets in cast("list[bytes]", left.changes.column("note").to_pylist()):
        note = msgspec.msgpack.decode(octets, type=_OfFile | NoteOfFlaw)
        if isinstance(note, NoteOfFlaw):
            fold.lose(note.flaw(files[note.path]))
        else:
            records = left.rows.select(RAW_COLUMNS.names)
            fold.apply_steps(RawRows(files[note.path], records), left.rows.column("step").to_pylist())
