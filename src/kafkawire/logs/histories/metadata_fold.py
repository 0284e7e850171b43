"""A metadata log, its segments and its snapshots, as one sequence of changes (KIP-630).

Where the log has records, they tell. A snapshot tells where they are missing: before the first one, and after a gap.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Generic

from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.histories.intervals import K, Moment
from kafkawire.logs.histories.metadata_records import MetadataRecords
from kafkawire.logs.histories.metadata_state import MetadataState, StateReducer
from kafkawire.logs.histories.snapshot_state import read_snapshot
from kafkawire.logs.histories.source import FoldSource
from kafkawire.logs.histories.times import Clock
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import OpenedBatch

__all__ = ["MetadataFold"]


class MetadataFold(Generic[K]):
    """Folds the files of one log into intervals.

    Args:
        make_reducer: makes an empty history.
        source: reads the files.
        high_watermark: records at this offset and after it are not known to be committed; None for no limit.

    Attributes:
        reducer: the history so far.
        complete_since: the time, in milliseconds, from which on everything is known; None if that is not yet so.
    """

    def __init__(
        self, make_reducer: Callable[[], StateReducer[K]], source: FoldSource, *, high_watermark: int | None = None
    ) -> None:
        self.reducer = make_reducer()
        self.complete_since: int | None = None
        self._make_reducer = make_reducer
        self._source = source
        self._limit = high_watermark
        wanted = self.reducer.RECORDS | MetadataState.OWN_RECORDS
        self._records = MetadataRecords(wanted, source.options.registry.metadata, source.failed)
        self._state = MetadataState(self.reducer)
        self._expected: int | None = None
        self._flawed = False
        self._clock = Clock()

    @property
    def first_time(self) -> int | None:
        """The time of the first record or snapshot, in milliseconds; None before anything was read."""
        return self._clock.first

    def run(self, files: Sequence[LogFile]) -> Iterator[None]:
        """Apply all files; pauses after each batch, so that what has ended can be taken."""
        segments = sorted((file for file in files if file.kind is FileKind.SEGMENT), key=lambda file: file.base_offset)
        first = 1 if segments else 0  # what one at offset 0 holds, such as bootstrap.checkpoint, the log repeats
        last = float("inf") if self._limit is None else self._limit
        snapshots = deque(
            sorted(
                (file for file in files if file.kind is FileKind.SNAPSHOT and first <= file.base_offset <= last),
                key=_newest_epoch_first,
            )
        )
        for segment in segments:
            for found in self._source.batches(segment):
                if isinstance(found, Flaw):
                    self._flawed = True
                    continue
                if self._limit is not None and found.batch.base_offset >= self._limit:
                    break
                while snapshots and snapshots[0].base_offset <= found.batch.last_offset:
                    yield from self._consult(snapshots.popleft(), found.batch.base_offset)
                self._apply(found)
                yield
        while snapshots:
            yield from self._consult(snapshots.popleft(), None)

    def _consult(self, snapshot: LogFile, next_offset: int | None) -> Iterator[None]:
        """Take over a snapshot if the records up to its end offset are not all known.

        Args:
            snapshot: the file.
            next_offset: of the batch that comes next; None if none does.
        """
        complete, expected, end = self.reducer.ledger.complete, self._expected, snapshot.base_offset
        if expected is not None:
            follows = next_offset is not None and next_offset <= expected
            if end < expected or (complete and (follows or end == expected)):
                return
        if self._take_over(snapshot):
            self._expected = end
            yield

    def _take_over(self, snapshot: LogFile) -> bool:
        """Compare the state with a snapshot; False if the snapshot does not tell all that it should."""
        found = read_snapshot(snapshot, self._source, self._records, self._make_reducer())
        if not found.is_whole or (found.has_lost_some and self._expected is not None):
            return False
        at = Moment(self._clock.read(found.time), snapshot.base_offset)
        began = Moment(None, None) if self.complete_since is None else at
        self.reducer.ledger.compare(found.reducer.ledger, at, began)
        found.reducer.ledger, self.reducer = self.reducer.ledger, found.reducer
        self._state = MetadataState(self.reducer)
        self._flawed = False
        self.reducer.ledger.complete = False
        if not found.has_lost_some:
            self._note_complete()
        return True

    def _apply(self, found: OpenedBatch) -> None:
        batch, expected = found.batch, self._expected
        if expected is None:
            self._clock.read(batch.base_timestamp)
            if batch.base_offset == 0:
                self._note_complete()
        elif batch.base_offset > expected:
            self._lost(found, expected)
        self._flawed = False
        if not batch.is_control:
            for record, timestamp, offset in self._records.of(found, expected or 0, self._limit):
                if self._records.lost_some:
                    self._note_lost_records()
                self._state.apply(record, Moment(self._clock.read(timestamp), offset))
            self._note_lost_records()
        self._expected = max(expected or 0, batch.last_offset + 1)

    def _lost(self, found: OpenedBatch, expected: int) -> None:
        """Records are missing, and no snapshot tells what they did. What is known goes on."""
        if not self._flawed:
            reason = f"the log has no records from offset {expected} to {found.batch.base_offset - 1}"
            self._source.failed("offset_gap", reason, found, expected)
        self.reducer.ledger.complete = False
        self._state.forget_transaction()

    def _note_lost_records(self) -> None:
        if self._records.lost_some:
            self._records.lost_some = self.reducer.ledger.complete = False

    def _note_complete(self) -> None:
        self.reducer.ledger.complete = True
        if self.complete_since is None:
            self.complete_since = self._clock.now


def _newest_epoch_first(snapshot: LogFile) -> tuple[int, int]:
    return snapshot.base_offset, -(snapshot.epoch or 0)
