"""A metadata log, its segments and its snapshots, replayed as one sequence of changes (KIP-630).

The records of the log come first. A snapshot fills in where records are missing: before the first one, and after a gap.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat, takewhile
from typing import Any, ClassVar, Final, Generic, NamedTuple, Protocol, TypeAlias, cast

import pyarrow as pa

from kafkawire.logs.files.log_files import FileKind, LogFile, segments_of
from kafkawire.logs.folding.intervals import UNKNOWN, K, Ledger, Moment
from kafkawire.logs.folding.metadata_decoder import MetadataDecoder, MetadataRecords, Needed, Record
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.records.batch_records import RecordGroup
from kafkawire.logs.tables.rows import RawRows
from kafkawire.logs.times import Clock
from kafkawire.protocol import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    SnapshotHeaderRecord,
)
from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record
from kafkawire.records.metadata_transactions import MetadataTransactions
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.batches.batch import NO_TIMESTAMP

_GAP: Final = "offset_gap"
_MARKERS: Final = {
    each.NAME: each.API_KEY for each in (BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord)
}
"""Ids of the records that begin or end a transaction, by the names of their messages."""
_ENDS_OF_SNAPSHOT: Final = frozenset((ControlRecordType.SNAPSHOT_HEADER, ControlRecordType.SNAPSHOT_FOOTER))


Change: TypeAlias = tuple[Record, Moment]
"""A record, and when it took effect."""


class StateReducer(Protocol[K]):
    """Turns records into intervals.

    Attributes:
        RECORDS: the messages that it needs.
        ledger: its intervals.
    """

    RECORDS: ClassVar[Needed]
    ledger: Ledger[K]

    def apply(self, changes: Iterable[Change]) -> None:
        """Apply the next records."""


class Loss(NamedTuple):
    """Records that a history lacks, or that were decoded only in part.

    Attributes:
        code: one of ``FLAW_CODES``.
        from_offset: the first of them, or None if it is not known.
        to_offset: the one after the last of them, or None.
        time: of the last record before them, in milliseconds since the epoch; None if there is none.
    """

    code: str
    from_offset: int | None
    to_offset: int | None
    time: int | None


class _State(Generic[K]):
    """A history up to some record. Records of a transaction are applied at its end, with the time of the end.

    Memory holds the intervals, and of one open transaction the records that the reducer needs.
    """

    def __init__(self, reducer: StateReducer[K]) -> None:
        self.reducer = reducer
        self.transactions = MetadataTransactions[Change]()

    def apply(self, changes: Iterable[Change], *, has_markers: bool) -> None:
        is_plain = self.transactions.begun is None and not has_markers
        self.reducer.apply(changes if is_plain else self._in_effect(changes))

    def _in_effect(self, changes: Iterable[Change]) -> Iterator[Change]:
        for change in changes:
            record, (time, _) = change
            marker = _MARKERS.get(cast("str", record[0]))
            for held, (_, offset) in self.transactions.take(marker, change):
                yield held, (time, offset)


_Failed: TypeAlias = Callable[[LogFile, MetadataRecords, int], None]
"""Counts the error of a record: the file, the records and the number of the record."""


class _SnapshotState(_State[K]):
    """The state that a snapshot holds.

    Attributes:
        time: of the last record of the log that the snapshot covers, in milliseconds; -1 if the snapshot has none.
        lost_some: whether some of its records could not be decoded.
    """

    def __init__(self, reducer: StateReducer[K], decoder: MetadataDecoder, failed: _Failed) -> None:
        super().__init__(reducer)
        reducer.ledger.complete = True
        self._decoder = decoder
        self._failed = failed
        self.time = NO_TIMESTAMP
        self.lost_some = False
        self._ends = set[ControlRecordType]()

    @property
    def is_whole(self) -> bool:
        """Whether header and footer were both read."""
        return self._ends >= _ENDS_OF_SNAPSHOT

    def apply_rows(self, rows: RawRows) -> None:
        """Apply the next records."""
        found = self._decoder.decode(rows, 0, None)
        for row in found.faults:
            self._failed(rows.file, found, row)
            self.lost_some = self.lost_some or _is_lost(found, row)
        self.apply(zip(filter(None, found.records), repeat(UNKNOWN)), has_markers=found.has_markers)
        for control in _controls(rows):
            self._ends.add(control.type)
            if isinstance(control.message, SnapshotHeaderRecord):
                self.time = control.message.last_contained_log_timestamp


class Run(NamedTuple):
    """Batches of a log without a gap between them.

    Attributes:
        batches: the batches.
        rows: their records.
    """

    batches: Sequence[RecordBatch]
    rows: RawRows


class MetadataFold(Generic[K]):
    """Folds one log into intervals, run by run.

    Args:
        make_reducer: makes an empty history.
        source: counts errors.
        has_snapshots: whether there are snapshots, which may have the state before the first record.

    Attributes:
        complete_since: the time, in milliseconds, since which the whole state is known; None until then.
        losses: the records that could not be read. The caller clears the list.
    """

    def __init__(self, make_reducer: Callable[[], StateReducer[K]], source: FoldSource, *, has_snapshots: bool) -> None:
        self.complete_since: int | None = None
        self.losses: list[Loss] = []
        self._make_reducer = make_reducer
        self._source = source
        self._has_snapshots = has_snapshots
        self._state = _State(make_reducer())
        needed = {**dict.fromkeys(_MARKERS, ()), **self._state.reducer.RECORDS}
        self._decoder = MetadataDecoder(needed, source.options.registry)
        self._expected: int | None = None
        self._flawed = False
        self._clock = Clock()

    @property
    def ledger(self) -> Ledger[K]:
        """The intervals so far."""
        return self._state.reducer.ledger

    @property
    def known_since(self) -> int | None:
        """The time, in milliseconds, since which the whole state is known, else that of the first record or snapshot.

        None before anything was read.
        """
        return self._clock.first if self.complete_since is None else self.complete_since

    def note_flaw(self, flaw: Flaw, *, of_snapshot: bool = False) -> None:
        """Note bytes that cannot be read, in place of the next batch; the scan has counted them."""
        self._flawed = self._flawed or not of_snapshot
        if not flaw.is_expected:
            self.losses.append(Loss(flaw.code, flaw.base_offset, None, self._clock.now or None))

    def needs(self, snapshot: LogFile, next_offset: int | None) -> bool:
        """Whether records up to the end offset of a snapshot are missing.

        Args:
            snapshot: the file.
            next_offset: of the next batch of the log; None after the last.
        """
        expected, end = self._expected, snapshot.base_offset
        if expected is None:
            return True
        follows = next_offset is not None and next_offset <= expected
        return end >= expected and not (self.ledger.complete and (follows or end == expected))

    def begin_snapshot(self) -> _SnapshotState[K]:
        """An empty state, to which the batches of a snapshot are applied."""
        return _SnapshotState(self._make_reducer(), self._decoder, self._failed)

    def take_over(self, found: _SnapshotState[K], snapshot: LogFile) -> None:
        """Continue with the state of a snapshot that was read to its end, if nothing in it is missing."""
        if not found.is_whole or (found.lost_some and self._expected is not None):
            return
        ledger = self.ledger
        at = self._clock.read(found.time), snapshot.base_offset
        began = UNKNOWN if self.complete_since is None else at
        ledger.compare(found.reducer.ledger, at, began)
        found.reducer.ledger = ledger
        self._state = _State(found.reducer)
        self._flawed = False
        ledger.complete = False
        if not found.lost_some:
            self._note_complete()
        self._expected = snapshot.base_offset

    def apply(self, run: Run) -> None:
        """Apply the next batches of the log."""
        file, first, expected = run.rows.file, run.batches[0], self._expected
        if expected is None:
            self._clock.read(first.base_timestamp)
            if first.base_offset == 0:
                self._note_complete()
            elif not self._has_snapshots and not self._flawed:
                self._lack(f"the log has no records before {first.base_offset}", file, first, 0)
        elif first.base_offset > expected:
            self._note_gap(file, first, expected)
        self._flawed = False
        limit = self._source.options.high_watermark
        found = self._decoder.decode(run.rows, expected or 0, limit)
        begin = 0
        for row in found.faults:
            self._apply(found, begin, row)
            self._failed(file, found, row)
            if _is_lost(found, row):
                self.ledger.complete = False
            begin = row + (found.records[row] is None)
        self._apply(found, begin, len(found.records))
        self._expected = max(expected or 0, run.batches[-1].last_offset + 1)

    def _apply(self, found: MetadataRecords, begin: int, end: int) -> None:
        """Apply records that could all be decoded."""
        count = end - begin
        times = _shared(self._clock.read_column(found.timestamps.slice(begin, count)))
        moments = zip(times, found.offsets.slice(begin, count).to_pylist(), strict=True)
        records = cast("Sequence[Record]", found.records[begin:end])
        self._state.apply(zip(records, moments, strict=True), has_markers=found.has_markers)

    def _note_gap(self, file: LogFile, batch: RecordBatch, expected: int) -> None:
        """Records are missing, and no snapshot has what they changed. The known state is kept."""
        if not self._flawed:
            reason = f"the log has no records from offset {expected} to {batch.base_offset - 1}"
            self._lack(reason, file, batch, expected)
        self.ledger.complete = False
        self._state.transactions.forget()

    def _lack(self, reason: str, file: LogFile, batch: RecordBatch, first: int) -> None:
        """Report that the log has no records from an offset to a batch."""
        self.losses.append(Loss(_GAP, first, batch.base_offset, self._clock.now or None))
        self._source.failed(_GAP, reason, file, batch.position, first)

    def _failed(self, file: LogFile, found: MetadataRecords, row: int) -> None:
        fault = found.faults[row]
        if fault is None:
            return
        code, reason = fault
        position, offset = (each[row].as_py() for each in (found.positions, found.offsets))
        self.losses.append(Loss(code, offset, offset + 1, self._clock.now or None))
        self._source.failed(code, reason, file, position, offset)

    def _note_complete(self) -> None:
        self.ledger.complete = True
        if self.complete_since is None:
            self.complete_since = self._clock.now


def _shared(times: pa.Int64Array) -> Iterator[int]:
    """The times as Python has them. The records of a batch share one object, since open intervals keep it."""
    encoded = times.dictionary_encode()
    distinct = cast("list[int]", encoded.dictionary.to_pylist())
    return map(distinct.__getitem__, cast("list[int]", encoded.indices.to_pylist()))


def _is_lost(found: MetadataRecords, row: int) -> bool:
    """Whether a record that the history needs could not be decoded."""
    fault = found.faults[row]
    return found.records[row] is None and fault is not None and fault[0] != "unknown_type"


def replay(files: Sequence[LogFile], folds: Sequence[MetadataFold[Any]], source: FoldSource) -> Iterator[None]:
    """Read the files of a log once, in order, and apply them to several folds.

    Pauses often, so that the caller can take intervals that have ended. Each fold decides for itself which snapshots it
    needs.

    Raises:
        LogReadError: as ``FoldSource.groups``.
    """
    high_watermark = source.options.high_watermark
    segments = segments_of(files)
    first = 1 if segments else 0  # the log repeats the records of a snapshot at 0, such as bootstrap.checkpoint
    last = float("inf") if high_watermark is None else high_watermark
    snapshots = deque(
        sorted(
            (file for file in files if file.kind is FileKind.SNAPSHOT and first <= file.base_offset <= last),
            key=lambda snapshot: (snapshot.base_offset, -(snapshot.epoch or 0)),
        )
    )
    for segment in segments:
        for found in source.groups(FileRange(segment, 0, segment.size)):
            if isinstance(found, Flaw):
                for fold in folds:
                    fold.note_flaw(found)
                continue
            batches = found.batches
            if high_watermark is not None:
                batches = [*takewhile(lambda batch: batch.base_offset < high_watermark, batches)]
            for run in _runs(found, batches, snapshots):
                while snapshots and snapshots[0].base_offset <= run.batches[0].last_offset:
                    _read_snapshot(snapshots.popleft(), run.batches[0].base_offset, folds, source)
                source.go_on()
                for fold in folds:
                    fold.apply(run)
                yield
            beyond = found.batches[len(batches) : len(batches) + 1]  # read as well, to know that it is beyond
            source.accounts.records_read += sum(batch.records_count for batch in (*batches, *beyond))
            if beyond:
                break
    while snapshots:
        _read_snapshot(snapshots.popleft(), None, folds, source)
        yield


def _runs(group: RecordGroup, batches: Sequence[RecordBatch], snapshots: Sequence[LogFile]) -> Iterator[Run]:
    """The first batches of a group, cut at gaps and where a snapshot may fill one in.

    Args:
        group: the batches with their records.
        batches: some or all of the batches.
        snapshots: those that were not read yet, in the order of their offsets; the caller removes them.
    """
    rows = RawRows.of(group)
    begin, first, place = 0, 0, 0
    for number, batch in enumerate(batches):
        follows = number > begin and batch.base_offset == batches[number - 1].last_offset + 1
        if number > begin and not (follows and (not snapshots or snapshots[0].base_offset > batch.last_offset)):
            yield Run(batches[begin:number], rows.piece(first, place))
            begin, first = number, place
        place += batch.records_count
    if batches:
        yield Run(batches[begin:], rows.piece(first, place))


def _read_snapshot(
    snapshot: LogFile, next_offset: int | None, folds: Sequence[MetadataFold[Any]], source: FoldSource
) -> None:
    """Apply a snapshot to the folds that need it, unless a part of the snapshot cannot be read."""
    needing = [fold for fold in folds if fold.needs(snapshot, next_offset)]
    if not needing:
        return
    states = [fold.begin_snapshot() for fold in needing]
    is_damaged = False
    for found in source.groups(FileRange(snapshot, 0, snapshot.size)):
        if isinstance(found, Flaw):
            is_damaged = True
            for fold in needing:
                fold.note_flaw(found, of_snapshot=True)
            continue
        source.accounts.records_read += len(found)
        if not is_damaged:
            rows = RawRows.of(found)
            for state in states:
                state.apply_rows(rows)
    if not is_damaged:
        for fold, state in zip(needing, states, strict=True):
            fold.take_over(state, snapshot)


def _controls(rows: RawRows) -> Iterator[ControlRecord]:
    found = rows.where(rows.control)
    for key, value in zip(found.keys.to_pylist(), found.values.to_pylist(), strict=True):
        try:
            control = decode_control_record(key, value)
        except DecodeError:
            continue
        if isinstance(control, ControlRecord):
            yield control
