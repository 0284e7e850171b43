"""The outcome of the transactions of a metadata log (KIP-868)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.frames.batches import FileRange, ScannedBatch
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.records.batch_records import OpenedBatch
from kafkawire.logs.records.scanning import open_batch
from kafkawire.logs.tables.log_batches import Place, batches_from
from kafkawire.logs.tables.rows import BatchOfRows
from kafkawire.records.framed_records import METADATA_RECORD, read_frame
from kafkawire.records.metadata_transactions import MARKERS, OUTCOMES, MetadataTransactions
from kafkawire.wire import DecodeError

_OPEN: Final = "open"

_MAY_MARK: Final = re.compile(rb"\x01[\x17-\x19\x97-\x99]|\x81[\x00\x80]").search
"""Finds the frames of records 23 to 25, which begin and end transactions, also with padded numbers. May find more."""

_Point: TypeAlias = tuple[int, int, int]
"""A record: index of the segment, position of the batch, offset."""
_AFTER_ALL: Final = (1 << 63, 0, 0)
_LAST: Final = (1 << 63) - 1
"""Higher than the offsets of all records of a batch."""


class _Transaction(NamedTuple):
    """Records of one transaction, the end excluded."""

    begin: _Point
    end: _Point
    outcome: str


class MetadataOutcomes:
    """The outcomes for the records of a log, requested in order.

    Histories treat the records in the same way: those of a ``committed`` transaction count. A transaction is ``open``
    if its end is not in the log, or if another transaction begins or records are missing before its end. Memory holds
    the transactions from the requested record to the end of its own transaction.

    Args:
        log: the segments.
        options: how to read.
        store: where the segments are.
    """

    def __init__(self, log: Sequence[LogFile], options: ReadOptions, store: FileStore) -> None:
        self._numbers = {file.path: number for number, file in enumerate(log)}
        self._options = options
        self._requested: _Point = (0, -1, 0)
        self._found: deque[_Transaction] = deque()
        self._transactions = MetadataTransactions[_Point]()
        self._reached: _Point = (0, -1, 0)
        self._steps = self._walk(batches_from(log, (0, 0), options, store))

    def goes_on_to(self, file_range: FileRange) -> bool:
        """Whether a range of the same log comes after all records requested so far."""
        number = self._numbers.get(file_range.file.path, -1)
        return self._requested[:2] < (number, file_range.start)

    def of(self, file: LogFile, batch: BatchOfRows, offsets: Sequence[int]) -> Sequence[str | None]:
        """The outcome of the transaction of each record of a batch; None for a record outside of transactions."""
        place = self._numbers[file.path], batch.position
        self._requested = (*place, min(offsets, default=0))
        last = (*place, max(offsets, default=0))
        while self._reached < last or ((begun := self._transactions.begun) is not None and begun <= last):
            if not next(self._steps, False):
                break
        if batch.is_control or not self._found or self._found[0].begin > last:
            return [None] * len(offsets)
        return [self._outcome((*place, offset)) for offset in offsets]

    def _outcome(self, point: _Point) -> str | None:
        while self._found and self._found[0].end <= point:
            self._found.popleft()
        return self._found[0].outcome if self._found and self._found[0].begin <= point else None

    def _walk(self, batches: Iterator[tuple[Place, ScannedBatch]]) -> Iterator[bool]:
        expected: int | None = None
        for place, scanned in batches:
            batch = scanned.batch
            if expected is not None and batch.base_offset > expected:
                self._break((*place, batch.base_offset))
            can_be_read = True
            for opened in self._opened(scanned):
                if isinstance(opened, Flaw):
                    can_be_read = False
                    continue
                for offset, number in self._marks(opened):
                    if expected is None or offset >= expected:
                        self._mark((*place, offset), number)
                self._reached = (*place, opened.batch.last_offset)
                yield True
            if can_be_read:
                expected = max(expected or 0, batch.last_offset + 1)
            self._reached = (*place, _LAST)
            yield True
        self._break(_AFTER_ALL)

    def _opened(self, scanned: ScannedBatch) -> Iterator[OpenedBatch | Flaw]:
        """A batch in pieces, if its records may begin or end transactions."""
        batch = scanned.batch
        if batch.is_control or (
            self._transactions.begun is None and not batch.is_compressed and _MAY_MARK(batch.payload) is None
        ):
            return iter(())
        return open_batch(scanned, self._options)

    def _marks(self, opened: OpenedBatch) -> Iterator[tuple[int, int]]:
        """Offsets and ids of the records that begin or end transactions."""
        limit = self._options.high_watermark
        for offset, number in zip(opened.records.offsets, map(_number_of, opened.records.values), strict=True):
            if number is not None and number in MARKERS and (limit is None or offset < limit):
                yield offset, number

    def _mark(self, point: _Point, number: int) -> None:
        begun = self._transactions.begun
        self._transactions.take(number, point)
        segment, position, offset = point
        if number in OUTCOMES:
            self._note(begun, (segment, position, offset + 1), OUTCOMES[number])
        else:
            self._note(begun, point, _OPEN)

    def _break(self, at: _Point) -> None:
        """End the open transaction: records are missing."""
        self._note(self._transactions.begun, at, _OPEN)
        self._transactions.forget()

    def _note(self, begun: _Point | None, end: _Point, outcome: str) -> None:
        if begun is not None and self._requested < end:
            self._found.append(_Transaction(begun, end, outcome))


def _number_of(value: bytes | None) -> int | None:
    """The id of a metadata record, or None if it has none."""
    try:
        return None if value is None else read_frame(value, METADATA_RECORD)[0]
    except DecodeError:
        return None
