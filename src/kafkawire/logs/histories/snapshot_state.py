"""The state that a snapshot holds (KIP-630)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Generic

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.histories.intervals import K, Moment
from kafkawire.logs.histories.metadata_records import MetadataRecords
from kafkawire.logs.histories.metadata_state import MetadataState, StateReducer
from kafkawire.logs.histories.source import FoldSource
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import OpenedBatch
from kafkawire.protocol import SnapshotHeaderRecord
from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record
from kafkawire.wire import DecodeError
from kafkawire.wire.batches.batch import NO_TIMESTAMP

__all__ = ["SnapshotState", "read_snapshot"]

_ENDS: Final = frozenset((ControlRecordType.SNAPSHOT_HEADER, ControlRecordType.SNAPSHOT_FOOTER))


@dataclass
class SnapshotState(Generic[K]):
    """What was found in a snapshot.

    Attributes:
        reducer: the state.
        time: of the last record that it stands for, in milliseconds; -1 if it does not tell.
        is_whole: whether it has both ends and nothing is wrong in between.
        has_lost_some: whether it has records that could not be decoded.
    """

    reducer: StateReducer[K]
    time: int = NO_TIMESTAMP
    is_whole: bool = False
    has_lost_some: bool = False


def read_snapshot(
    snapshot: LogFile, source: FoldSource, records: MetadataRecords, reducer: StateReducer[K]
) -> SnapshotState[K]:
    """Read a snapshot, up to the first thing that is wrong with its bytes.

    Args:
        snapshot: the file.
        source: reads it.
        records: decodes what is wanted.
        reducer: an empty history.
    """
    found = SnapshotState(reducer)
    reducer.ledger.complete = True
    state, ends = MetadataState(reducer), set[ControlRecordType]()
    for batch in source.batches(snapshot):
        if isinstance(batch, Flaw):
            return found
        for record, _, _ in () if batch.batch.is_control else records.of(batch, 0, None):
            state.apply(record, Moment(None, None))
        for control in _controls(batch):
            ends.add(control.type)
            if isinstance(control.message, SnapshotHeaderRecord):
                found.time = control.message.last_contained_log_timestamp
    found.has_lost_some, records.lost_some = records.lost_some, False
    found.is_whole = ends >= _ENDS
    return found


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
