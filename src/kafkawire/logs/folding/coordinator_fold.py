"""The records of a coordinator, folded into rows with the time during which each was valid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, Generic, Protocol, TypeVar, cast

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.logs.folding.columns import Columns, record_batch
from kafkawire.logs.folding.coordinator_decoder import CoordinatorDecoder, DecodedRecord
from kafkawire.logs.folding.coordinator_log import CONSUMER_OFFSETS, LogRows
from kafkawire.logs.folding.division import LeftByPart, bucket_of
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import LARGEST_ROW_BATCH, OCTETS_AT_A_TIME, SHOWN_CORRUPT_OCTETS
from kafkawire.logs.tables.rows import RawRows
from kafkawire.wire import Message


class CoordinatorFold(Protocol):
    """Turns the records of one log into rows.

    Rows have the columns of ``EVERY_ROW``, and those of the history. All times are in milliseconds since the
    epoch.
    """

    @property
    def needed(self) -> frozenset[str]:
        """Names of the record types that it needs."""

    def apply(self, rows: LogRows) -> None:
        """Apply the next records.

        Raises:
            LogReadError: as ``FoldSource.failed``.
        """

    def lose(self, flaw: Flaw) -> None:
        """Note bytes that could not be read."""

    def ended(self) -> Iterator[pa.RecordBatch]:
        """Rows that nothing can change any more, in the order in which they ended, once there are many."""

    def last_ended(self) -> Iterator[pa.RecordBatch]:
        """Rows that nothing can change any more, after the last record."""

    def rest(self) -> Iterator[pa.RecordBatch]:
        """All other rows, after the last record: those that have ended, then the others in the order of the log.

        Of the latter, those that an earlier reading has returned as they are now are left out.
        """

    def save(self) -> bytes:
        """What ``resume`` continues from, after ``last_ended`` and before ``rest``."""

    def resume(self, octets: bytes) -> None:
        """Continue from the state that an earlier reading left, in place of the beginning of the log.

        Raises:
            SavedStateError: it is damaged.
        """


class JoinableFold(CoordinatorFold, Protocol):
    """A fold of a part of a log. What it leaves can be joined with what other parts leave."""

    def begin_after_others(self) -> None:
        """Note what the records do to rows of earlier parts."""

    def left(self, buckets: int) -> LeftByPart:
        """What the part leaves, after ``last_ended``.

        Args:
            buckets: into how many the keys are divided.
        """

    def join(self, left: LeftByPart) -> None:
        """Apply what the next part left."""


EVERY_ROW: Final[Mapping[str, pa.DataType]] = {
    "file": pa.string(),
    "batch_position": pa.int64(),
    "log_offset": pa.int64(),
    "leader_epoch": pa.int32(),
    "append_time": pa.int64(),
    "valid_from": pa.int64(),
    "valid_to": pa.int64(),
    "error": pa.string(),
    "corrupt": pa.binary(),
    "lost": pa.bool_(),
}
"""The place of the record that began a row, when the row was valid, and the error in the record with its bytes. A row
that is lost represents bytes that could not be read as records."""


_OF_ROW: Final = ("valid_from", "valid_to", "error", "corrupt", "lost")
_UNKNOWN: Final = -1
_MOST_OCTETS: Final = 4 * OCTETS_AT_A_TIME
"""Bytes of values whose rows are gathered together."""


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a record is.

    Attributes:
        file: path.
        batch_position: of its batch in the file.
        log_offset: in the log; for bytes that could not be read, the offset that their batch states, or -1.
        leader_epoch: of the leader that appended the batch.
        append_time: of the record, in milliseconds since the epoch; -1 for bytes that could not be read.
    """

    file: str
    batch_position: int
    log_offset: int
    leader_epoch: int | None
    append_time: int


class HistoryRow(msgspec.Struct, gc=False, kw_only=True):
    """The attributes that rows of all reducers have.

    Attributes:
        place: the record that began the row.
        valid_from, valid_to: when the row was valid, in milliseconds since the epoch.
        error: the code of the error in the record, or None.
        corrupt: the bytes with the error.
        lost: whether the row is for bytes that could not be read as records.
        is_saved: whether an earlier reading of the log has returned it as it is.
    """

    place: Place
    valid_from: int | None = None
    valid_to: int | None = None
    error: str | None = None
    corrupt: bytes | None = None
    lost: bool = False
    is_saved: bool = False


R = TypeVar("R", bound=HistoryRow)


class RowReducer(Protocol[R]):
    """Turns records into rows, one after the other.

    Attributes:
        RECORDS: names of the record types that it needs.
        ended: rows that nothing can change any more. The caller clears the list.
    """

    RECORDS: ClassVar[frozenset[str]]
    ended: list[R]

    def owner_of(self, key: Message) -> str | None:
        """What the rows that a record with a key can change belong to, such as a group."""

    def apply(self, record: DecodedRecord, place: Place) -> str | None:
        """Apply the next record; returns the error in an embedded message, such as a subscription, or None."""

    def lose(self, place: Place, code: str, raw: bytes | None) -> None:
        """Note bytes that could not be read."""

    def end_step(self) -> None:
        """Note that the next record is of another batch, or another time."""

    def still_open(self) -> Iterator[R]:
        """The rows that may still change, in the order of the log."""

    def save(self) -> bytes:
        """What ``resume`` continues from, after the end of a step."""

    def resume(self, octets: bytes) -> None:
        """Continue from the state that an earlier reading left.

        Raises:
            SavedStateError: it is damaged.
        """


class RecordFold(Generic[R]):
    """A fold that decodes each record by itself, for a ``RowReducer``. See ``CoordinatorFold``.

    Args:
        source: counts errors.
        reducer: the history.
        own_columns: names and types of the columns that only this history has.
        cells: the cells of these columns for some rows.
        topic: of the log.
    """

    def __init__(
        self,
        source: FoldSource,
        reducer: RowReducer[R],
        own_columns: Mapping[str, pa.DataType],
        cells: Callable[[Sequence[R]], Columns],
        *,
        topic: str = CONSUMER_OFFSETS,
    ) -> None:
        self._source = source
        self._reducer = reducer
        self._decoder = CoordinatorDecoder(topic, reducer.RECORDS, source.options.registry)
        self._schema = pa.schema({**EVERY_ROW, **own_columns})
        self._cells = cells
        self._before: tuple[str, int, int] | None = None
        self._steps = self._step = 0
        self._octets = self._octets_lost = 0

    @property
    def needed(self) -> frozenset[str]:
        """See ``CoordinatorFold``."""
        return self._reducer.RECORDS

    def apply(self, rows: LogRows) -> None:
        """See ``CoordinatorFold``."""
        self.apply_steps(rows.records, self.steps(rows.records).to_pylist())

    def steps(self, records: RawRows) -> pa.Int64Array:
        """The number of the step of each of the next records: a step is of one batch and time."""
        columns = records.columns.select(["batch_position", "timestamp"]).columns
        if not len(records):
            return pa.array([], pa.int64())
        first, last = ((records.file.path, *(column[at].as_py() for column in columns)) for at in (0, -1))
        begins = pa.repeat(pa.scalar(False), len(records) - 1)
        for column in columns:
            begins = pc.or_(begins, pc.not_equal(column[1:], column[:-1]))
        self._steps += first != self._before
        later = pc.cumulative_sum(begins.cast(pa.int64()))
        numbers = pc.add(pa.concat_arrays([pa.array([0], pa.int64()), later]), pa.scalar(self._steps, pa.int64()))
        self._before, self._steps = last, numbers[-1].as_py()
        return cast("pa.Int64Array", numbers)

    def buckets(self, records: RawRows, buckets: int) -> Sequence[int]:
        """The bucket of each record. Those with the same owner have the same; 0 where it cannot be decoded."""
        keys = pc.fill_null(records.keys, b"").dictionary_encode()
        of_keys = [self._bucket(key, buckets) for key in cast("list[bytes]", keys.dictionary.to_pylist())]
        return [of_keys[code] for code in cast("list[int]", keys.indices.to_pylist())]

    def _bucket(self, key: bytes, buckets: int) -> int:
        decoded = self._decoder.decode(key, None).key
        owner = None if decoded is None else self._reducer.owner_of(decoded)
        return 0 if owner is None else bucket_of(owner.encode(errors="surrogatepass"), buckets)

    def end_step(self) -> None:
        """Note that the records of another part follow."""
        self._reducer.end_step()
        self._step = -1

    def apply_steps(self, records: RawRows, steps: Sequence[int]) -> None:
        """Apply the next records.

        Args:
            records: some or all of the log.
            steps: the number of the step of each.

        Raises:
            LogReadError: as ``FoldSource.failed``.
        """
        file, columns = records.file, records.columns
        path = file.shown_path
        names = ("batch_position", "log_offset", "leader_epoch", "timestamp", "key", "value")
        cells = zip(*(columns.column(name).to_pylist() for name in names), strict=True)
        for (position, offset, epoch, time, key, value), step in zip(cells, steps, strict=True):
            if step != self._step:
                self._reducer.end_step()
                self._step = step
            self._octets += len(value or b"")
            record = self._decoder.decode(key, value)
            if record.error is not None:
                self._source.failed(record.error, record.reason, file, position, offset)
            if record.type is None:
                self._source.accounts.dropped(record.error or "decode_error", 1)
                continue
            inside = self._reducer.apply(record, Place(path, position, offset, epoch, time))
            if inside is not None:
                self._source.failed("decode_error", inside, file, position, offset)

    def lose(self, flaw: Flaw) -> None:
        """See ``CoordinatorFold``."""
        self._octets_lost += len(flaw.raw or b"")
        offset = _UNKNOWN if flaw.base_offset is None else flaw.base_offset
        place = Place(flaw.file.shown_path, flaw.position, offset, None, _UNKNOWN)
        self._reducer.lose(place, flaw.code, flaw.raw)

    def ended(self) -> Iterator[pa.RecordBatch]:
        """See ``CoordinatorFold``."""
        is_much = self._octets >= _MOST_OCTETS or self._octets_lost >= SHOWN_CORRUPT_OCTETS
        if len(self._reducer.ended) >= LARGEST_ROW_BATCH or (is_much and self._reducer.ended):
            yield self._table(self._reducer.ended)
            self._reducer.ended.clear()
            self._octets = self._octets_lost = 0

    def rest(self) -> Iterator[pa.RecordBatch]:
        """See ``CoordinatorFold``."""
        yield from self.last_ended()
        yield from self._tables([row for row in self._reducer.still_open() if not row.is_saved])

    def last_ended(self) -> Iterator[pa.RecordBatch]:
        """See ``CoordinatorFold``."""
        self._reducer.end_step()
        yield from self._tables(self._reducer.ended)
        self._reducer.ended.clear()

    def save(self) -> bytes:
        """See ``CoordinatorFold``."""
        return self._reducer.save()

    def resume(self, octets: bytes) -> None:
        """See ``CoordinatorFold``."""
        self._reducer.resume(octets)

    def _tables(self, rows: Sequence[R]) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(rows), LARGEST_ROW_BATCH):
            yield self._table(rows[start : start + LARGEST_ROW_BATCH])

    def _table(self, rows: Sequence[R]) -> pa.RecordBatch:
        columns: Columns = {
            **{name: [getattr(row.place, name) for row in rows] for name in Place.__struct_fields__},
            "log_offset": [row.place.log_offset if row.place.log_offset >= 0 else None for row in rows],
            **{name: [getattr(row, name) for row in rows] for name in _OF_ROW},
            **self._cells(rows),
        }
        return record_batch(self._schema, columns)
