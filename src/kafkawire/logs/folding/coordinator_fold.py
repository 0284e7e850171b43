"""The log of a group coordinator, replayed as one sequence of records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from kafkawire.logs.files.log_files import LogFile, segments_of
from kafkawire.logs.folding.coordinator_decoder import CoordinatorDecoder, DecodedRecord
from kafkawire.logs.folding.selection import SINCE_EVER
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.records.batch_records import OpenedBatch
from kafkawire.logs.times import Clock
from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import RecordBatch

CONSUMER_OFFSETS: Final = "__consumer_offsets"
"""The topic of the group coordinators."""

_NOWHERE: Final = -1
_ENDS_OF_TRANSACTION: Final = (ControlRecordType.COMMIT, ControlRecordType.ABORT)


class Place(NamedTuple):
    """Where a record is.

    Attributes:
        file: path.
        batch_position: of its batch in the file.
        log_offset: in the log; for bytes that could not be read, the offset that their batch states, or -1.
        leader_epoch: of the leader that appended the batch.
        append_time: of the record, in milliseconds since the epoch.
    """

    file: str
    batch_position: int
    log_offset: int
    leader_epoch: int | None
    append_time: int


class HistoryRow(msgspec.Struct, gc=False, kw_only=True):
    """The attributes that rows of all group histories have.

    Attributes:
        place: the record that began the row.
        valid_from, valid_to: when the row was valid, in milliseconds since the epoch.
        error: the code of the error in the record, or None.
        corrupt: the bytes with the error.
        is_lost: whether the row is for bytes that could not be read as records.
    """

    place: Place
    valid_from: int | None = None
    valid_to: int | None = None
    error: str | None = None
    corrupt: bytes | None = None
    is_lost: bool = False


R = TypeVar("R", bound=HistoryRow)


class RowReducer(Protocol[R]):
    """Turns records into rows.

    Attributes:
        RECORDS: names of the record types that it needs.
        ended: rows that nothing can change any more. The caller clears the list.
    """

    RECORDS: ClassVar[frozenset[str]]
    ended: list[R]

    def apply(self, record: DecodedRecord, place: Place, batch: RecordBatch) -> str | None:
        """Apply the next record; returns the error in an embedded message, such as a subscription, or None."""

    def end_transaction(self, producer_id: int, at: int, *, committed: bool) -> None:
        """End the transaction of a producer."""

    def lose(self, place: Place, code: str, raw: bytes | None) -> None:
        """Note bytes that could not be read."""

    def end_batch(self) -> None:
        """Note the end of a batch."""

    def still_open(self) -> Iterator[R]:
        """The rows that may still change."""


class CoordinatorFold(Generic[R]):
    """Folds the segments of one log into rows. Compaction leaves gaps, so gaps are no losses.

    Args:
        reducer: the history.
        source: reads the files.
    """

    def __init__(self, reducer: RowReducer[R], source: FoldSource) -> None:
        self.reducer = reducer
        self._source = source
        self._limit = source.options.high_watermark
        self._decoder = CoordinatorDecoder(CONSUMER_OFFSETS, reducer.RECORDS, source.options.registry)
        self._clock = Clock()
        self._covered = 0
        self._expected = 0
        self._begins_with_its_log = False
        self._is_empty = False

    @property
    def known_since(self) -> int | None:
        """The time, in milliseconds, since which the whole state is known.

        A log that begins at offset 0 was empty before: partitions of coordinators are written to long after they are
        created, or never. Otherwise it is the time of the first record, and None before one was read.
        """
        return SINCE_EVER if self._begins_with_its_log or self._is_empty else self._clock.first

    def run(self, files: Sequence[LogFile]) -> Iterator[None]:
        """Apply all files; pauses after each batch and each flaw, so that the caller can take rows that have ended."""
        segments = segments_of(files)
        self._is_empty = bool(segments) and segments[0].base_offset == 0
        for segment in segments:
            self._covered = max(self._covered, self._expected)
            self._expected = 0
            for found in self._source.batches(segment):
                self._is_empty = self._is_empty and isinstance(found, Flaw) and found.is_expected
                if isinstance(found, Flaw):
                    offset = _NOWHERE if found.base_offset is None else found.base_offset
                    place = Place(found.file.shown_path, found.position, offset, None, 0)
                    self.reducer.lose(place, found.code, found.raw)
                elif self._limit is not None and found.batch.base_offset >= self._limit:
                    self._source.accounts.dropped("filtered", len(found.records.offsets))
                    break
                else:
                    self._apply(found)
                    self.reducer.end_batch()
                yield

    def _apply(self, found: OpenedBatch) -> None:
        base_offset = found.batch.base_offset
        self._begins_with_its_log = self._begins_with_its_log or base_offset == 0
        if base_offset < self._expected:  # the CRC does not cover offsets, so either of the two may be wrong
            reason = f"offset {base_offset} follows {self._expected - 1} in the same file"
            self._source.failed("bad_offset", reason, found, base_offset)
        dropped = self._source.accounts.dropped
        records = found.records
        path, position, epoch = found.file.shown_path, found.position, found.batch.partition_leader_epoch
        times = self._clock.read_all(records.timestamps)
        for offset, time, key, value in zip(records.offsets, times, records.keys, records.values, strict=True):
            if offset < self._covered:
                dropped("duplicate", 1)
            elif self._limit is not None and offset >= self._limit:
                dropped("filtered", 1)
            elif found.batch.is_control:
                dropped("control", 1)
                self._end_transaction(found, time, offset, key, value)
            else:
                self._record(found, Place(path, position, offset, epoch, time), key, value)
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

    def _end_transaction(
        self, found: OpenedBatch, time: int, offset: int, key: bytes | None, value: bytes | None
    ) -> None:
        """End the transaction of a producer by its id alone: the epoch of the marker may be another (KIP-890)."""
        try:
            control = decode_control_record(key, value)
        except DecodeError as error:
            self._source.failed("decode_error", str(error), found, offset)
            return
        if isinstance(control, ControlRecord) and control.type in _ENDS_OF_TRANSACTION:
            committed = control.type is ControlRecordType.COMMIT
            self.reducer.end_transaction(found.batch.producer_id, time, committed=committed)
