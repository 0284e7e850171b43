"""Histories of the metadata in parts of a log; see ``division``.

A part takes the needed records of its batches, and finds out for each which intervals it can change. The join of a
bucket folds the records that can change intervals of it. It sees each run of batches, each flaw and each record with an
error, as if it read the whole log, so it decides as that about gaps, snapshots, transactions and times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias, cast

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import FileKind, LogFile, snapshots_before
from kafkawire.logs.folding.coordinator_log import NO_PAST, PartOfLog
from kafkawire.logs.folding.division import Bucket, LeftByPart, bucket_of
from kafkawire.logs.folding.flaw_notes import NoteOfFlaw
from kafkawire.logs.folding.metadata_decoder import (
    NEEDED_COLUMNS,
    MetadataDecoder,
    MetadataRecords,
    Needed,
    Owners,
)
from kafkawire.logs.folding.metadata_log import (
    AllRows,
    FilesOfLog,
    NeededRows,
    Run,
    SnapshotEnd,
    SnapshotRows,
    snapshots_of,
)
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import GATHERED_OCTETS, RECORDS_AT_A_TIME
from kafkawire.logs.registry import RecordRegistry
from kafkawire.logs.tables.rows import together
from kafkawire.logs.times import LATEST
from kafkawire.records.control_records import ControlRecordType

_ROUTED: Final = (
    NEEDED_COLUMNS.append(pa.field("note", pa.int32()))
    .append(pa.field("own", pa.int32()))
    .append(pa.field("bucket", pa.int32()))
)
"""A needed record: the number of its note in the piece, its bucket, and the bucket that gets it; null for all."""

_NOTES: Final = pa.schema([pa.field("note", pa.binary())]).append(pa.field("bucket", pa.int32()))
_NO_NOTES: Final = pa.RecordBatch.from_pylist([], schema=_NOTES)
_MOST_NOTES: Final = 1024
"""Notes in a piece."""
_MOST_ROWS: Final = 8 * RECORDS_AT_A_TIME
"""Records in a piece: each bucket gets some of them, and each call of an Arrow kernel takes microseconds."""

_FITS: Final = PartOfLog(
    begins_file=False,
    lowest=None,
    began_without_time=False,
    end=NO_PAST,
    begins_log=False,
    is_empty=False,
    first_time=None,
)
"""A part needs nothing of its past."""


class _NoteOfRun(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """See ``Run``. A snapshot may come before it."""

    path: str
    position: int
    base_offset: int
    base_timestamp: int
    last_of_first: int
    last_offset: int
    follows_snapshot: bool

    def with_next(self, note: _Note) -> _NoteOfRun | None:
        """One run of this and the next, if nothing comes between them."""
        if not isinstance(note, _NoteOfRun) or note.follows_snapshot or note.path != self.path:
            return None
        if note.base_offset != self.last_offset + 1:
            return None
        return msgspec.structs.replace(self, last_offset=note.last_offset)


class _NoteOfSnapshot(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """See ``SnapshotRows``."""

    ends: list[tuple[int, int | None]]


class _NoteOfCounts(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The accounts of a snapshot, which count if it is used."""

    accounts: str


_Note: TypeAlias = _NoteOfRun | _NoteOfSnapshot | _NoteOfCounts | NoteOfFlaw


class Routes(NamedTuple):
    """What decides about the way of records.

    Attributes:
        needed: by the history.
        owners: see ``Owners``.
    """

    needed: Needed
    owners: Owners


@dataclass(frozen=True)
class MetadataPart:
    """Ranges of segments, or a snapshot, that are being read. See ``PartReading``."""

    ranges: Sequence[FileRange]
    files: Sequence[LogFile]
    routes: Routes
    source: FoldSource

    def rows(self) -> Iterator[pa.RecordBatch]:
        """See ``PartReading``."""
        return iter(())

    @property
    def found(self) -> PartOfLog:
        """See ``PartReading``."""
        return _FITS

    def left(self, buckets: int) -> Iterator[LeftByPart]:
        """See ``PartReading``."""
        pieces = _Pieces(_Router(self.routes, self.source.options.registry, buckets))
        file = self.ranges[0].file
        notes = self._of_snapshot(file) if file.kind is FileKind.SNAPSHOT else self._of_segments()
        for note, rows in notes:
            yield from pieces.add(note, rows)
        yield from pieces.rest()

    def _of_segments(self) -> Iterator[tuple[_Note, NeededRows | None]]:
        snapshots = snapshots_of(self.files, None)
        for found in FilesOfLog(iter(self.ranges), self.source).runs(snapshots):
            if isinstance(found, Flaw):
                yield NoteOfFlaw.of(found), None
                continue
            is_cut = False
            while snapshots and snapshots[0].base_offset <= found.last_of_first:
                is_cut = snapshots.popleft() is not None
            head = (found.position, found.base_offset, found.base_timestamp, found.last_of_first, found.last_offset)
            yield _NoteOfRun(found.file.path, *head, is_cut), found.rows

    def _of_snapshot(self, file: LogFile) -> Iterator[tuple[_Note, NeededRows | None]]:
        accounts = Accounts()
        for found in FilesOfLog(iter(()), _silent(self.source, accounts)).snapshot(file):
            if isinstance(found, Flaw):
                yield NoteOfFlaw.of(found), None
            else:
                yield _NoteOfSnapshot([(int(each.type), each.time) for each in found.ends]), found.rows
        yield _NoteOfCounts(accounts.to_json()), None


def _silent(source: FoldSource, accounts: Accounts) -> FoldSource:
    return FoldSource(source.options, accounts, source.store)


class _Router:
    """Finds out which bucket each record concerns."""

    def __init__(self, routes: Routes, registry: RecordRegistry, buckets: int) -> None:
        owners = {name: (owner,) for name, owner in routes.owners.items()}
        self._decoder = MetadataDecoder({**dict.fromkeys(routes.needed, ()), **owners}, registry)
        self._buckets = buckets

    def routed(self, rows: NeededRows, note: int) -> pa.RecordBatch:
        """The needed records, as ``_ROUTED``."""
        columns = self._decoder.needed_columns(cast("AllRows", rows).rows, 0, None)
        found = self._decoder.decode_needed(columns)
        buckets = self._buckets
        keys = (None if each is None or len(each) < 2 else each[1] for each in found.records)
        own = pa.array([None if key is None else bucket_of(str(key).encode(), buckets) for key in keys], pa.int32())
        count = columns.num_rows
        seen = pa.array(_seen_by_all(columns, found.faults), pa.int32())
        bucket = own
        if len(seen):
            mask = pc.is_in(pa.array(range(count), pa.int32()), seen)
            bucket = pc.if_else(mask, pa.scalar(None, pa.int32()), own)
        notes = pa.repeat(pa.scalar(note, pa.int32()), count)
        return pa.RecordBatch.from_arrays([*columns.columns, notes, own, bucket], schema=_ROUTED)


def _seen_by_all(columns: pa.RecordBatch, faults: Iterable[int]) -> list[int]:
    """The records that all joins get for their time or their error.

    These are the first, the last, those with an error, and those that the time of such a one, or of one without a time,
    may come from.
    """
    count = columns.num_rows
    if not count:
        return []
    times = cast("pa.Int64Array", columns.column("timestamp"))
    usable = pc.and_(pc.greater(times, pa.scalar(0)), pc.less_equal(times, pa.scalar(LATEST)))
    wanted = {0, count - 1}
    for each in (*faults, *cast("list[int]", pc.indices_nonzero(pc.invert(usable)).to_pylist())):
        wanted.update((max(each - 1, 0), each))
    return sorted(wanted)


class _Pieces:
    """Collects notes and records until there are enough for a piece."""

    def __init__(self, router: _Router) -> None:
        self._router = router
        self._notes: list[_Note] = []
        self._rows: list[pa.RecordBatch] = []
        self._count = self._octets = 0

    def add(self, note: _Note, rows: NeededRows | None) -> Iterator[LeftByPart]:
        """Add a note with its records, and take all once there are enough."""
        last = self._notes[-1] if self._notes else None
        joined = last.with_next(note) if isinstance(last, _NoteOfRun) else None
        if joined is None:
            self._notes.append(note)
        else:
            self._notes[-1] = joined
        if rows is not None:
            routed = self._router.routed(rows, len(self._notes) - 1)
            self._rows.append(routed)
            self._count += routed.num_rows
            self._octets += routed.nbytes
        if self._count >= _MOST_ROWS or self._octets >= GATHERED_OCTETS or len(self._notes) >= _MOST_NOTES:
            yield from self.rest()

    def rest(self) -> Iterator[LeftByPart]:
        """Take all."""
        if self._notes:
            notes = [msgspec.msgpack.encode(each) for each in self._notes]
            changes = pa.RecordBatch.from_pydict({"note": notes, "bucket": [None] * len(notes)}, schema=_NOTES)
            yield LeftByPart(together(self._rows, _ROUTED), changes)
        self._notes, self._rows, self._count, self._octets = [], [], 0, 0


class _RowsOfBucket(NamedTuple):
    """The records of a run that a bucket gets. See ``NeededRows``."""

    columns: pa.RecordBatch
    bucket: int

    def decoded(self, decoder: MetadataDecoder, first: int, limit: int | None) -> MetadataRecords:
        """See ``NeededRows``; a log with a limit is not read in parts."""
        columns = self.columns
        offsets = cast("pa.Int64Array", columns.column("log_offset"))
        wanted = pc.greater_equal(offsets, pa.scalar(first, pa.int64()))
        if wanted.false_count:
            columns = columns.filter(wanted)
        found = decoder.decode_needed(columns.select(NEEDED_COLUMNS.names))
        own = cast("pa.Int32Array", columns.column("own"))
        is_other = pc.not_equal(own, pa.scalar(self.bucket, pa.int32()))
        return replace(found, others=frozenset(cast("list[int]", pc.indices_nonzero(is_other).to_pylist())))


class JoinedLog:
    """What the parts of a log left of a bucket of keys. See ``MetadataLog``.

    Args:
        lefts: by part, the snapshots first.
        files: of the log.
        bucket: which one.
        routes: of the history.
        source: reads snapshots that no part has, and counts them.
    """

    def __init__(
        self,
        lefts: Iterable[Iterable[LeftByPart]],
        files: Sequence[LogFile],
        bucket: Bucket,
        routes: Routes,
        source: FoldSource,
    ) -> None:
        self._lefts = enumerate(lefts)
        self._files: Mapping[str, LogFile] = {file.path: file for file in files}
        self._places = {file.path: number for number, file in enumerate(snapshots_before(files))}
        self._next = 0
        self._bucket = bucket
        self._routes = routes
        self._source = source

    def runs(self, _: Sequence[LogFile]) -> Iterator[Run | Flaw]:
        """See ``MetadataLog``; the parts have made the cuts."""
        while (pieces := self._part(max(self._next, len(self._places)))) is not None:
            for note, rows in _notes_of(pieces, self._bucket.number):
                if isinstance(note, NoteOfFlaw):
                    yield note.flaw(self._files[note.path])
                elif isinstance(note, _NoteOfRun):
                    yield Run(
                        self._files[note.path],
                        note.position,
                        note.base_offset,
                        note.base_timestamp,
                        note.last_of_first,
                        note.last_offset,
                        None,
                        rows,
                    )

    def snapshot(self, file: LogFile) -> Iterator[SnapshotRows | Flaw]:
        """See ``MetadataLog``."""
        pieces = self._part(self._places.get(file.path, -1))
        if pieces is None:
            yield from self._read_now(file)
            return
        for note, rows in _notes_of(pieces, self._bucket.number):
            if isinstance(note, NoteOfFlaw):
                yield note.flaw(self._files[note.path])
            elif isinstance(note, _NoteOfSnapshot):
                yield SnapshotRows(file, rows, [SnapshotEnd(ControlRecordType(kind), time) for kind, time in note.ends])
            elif isinstance(note, _NoteOfCounts):
                self._source.accounts.merge(Accounts.from_json(note.accounts))

    def _part(self, number: int) -> Iterable[LeftByPart] | None:
        """What a part left; None if there is none, or one after it was taken. Those before it are not needed."""
        if number < self._next:
            return None
        for at, pieces in self._lefts:
            self._next = at + 1
            if at == number:
                return pieces
        return None

    def _read_now(self, file: LogFile) -> Iterator[SnapshotRows | Flaw]:
        """The records of a snapshot that was not expected to be needed."""
        router = _Router(self._routes, self._source.options.registry, self._bucket.count)
        for found in FilesOfLog(iter(()), self._source).snapshot(file):
            if isinstance(found, Flaw):
                yield found
                continue
            routed = router.routed(found.rows, 0)
            own = LeftByPart(routed, _NO_NOTES).of_bucket(self._bucket.number).rows
            yield found._replace(rows=_RowsOfBucket(own, self._bucket.number))


def _notes_of(pieces: Iterable[LeftByPart], bucket: int) -> Iterator[tuple[_Note, _RowsOfBucket]]:
    """The notes of pieces, each with its records."""
    for piece in pieces:
        of_notes = Counter(cast("list[int]", piece.rows.column("note").to_pylist()))
        place = 0
        for number, octets in enumerate(cast("list[bytes]", piece.changes.column("note").to_pylist())):
            count = of_notes[number]
            yield (
                msgspec.msgpack.decode(octets, type=_Note),
                _RowsOfBucket(piece.rows.slice(place, count), bucket),
            )
            place += count
