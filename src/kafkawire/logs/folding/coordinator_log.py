"""The log of a coordinator, read in order.

Its segments may overlap after a crash. Compaction leaves gaps, so gaps are no losses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.continuing import Reached
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.records.batch_records import RecordGroup
from kafkawire.logs.records.markers import Outcome, outcome_of
from kafkawire.logs.tables.rows import RAW_COLUMNS, RawRows
from kafkawire.logs.times import Clock
from kafkawire.records.version_prefix import PREFIX_SIZE
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import RecordBatch

CONSUMER_OFFSETS: Final = "__consumer_offsets"
"""The topic of the group coordinators."""

_OFFSET: Final = RAW_COLUMNS.get_field_index("log_offset")
_TIMESTAMP: Final = RAW_COLUMNS.get_field_index("timestamp")


class TransactionEnd(NamedTuple):
    """A marker that ends the transaction of a producer; its epoch may differ from that of the records (KIP-890).

    Attributes:
        row: how many of the records come before it.
        producer_id: of the producer.
        time: of the marker, in milliseconds since the epoch.
        offset: of the marker.
        outcome: of the transaction.
    """

    row: int
    producer_id: int
    time: int
    offset: int
    outcome: Outcome


class LogRows(NamedTuple):
    """The next records of a log.

    Attributes:
        records: those of the needed types, and those whose type is not known. A record without a usable timestamp has
            that of the record before it.
        ends: the ends of transactions among them, in order.
    """

    records: RawRows
    ends: Sequence[TransactionEnd]


class Past(NamedTuple):
    """What the records of a log depend on in those before them.

    Attributes:
        covered: the offset after the last record of the files before.
        expected: the offset after the last record of the same file; 0 at its beginning.
        now: time of the last record, in milliseconds since the epoch; 0 before the first.
    """

    covered: int = 0
    expected: int = 0
    now: int = 0


NO_PAST: Final = Past()


class PartOfLog(NamedTuple):
    """What the reading of a part of a log found, as far as the other parts need it.

    Attributes:
        begins_file: whether a file begins in the part.
        lowest: the lowest offset; None without records.
        began_without_time: whether the first record has no usable time of its own.
        end: the past of what follows, if this part was read with its own past.
        begins_log: whether the first offset of all is in it.
        is_empty: whether it has neither records nor bytes that could not be read.
        first_time: the first usable time, in milliseconds since the epoch; None if there is none.
    """

    begins_file: bool
    lowest: int | None
    began_without_time: bool
    end: Past
    begins_log: bool
    is_empty: bool
    first_time: int | None

    def fits(self, past: Past) -> bool:
        """Whether the part, read without its past, is what it is with it."""
        in_order = self.lowest is None or self.lowest >= max(past.covered, past.expected)
        return in_order and not self.began_without_time

    def after(self, past: Past) -> Past:
        """The past of what follows this part, which was read without its past, and fits it."""
        end = self.end
        now = end.now or past.now
        if self.begins_file:
            return Past(max(past.covered, past.expected, end.covered), end.expected, now)
        return Past(past.covered, past.expected if self.lowest is None else end.expected, now)


UNREAD: Final = PartOfLog(
    begins_file=False,
    lowest=-1,
    began_without_time=False,
    end=NO_PAST,
    begins_log=False,
    is_empty=False,
    first_time=None,
)
"""A part that could not be read without its past. It fits none."""


class CoordinatorLog:
    """Reads the segments of one log, or a part of them, without the records that a history does not need.

    Args:
        source: reads the files.
        needed: names of the record types that the history needs.
        past: of the first record.
        reached: the place after the last batch of an earlier reading; None without one.
        topic: of the log.

    Attributes:
        reached: the place after the last batch that was read; None before the first.
    """

    def __init__(
        self,
        source: FoldSource,
        needed: frozenset[str],
        past: Past = NO_PAST,
        reached: Reached | None = None,
        *,
        topic: str = CONSUMER_OFFSETS,
    ) -> None:
        self._source = source
        self._limit = source.options.high_watermark
        types = source.options.registry.coordinators[topic].values()
        others = [each.number.to_bytes(PREFIX_SIZE, "big", signed=True) for each in types if each.name not in needed]
        self._others = pa.array(others, pa.binary())
        self._clock = Clock(past.now)
        self._covered = past.covered
        self._expected = past.expected
        self._begins_file = False
        self._begins_log = False
        self._is_empty = True
        self._lowest: int | None = None
        self.reached = reached

    @property
    def past(self) -> Past:
        """What the records after ``reached`` depend on."""
        limit = self._limit
        if limit is None or self._expected <= limit:
            return Past(self._covered, self._expected, self._clock.now)
        return Past(
            max(self._covered, limit), 0, self._clock.now
        )  # the last batch is read again, for its other records

    @property
    def read_so_far(self) -> PartOfLog:
        """What was found."""
        return PartOfLog(
            begins_file=self._begins_file,
            lowest=self._lowest,
            began_without_time=self._clock.began_without_time,
            end=Past(self._covered, self._expected, self._clock.now),
            begins_log=self._begins_log,
            is_empty=self._is_empty,
            first_time=self._clock.first,
        )

    def read(self, ranges: Sequence[FileRange]) -> Iterator[LogRows | Flaw]:
        """The records of ranges of segments, in the order of the log.

        Raises:
            LogReadError: as ``FoldSource.groups`` and ``FoldSource.failed``.
        """
        for each in ranges:
            if each.start == 0:
                self._begins_file = True
                self._covered = max(self._covered, self._expected)
                self._expected = 0
            for found in self._source.groups(each):
                self._is_empty = self._is_empty and isinstance(found, Flaw) and found.is_expected
                if isinstance(found, Flaw):
                    yield found
                    continue
                batches = self._batches_within_limit(found)
                yield self._rows(found, batches)
                if len(batches) < len(found.batches) or self._is_beyond(batches[-1]):
                    break

    def _is_beyond(self, batch: RecordBatch) -> bool:
        return self._limit is not None and batch.base_offset >= self._limit

    def _batches_within_limit(self, group: RecordGroup) -> Sequence[RecordBatch]:
        """The batches of a group up to the first that is beyond the limit, which is counted but not used."""
        if self._limit is None:
            return group.batches
        beyond = (number for number, batch in enumerate(group.batches, 1) if self._is_beyond(batch))
        return group.batches[: next(beyond, None)]

    def _rows(self, group: RecordGroup, batches: Sequence[RecordBatch]) -> LogRows:
        count = sum(batch.records_count for batch in batches) if len(batches) < len(group.batches) else len(group)
        self._source.accounts.records_read += count
        arrays = [each.slice(0, count) for each in group.records]
        self._check_offsets(group.file, batches)
        self._note_lowest(pc.min(cast("pa.Int64Array", arrays[_OFFSET])).as_py())
        arrays[_TIMESTAMP] = self._clock.read_column(cast("pa.Int64Array", arrays[_TIMESTAMP]))
        return self._needed(RawRows(group.file, pa.RecordBatch.from_arrays(arrays, schema=RAW_COLUMNS)))

    def _check_offsets(self, file: LogFile, batches: Sequence[RecordBatch]) -> None:
        """Offsets increase within a file. The CRC does not cover them, so either of two may be wrong."""
        used = batches[:-1] if self._is_beyond(batches[-1]) else batches
        if not used:
            return
        expected = self._expected
        for batch in used:
            base_offset = batch.base_offset
            if base_offset < expected:
                reason = f"offset {base_offset} follows {expected - 1} in the same file"
                self._source.failed("bad_offset", reason, file, batch.position, base_offset)
            elif base_offset == 0:
                self._begins_log = True
            expected = base_offset + batch.last_offset_delta + 1
        self._expected = expected
        self._note_lowest(min(batch.base_offset for batch in used))
        last = used[-1]
        if self._limit is not None and self._limit < expected:
            self.reached = Reached(self._limit, file.base_offset, last.position)
        else:
            self.reached = Reached(expected, file.base_offset, last.position + last.size)

    def _note_lowest(self, offset: int | None) -> None:
        if offset is not None and (self._lowest is None or offset < self._lowest):
            self._lowest = offset

    def _needed(self, rows: RawRows) -> LogRows:
        """The rows that the history needs; the others are counted as dropped."""
        offsets = cast("pa.Int64Array", rows.columns.column("log_offset"))
        rows = self._without(rows, "duplicate", pc.less(offsets, pa.scalar(self._covered, pa.int64())))
        if self._limit is not None:
            offsets = cast("pa.Int64Array", rows.columns.column("log_offset"))
            rows = self._without(rows, "filtered", pc.greater_equal(offsets, pa.scalar(self._limit, pa.int64())))
        control = rows.control
        prefixes = pc.binary_slice(rows.keys, 0, PREFIX_SIZE)
        others = pc.and_not(pc.is_in(prefixes, self._others), control)
        ends: Sequence[TransactionEnd] = ()
        if control.true_count:
            ends = self._ends(rows, control, others)
            control = control.filter(pc.invert(others))
        rows = self._without(rows, "other_type", others)
        return LogRows(self._without(rows, "control", control), ends)

    def _without(self, rows: RawRows, reason: str, mask: pa.BooleanArray) -> RawRows:
        if not mask.true_count:
            return rows
        self._source.accounts.dropped(reason, mask.true_count)
        return rows.where(pc.invert(mask))

    def _ends(self, rows: RawRows, control: pa.BooleanArray, others: pa.BooleanArray) -> Sequence[TransactionEnd]:
        """The ends of transactions among some rows, with their places among the rows that stay."""
        staying = pc.invert(pc.or_(control, others)).cast(pa.int32())
        before = cast("list[int]", pc.cumulative_sum(staying).filter(control).to_pylist())
        found = rows.where(control)
        names = ("batch_position", "log_offset", "producer_id", "timestamp")
        cells = zip(*(cast("list[int]", found.columns.column(name).to_pylist()) for name in names), strict=True)
        ends = []
        for (position, offset, producer, time), key, value, row in zip(
            cells, found.keys.to_pylist(), found.values.to_pylist(), before, strict=True
        ):
            try:
                outcome = outcome_of(key, value)
            except DecodeError as error:
                self._source.failed("decode_error", str(error), rows.file, position, offset)
                continue
            if outcome is not None:
                ends.append(TransactionEnd(row, producer, time, offset, outcome))
        return ends
