"""Where a row comes from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kafkawire.logs.histories.columns import Columns
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import OpenedBatch

__all__ = ["Place", "place_of_flaw", "places_of", "provenance_columns"]

_NOWHERE: Final = -1


class Place(NamedTuple):
    """Where a record is.

    Attributes:
        file: path.
        batch_position: of its batch in the file.
        log_offset: in the log; for bytes that could not be read, what they state, or -1.
        leader_epoch: of the leader that appended the batch.
        append_time: of the record, in milliseconds since the epoch.
    """

    file: str
    batch_position: int
    log_offset: int
    leader_epoch: int | None
    append_time: int


def places_of(found: OpenedBatch, times: Iterable[int]) -> Iterable[Place]:
    """The places of the records of a batch.

    Args:
        found: the batch.
        times: sensible ones for its records.
    """
    path, position, epoch = found.file.shown_path, found.position, found.batch.partition_leader_epoch
    pairs = zip(found.records.offsets, times, strict=True)
    return (Place(path, position, offset, epoch, time) for offset, time in pairs)


def place_of_flaw(flaw: Flaw) -> Place:
    """Where bytes are that could not be read."""
    offset = _NOWHERE if flaw.base_offset is None else flaw.base_offset
    return Place(flaw.file.shown_path, flaw.position, offset, None, 0)


def provenance_columns(cluster: str | None, places: Sequence[Place]) -> Columns:
    """The columns of ``kafkawire.logs.tables.table.PROVENANCE``."""
    return {
        "cluster": [cluster] * len(places),
        "file": [place.file for place in places],
        "batch_position": [place.batch_position for place in places],
        "log_offset": [place.log_offset if place.log_offset >= 0 else None for place in places],
        "leader_epoch": [place.leader_epoch for place in places],
        "append_time": [place.append_time for place in places],
    }
