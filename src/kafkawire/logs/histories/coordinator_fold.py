"""A log of the group coordinator as one sequence of records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, Generic, Protocol, TypeVar

from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.histories.coordinator_records import CoordinatorDecoder, DecodedRecord
from kafkawire.logs.histories.places import Place, place_of_flaw, places_of
from kafkawire.logs.histories.source import FoldSource
from kafkawire.logs.histories.times import Clock
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import OpenedBatch
from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import RecordBatch

__all__ = ["CONSUMER_OFFSETS", "CoordinatorFold", "HistoryRow", "R", "RowReducer"]

CONSUMER_OFFSETS: Final = "__consumer_offsets"
"""The topic of the group coordinators."""


class HistoryRow(Protocol):
    """What rows of all histories have.

    Attributes:
        place: the record.
        valid_from, valid_to: when it was so.
        error: what is wrong with it, or None.
        corrupt: its bytes, if it could not be read.
        is_lost: whether it stands for bytes and not for a record.
    """

    place: Place
    valid_from: int | None
    valid_to: int | None
    error: str | None
    corrupt: bytes | None
    is_lost: bool


R = TypeVar("R", bound=HistoryRow)


class RowReducer(Protocol[R]):
    """Turns records into rows.

    Attributes:
        RECORDS: names of the record types that it wants to see.
        ended: rows that nothing can change any more. Whoever takes them clears the list.
    """

    RECORDS: ClassVar[frozenset[str]]
    ended: list[R]

    def apply(self, record: DecodedRecord, place: Place, batch: RecordBatch) -> str | None:
        """Note what a record changes; returns what is wrong with bytes inside of it, if something is."""

    def end_transaction(self, producer_id: int, at: int, *, committed: bool) -> None:
        """Note the end of a producer's transaction."""

    def lose(self, place: Place, code: str, raw: bytes | None) -> None:
        """Note bytes that could not be read."""

    def settle(self) -> None:
        """Note that a batch is over."""

    def still_open(self) -> Iterator[R]:
        """The rows that may still change."""


class CoordinatorFold(Generic[R]):
    """Folds the segments of one log into rows. Gaps are left by compaction and mean nothing.

    Args:
        reducer: the history.
        source: reads the files.
        high_watermark: records at this offset and after it are not known to be committed; None for no limit.
    """

    def __init__(self, reducer: RowReducer[R], source: FoldSource, *, high_watermark: int | None = None) -> None:
        self.reducer = reducer
        self._source = source
        self._limit = high_watermark
        self._decoder = CoordinatorDecoder(CONSUMER_OFFSETS, reducer.RECORDS, source.options.registry)
        self._clock = Clock()
        self._covered = 0
        self._expected = 0
        self._begins_with_its_log = False

    @property
    def known_since(self) -> int | None:
        """The time of the first record, in milliseconds; None if none was read, or nothing was before it."""
        return None if self._begins_with_its_log else self._clock.first

    def run(self, files: Sequence[LogFile]) -> Iterator[None]:
        """Apply all files; pauses after each batch and each flaw, so that what has ended can be taken."""
        segments = sorted((file for file in files if file.kind is FileKind.SEGMENT), key=lambda file: file.base_offset)
        for segment in segments:
            self._covered = max(self._covered, self._expected)
            self._expected = 0
            for found in self._source.batches(segment):
                if isinstance(found, Flaw):
                    self.reducer.lose(place_of_flaw(found), found.code, found.raw)
                elif self._limit is not None and found.batch.base_offset >= self._limit:
                    self._source.accounts.dropped("filtered", len(found.records.offsets))
                    break
                else:
                    self._apply(found)
                    self.reducer.settle()
                yield

    def _apply(self, found: OpenedBatch) -> None:
        base_offset = found.batch.base_offset
        self._begins_with_its_log = self._begins_with_its_log or base_offset == 0
        if base_offset < self._expected:  # no checksum covers it, so it need not be this one that is wrong
            reason = f"offset {base_offset} follows {self._expected - 1} in the same file"
            self._source.failed("bad_offset", reason, found, base_offset)
        dropped = self._source.accounts.dropped
        records = found.records
        places = places_of(found, self._clock.read_all(records.timestamps))
        for place, key, value in zip(places, records.keys, records.values, strict=True):
            if place.log_offset < self._covered:
                dropped("duplicate", 1)
            elif self._limit is not None and place.log_offset >= self._limit:
                dropped("filtered", 1)
            elif found.batch.is_control:
                dropped("control", 1)
                self._mark(found, place, key, value)
            else:
                self._record(found, place, key, value)
        self._expected = found.batch.last_offset + 1

    def _record(self, found: OpenedBatch, place: Place, key: bytes | None, value: bytes | None) -> None:
        record = self._decoder.decode(key, value)
        if record is None:
            self._source.accounts.dropped("other_type", 1)
            return
        if record.error is not None:
            self._source.failed(record.error, record.reason, found, place.log_offset)
        if record.type is None:
            self._source.accounts.dropped(record.error or "decode_error", 1)
            return
        inside = self.reducer.apply(record, place, found.batch)
        if inside is not None:
            self._source.failed("decode_error", inside, found, place.log_offset)

    def _mark(self, found: OpenedBatch, place: Place, key: bytes | None, value: bytes | None) -> None:
        """Markers end transactions by the producer's id; their epoch may be another (KIP-890)."""
        try:
            control = decode_control_record(key, value)
        except DecodeError as error:
            self._source.failed("decode_error", str(error), found, place.log_offset)
            return
        if isinstance(control, ControlRecord) and control.type in _MARKERS:
            committed = control.type is ControlRecordType.COMMIT
            self.reducer.end_transaction(found.batch.producer_id, place.append_time, committed=committed)


_MARKERS: Final = (ControlRecordType.COMMIT, ControlRecordType.ABORT)
