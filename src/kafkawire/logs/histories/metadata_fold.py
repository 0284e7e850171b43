"""A metadata log, its segments and its snapshots, as one sequence of changes (KIP-630).

Where the log has records, they tell. A snapshot tells where they are missing: before the first one, and after a gap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.histories.intervals import K, Moment
from kafkawire.logs.histories.losses import Loss
from kafkawire.logs.histories.metadata_records import MetadataRecords
from kafkawire.logs.histories.metadata_state import MetadataState, StateReducer
from kafkawire.logs.histories.snapshot_state import SnapshotState
from kafkawire.logs.histories.source import FoldSource
from kafkawire.logs.histories.times import Clock
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import OpenedBatch

__all__ = ["MetadataFold"]


_GAP: Final = "offset_gap"


class MetadataFold(Generic[K]):
    """Folds one log into intervals, batch by batch.

    Args:
        make_reducer: makes an empty history.
        source: hears of what is wrong.
        high_watermark: records at this offset and after it are not known to be committed; None for no limit.
        has_snapshots: whether there are snapshots, which may tell what was so before the first record.

    Attributes:
        reducer: the history so far.
        complete_since: the time, in milliseconds, from which on everything is known; None if that is not yet so.
        losses: what could not be read. Whoever takes it clears the list.
    """

    def __init__(
        self,
        make_reducer: Callable[[], StateReducer[K]],
        source: FoldSource,
        *,
        high_watermark: int | None = None,
        has_snapshots: bool = False,
    ) -> None:
        self.reducer = make_reducer()
        self.complete_since: int | None = None
        self.losses: list[Loss] = []
        self._make_reducer = make_reducer
        self._source = source
        self._limit = high_watermark
        self._has_snapshots = has_snapshots
        wanted = self.reducer.RECORDS | MetadataState.OWN_RECORDS
        self._records = MetadataRecords(wanted, source.options.registry, self._failed)
        self._state = MetadataState(self.reducer)
        self._snapshot = SnapshotState(self._records, make_reducer())
        self._expected: int | None = None
        self._flawed = False
        self._clock = Clock()

    @property
    def first_time(self) -> int | None:
        """The time of the first record or snapshot, in milliseconds; None before anything was read."""
        return self._clock.first

    def note_flaw(self, flaw: Flaw) -> None:
        """Bytes of the log that come next cannot be read; that is booked already."""
        self._flawed = True
        self._note_loss(flaw)

    def note_flaw_of_snapshot(self, flaw: Flaw) -> None:
        """A snapshot that is wanted cannot be read; that is booked already."""
        self._note_loss(flaw)

    def wants(self, snapshot: LogFile, next_offset: int | None) -> bool:
        """Whether the records up to the end offset of a snapshot are not all known.

        Args:
            snapshot: the file.
            next_offset: of the batch that comes next; None if none does.
        """
        complete, expected, end = self.reducer.ledger.complete, self._expected, snapshot.base_offset
        if expected is None:
            return True
        follows = next_offset is not None and next_offset <= expected
        return end >= expected and not (complete and (follows or end == expected))

    def begin_snapshot(self) -> None:
        """The batches of a snapshot come next."""
        self._snapshot = SnapshotState(self._records, self._make_reducer())

    def apply_snapshot(self, found: OpenedBatch) -> None:
        """Take the next batch of the snapshot."""
        self._snapshot.apply(found)

    def take_over(self, snapshot: LogFile) -> None:
        """Compare the state with the snapshot, all of which was read, if it tells all that it should."""
        found = self._snapshot
        if not found.is_whole or (found.has_lost_some and self._expected is not None):
            return
        at = Moment(self._clock.read(found.time), snapshot.base_offset)
        began = Moment(None, None) if self.complete_since is None else at
        self.reducer.ledger.compare(found.reducer.ledger, at, began)
        found.reducer.ledger, self.reducer = self.reducer.ledger, found.reducer
        self._state = MetadataState(self.reducer)
        self._flawed = False
        self.reducer.ledger.complete = False
        if not found.has_lost_some:
            self._note_complete()
        self._expected = snapshot.base_offset

    def apply(self, found: OpenedBatch) -> None:
        """Apply the next batch of the log."""
        batch, expected = found.batch, self._expected
        if expected is None:
            self._clock.read(batch.base_timestamp)
            if batch.base_offset == 0:
                self._note_complete()
            elif not self._has_snapshots and not self._flawed:
                self._failed(_GAP, f"the log has no records before {batch.base_offset}", found, 0)
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
            self._failed(_GAP, reason, found, expected)
        self.reducer.ledger.complete = False
        self._state.forget_transaction()

    def _failed(self, code: str, reason: str, found: OpenedBatch, offset: int) -> None:
        end = found.batch.base_offset if code == _GAP else offset + 1
        self.losses.append(Loss(code, offset, end, self._clock.now or None))
        self._source.failed(code, reason, found, offset)

    def _note_loss(self, flaw: Flaw) -> None:
        if not flaw.is_expected:
            self.losses.append(Loss(flaw.code, flaw.base_offset, None, self._clock.now or None))

    def _note_lost_records(self) -> None:
        if self._records.lost_some:
            self._records.lost_some = self.reducer.ledger.complete = False

    def _note_complete(self) -> None:
        self.reducer.ledger.complete = True
        if self.complete_since is None:
            self.complete_since = self._clock.now
