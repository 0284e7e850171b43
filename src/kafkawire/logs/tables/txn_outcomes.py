"""Column ``txn_outcome`` of table ``records``: the outcome of the transaction of each record.

The end of a transaction may come long after the record, in another part or another segment. So each part reads
ahead in the log up to the ends of its own transactions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.logs.tables.log_batches import log_of
from kafkawire.logs.tables.metadata_outcomes import MetadataOutcomes
from kafkawire.logs.tables.producer_outcomes import ProducerOutcomes
from kafkawire.logs.tables.rows import BatchOfRows, RawRows


class _Outcomes(Protocol):
    def of(self, file: LogFile, batch: BatchOfRows, offsets: Sequence[int]) -> Sequence[str | None]: ...


class TxnOutcomes:
    """The outcomes for the records of several ranges, one range after the other.

    Args:
        options: how they are read.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._outcomes: _Outcomes | None = None

    def enter(self, file_range: FileRange, store: FileStore) -> None:
        """Begin a range."""
        self._range, self._store = file_range, store
        if not (isinstance(self._outcomes, MetadataOutcomes) and self._outcomes.goes_on_to(file_range)):
            self._outcomes = None

    def column(self, rows: RawRows) -> ArrowArray:
        """The column for the next rows of the range."""
        if rows.file.topic != METADATA_TOPIC and not pc.any(rows.transactional).as_py():
            return pa.nulls(len(rows), pa.string())
        if self._outcomes is None:
            self._outcomes = _outcomes_of(self._range, self._options, self._store)
        outcomes: list[str | None] = []
        for batch, offsets in rows.batches():
            outcomes += self._outcomes.of(rows.file, batch, offsets)
        return pa.array(outcomes, pa.string())


def _outcomes_of(file_range: FileRange, options: ReadOptions, store: FileStore) -> _Outcomes:
    log = log_of(file_range.file, store)
    if file_range.file.topic == METADATA_TOPIC:
        return MetadataOutcomes(log, options, store)
    return ProducerOutcomes(log, file_range, options, store)
