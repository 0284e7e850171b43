"""The outcome of the transactions of producers, from the markers that end them (KIP-98)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.frames.batches import FileRange, ScannedBatch
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.records.markers import outcome_of
from kafkawire.logs.records.scanning import open_batch
from kafkawire.logs.tables.log_batches import Place, batches_from
from kafkawire.logs.tables.rows import BatchOfRows
from kafkawire.wire import DecodeError

_OPEN: Final = "open"


class ProducerOutcomes:
    """The outcomes for the batches of a range of a log, requested in order.

    Transactions and markers are matched by producer id; the epoch of the marker may be another (KIP-890). After the
    range, the log is read up to the markers of the transactions that are still open. Memory holds the last of several
    markers with the same outcome of a producer.

    Args:
        log: the segments.
        file_range: the range, of one of the segments.
        options: how to read.
        store: where the segments are.
    """

    def __init__(self, log: Sequence[LogFile], file_range: FileRange, options: ReadOptions, store: FileStore) -> None:
        self._segment = [file.path for file in log].index(file_range.file.path)
        self._end = self._segment, file_range.end
        self._options = options
        self._runs: dict[int, deque[tuple[Place, str]]] = {}
        self._open: set[int] = set()
        self._steps = self._walk(batches_from(log, (self._segment, file_range.start), options, store))

    def of(self, _: LogFile, batch: BatchOfRows, offsets: Sequence[int]) -> Sequence[str | None]:
        """The outcome of the transaction of each record of a batch, markers included; None outside of transactions."""
        place = self._segment, batch.position
        return [self._outcome_at(place, batch.producer_id) if batch.is_transactional else None] * len(offsets)

    def _outcome_at(self, place: Place, producer_id: int) -> str:
        runs = self._runs.setdefault(producer_id, deque())
        while not runs or runs[-1][0] < place:
            if not next(self._steps, False):
                return _OPEN
        while runs[0][0] < place:
            runs.popleft()
        return runs[0][1]

    def _walk(self, batches: Iterator[tuple[Place, ScannedBatch]]) -> Iterator[bool]:
        for place, scanned in batches:
            producer_id = scanned.batch.producer_id
            outcome = self._outcome_in(scanned) if scanned.batch.is_control else None
            if outcome is None:
                if scanned.batch.is_transactional and place < self._end:
                    self._open.add(producer_id)
            elif place < self._end or producer_id in self._open:
                self._open.discard(producer_id)
                self._note(producer_id, place, outcome)
            yield True

    def _note(self, producer_id: int, place: Place, outcome: str) -> None:
        runs = self._runs.setdefault(producer_id, deque())
        if runs and runs[-1][1] == outcome:
            runs.pop()
        runs.append((place, outcome))

    def _outcome_in(self, scanned: ScannedBatch) -> str | None:
        """The outcome in a control batch, if it has a marker."""
        for opened in open_batch(scanned, self._options):
            if isinstance(opened, Flaw):
                return None
            outcome = next(filter(None, map(_outcome_or_none, opened.records.keys, opened.records.values)), None)
            if outcome is not None:
                return outcome
        return None


def _outcome_or_none(key: bytes | None, value: bytes | None) -> str | None:
    """The outcome in a control record, if it is a marker; the part that contains a damaged record reports it."""
    try:
        return outcome_of(key, value)
    except DecodeError:
        return None
