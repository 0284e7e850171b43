"""The state of a metadata log, folded into intervals from its records and, where these are missing, from snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, repeat
from typing import ClassVar, Final, Generic, NamedTuple, Protocol, TypeAlias, cast, runtime_checkable

import msgspec
import pyarrow as pa

from kafkawire.columns.arrow_types import nulls
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.intervals import UNKNOWN, K, Moment
from kafkawire.logs.folding.ledger import Ledger
from kafkawire.logs.folding.metadata_decoder import MetadataDecoder, MetadataRecords, Needed, Owners, Record
from kafkawire.logs.folding.metadata_log import Run, SnapshotRows
from kafkawire.logs.folding.saved_state import decode_saved, tagged, untagged
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.times import Clock
from kafkawire.protocol import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)
from kafkawire.records.control_records import ControlRecordType
from kafkawire.records.metadata_transactions import MetadataTransactions
from kafkawire.wire.batches.batch import NO_TIMESTAMP

_GAP: Final = "offset_gap"
MARKER_IDS: Final = {
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
        OWNERS: see ``Owners``.
        ledger: its intervals.
    """

    RECORDS: ClassVar[Needed]
    OWNERS: ClassVar[Owners]
    ledger: Ledger[K]

    def apply(self, changes: Iterable[Change]) -> None:
        """Apply the next records."""


@runtime_checkable
class ColumnReducer(Protocol):
    """A reducer that also takes many records at once, which is faster than one after the other."""

    def apply_columns(self, columns: pa.RecordBatch, times: pa.Int64Array, offsets: pa.Int64Array) -> None:
        """Apply the next records.

        Args:
            columns: their needed fields; see ``MetadataRecords.columns``.
            times: when each took effect, in milliseconds since the epoch.
            offsets: of each.
        """


@runtime_checkable
class KnowsTopics(Protocol):
    """A reducer that remembers the names of topics, since most records have the id alone.

    Attributes:
        topics: names by ids.
    """

    topics: dict[str, str]


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

    def apply_columns(self, found: MetadataRecords, times: pa.Int64Array, offsets: pa.Int64Array) -> bool:
        """Apply all records at once, unless they or the reducer need one after the other; returns whether it did."""
        if not isinstance(self.reducer, ColumnReducer) or self.transactions.begun is not None:
            return False
        columns = found.columns()
        if columns is not None:
            self.reducer.apply_columns(columns, times, offsets)
        return columns is not None

    def _in_effect(self, changes: Iterable[Change]) -> Iterator[Change]:
        for change in changes:
            record, (time, _) = change
            marker = MARKER_IDS.get(cast("str", record[0]))
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

    def apply_rows(self, rows: SnapshotRows) -> None:
        """Apply the next records."""
        found = rows.rows.decoded(self._decoder, 0, None)
        for row in found.faults:
            self._failed(rows.file, found, row)
            self.lost_some = self.lost_some or _is_lost(found, row)
        unknown = cast("pa.Int64Array", nulls(len(found), pa.int64()))
        if not self.apply_columns(found, unknown, unknown):
            own = (each for number, each in enumerate(found.records) if each is not None and number not in found.others)
            self.apply(zip(own, repeat(UNKNOWN)), has_markers=found.has_markers)
        for end in rows.ends:
            self._ends.add(end.type)
            if end.time is not None:
                self.time = end.time


class _Saved(msgspec.Struct, frozen=True, array_like=True):
    """The state of a fold. Records are tagged.

    The bytes after the last batch are read again, also those before the offset that a snapshot covers.
    """

    expected: int | None
    covered: int
    now: int
    first: int | None
    complete_since: int | None
    complete: bool
    topics: dict[str, str]
    begun: object
    held: object
    open: bytes


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
        needed = {**dict.fromkeys(MARKER_IDS, ()), **self._state.reducer.RECORDS}
        self._decoder = MetadataDecoder(needed, source.options.registry)
        self._expected: int | None = None
        self._covered = 0
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

    def save(self) -> bytes:
        """The state, from which ``resume`` continues."""
        transactions, reducer = self._state.transactions, self._state.reducer
        saved = _Saved(
            self._expected,
            self._covered,
            self._clock.now,
            self._clock.first,
            self.complete_since,
            self.ledger.complete,
            reducer.topics if isinstance(reducer, KnowsTopics) else {},
            tagged(transactions.begun),
            tagged(list(transactions.held)),
            self.ledger.save(),
        )
        return msgspec.msgpack.encode(saved)

    def resume(self, octets: bytes) -> None:
        """Continue from a state, in place of the beginning of the log.

        Raises:
            SavedStateError: it is damaged.
        """
        saved = decode_saved(octets, _Saved)
        self._expected, self.complete_since = saved.expected, saved.complete_since
        self._covered = saved.covered
        self._clock.now, self._clock.first = saved.now, saved.first
        if isinstance(reducer := self._state.reducer, KnowsTopics):
            reducer.topics = saved.topics
        begun, held = untagged(saved.begun), untagged(saved.held)
        self._state.transactions.resume(cast("Change | None", begun), cast("list[Change]", held))
        self.ledger.restore(saved.open)
        self.ledger.complete = saved.complete

    def note_flaw(self, flaw: Flaw, *, of_snapshot: bool = False) -> None:
        """Note bytes that cannot be read, in place of the next batch; the scan has counted them."""
        if not of_snapshot and flaw.base_offset is not None and 0 <= flaw.base_offset < self._covered:
            return  # an earlier reading continued after them with a snapshot
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
        self._expected = self._covered = snapshot.base_offset

    def apply(self, run: Run) -> None:
        """Apply the next batches of the log."""
        expected = self._expected
        if expected is None:
            self._clock.read(run.base_timestamp)
            if run.base_offset == 0:
                self._note_complete()
            elif not self._has_snapshots and not self._flawed:
                self._lack(f"the log has no records before {run.base_offset}", run, 0)
        elif run.base_offset > expected:
            self._note_gap(run, expected)
        self._flawed = False
        self._covered = 0
        limit = self._source.options.high_watermark
        found = run.rows.decoded(self._decoder, expected or 0, limit)
        begin = 0
        for row in found.faults:
            self._apply(found, begin, row)
            self._failed(run.file, found, row)
            if _is_lost(found, row):
                self.ledger.complete = False
            begin = row + (found.records[row] is None)
        self._apply(found, begin, len(found))
        end = run.last_offset + 1
        self._expected = max(expected or 0, end if limit is None else min(end, limit))

    def _apply(self, found: MetadataRecords, begin: int, end: int) -> None:
        """Apply records that could all be decoded."""
        count = end - begin
        times = self._clock.read_column(found.timestamps.slice(begin, count))
        offsets = found.offsets.slice(begin, count)
        if self._state.apply_columns(found, times, offsets):
            return
        moments = zip(_shared(times), cast("list[int]", offsets.to_pylist()), strict=True)
        records = cast("Sequence[Record]", found.records[begin:end])
        changes: Iterator[Change] = zip(records, moments, strict=True)
        if found.others:
            applied = bytearray(b"\1") * count
            for number in found.others:
                if begin <= number < end:
                    applied[number - begin] = 0
            changes = compress(changes, applied)
        self._state.apply(changes, has_markers=found.has_markers)

    def _note_gap(self, run: Run, expected: int) -> None:
        """Records are missing, and no snapshot has what they changed. The known state is kept."""
        if not self._flawed:
            self._lack(f"the log has no records from offset {expected} to {run.base_offset - 1}", run, expected)
        self.ledger.complete = False
        self._state.transactions.forget()

    def _lack(self, reason: str, run: Run, first: int) -> None:
        """Report that the log has no records from an offset to a batch."""
        self.losses.append(Loss(_GAP, first, run.base_offset, self._clock.now or None))
        self._source.failed(_GAP, reason, run.file, run.position, first)

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
