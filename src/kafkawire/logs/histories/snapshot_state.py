"""The state that a snapshot holds (KIP-630)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic

from kafkawire.logs.histories.intervals import K, Moment
from kafkawire.logs.histories.metadata_records import MetadataRecords
from kafkawire.logs.histories.metadata_state import MetadataState, StateReducer
from kafkawire.logs.scanning.found import OpenedBatch
from kafkawire.protocol import SnapshotHeaderRecord
from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record
from kafkawire.wire import DecodeError
from kafkawire.wire.batches.batch import NO_TIMESTAMP

__all__ = ["SnapshotState"]

_ENDS: Final = frozenset((ControlRecordType.SNAPSHOT_HEADER, ControlRecordType.SNAPSHOT_FOOTER))


class SnapshotState(Generic[K]):
    """Takes the batches of a snapshot.

    Args:
        records: decodes what is wanted.
        reducer: an empty history.

    Attributes:
        reducer: the state.
        time: of the last record that it stands for, in milliseconds; -1 if it does not tell.
        has_lost_some: whether it has records that could not be decoded.
    """

    def __init__(self, records: MetadataRecords, reducer: StateReducer[K]) -> None:
        self.reducer = reducer
        self.time = NO_TIMESTAMP
        self.has_lost_some = False
        reducer.ledger.complete = True
        self._records = records
        self._state = MetadataState(reducer)
        self._ends = set[ControlRecordType]()

    @property
    def is_whole(self) -> bool:
        """Whether both of its ends were there."""
        return self._ends >= _ENDS

    def apply(self, batch: OpenedBatch) -> None:
        """Take the next batch."""
        for record, _, _ in () if batch.batch.is_control else self._records.of(batch, 0, None):
            self._state.apply(record, Moment(None, None))
        self.has_lost_some, self._records.lost_some = self.has_lost_some or self._records.lost_some, False
        for control in _controls(batch):
            self._ends.add(control.type)
            if isinstance(control.message, SnapshotHeaderRecord):
                self.time = control.message.last_contained_log_timestamp


def _controls(batch: OpenedBatch) -> Iterator[ControlRecord]:
    if not batch.batch.is_control:
        return
    for key, value in zip(batch.records.keys, batch.records.values, strict=True):
        try:
            control = decode_control_record(key, value)
        except DecodeError:
            continue
        if isinstance(control, ControlRecord):
            yield control
