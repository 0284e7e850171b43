"""A history in parts of a log: each is read by itself, and what the parts leave is joined by key.

A part gives the rows that no other part can change. The others depend on what comes before or after: the join applies
the changes of a part to the rows that earlier parts left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.coordinator_fold import JoinableFold, LeftByPart
from kafkawire.logs.folding.coordinator_history import CoordinatorHistory, ShownRows, folded, known_since
from kafkawire.logs.folding.coordinator_log import NO_PAST, CoordinatorLog, PartOfLog, Past
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.batches import FileRange

_MOST_BUCKETS: Final = 64


def buckets_of(parts: int) -> int:
    """Into how many the keys of a log are divided: joining one then takes about the memory of reading a part."""
    return min(parts, _MOST_BUCKETS)


@dataclass(frozen=True)
class DivisibleHistory(CoordinatorHistory):
    """A history that several tasks can read: the rows of its parts and of their join are the rows of the log."""

    make_fold: Callable[[FoldSource], JoinableFold]

    def part(
        self, ranges: Sequence[FileRange], schema: pa.Schema, source: FoldSource, past: Past | None
    ) -> PartReading:
        """The reading of a part.

        Args:
            ranges: of the files of the log, in order.
            schema: some or all of the columns.
            source: reads the files.
            past: of the part; None if it is not known yet. ``PartOfLog.fits`` then says afterwards whether the part
                has to be read again with its past.
        """
        fold = self.make_fold(source)
        fold.begin_after_others()
        log = CoordinatorLog(source, fold.needed, NO_PAST if past is None else past, topic=self.topic)
        shown = ShownRows([each.file for each in ranges], schema, source, keys=self.keys)
        return PartReading(ranges, past == NO_PAST, fold, log, shown)

    def joined(
        self, lefts: Iterable[LeftByPart], files: Sequence[LogFile], schema: pa.Schema, source: FoldSource
    ) -> Iterator[pa.RecordBatch]:
        """The other rows of a log, or of a bucket of its keys.

        Args:
            lefts: what each part left, in the order of the log.
            files: of the log.
            schema: some or all of the columns.
            source: counts the rows.
        """
        fold, shown = self.make_fold(source), ShownRows(files, schema, source, keys=self.keys)
        for left in lefts:
            fold.join(left)
            for rows in fold.ended():
                yield from shown.batches(rows)
        for rows in fold.rest():
            yield from shown.batches(rows)


@dataclass(frozen=True)
class PartReading:
    """A part of a log that is being read.

    Attributes:
        ranges: of files.
        begins: whether nothing comes before it.
    """

    ranges: Sequence[FileRange]
    begins: bool
    _fold: JoinableFold
    _log: CoordinatorLog
    _shown: ShownRows

    def rows(self) -> Iterator[pa.RecordBatch]:
        """The rows that no other part can change.

        Raises:
            LogReadError: as ``History.read``.
            BeforeKnowledgeError: the same, if the part says so by itself.
        """
        for _ in folded(self._log, self._fold, self.ranges):
            if self.begins:
                self._shown.refuse_unknown(known_since(self.ranges, [self.found]), is_last=False)
            for rows in self._fold.ended():
                yield from self._shown.batches(rows)
        for rows in self._fold.last_ended():
            yield from self._shown.batches(rows)

    @property
    def found(self) -> PartOfLog:
        """What was found so far."""
        return self._log.read_so_far

    def left(self, buckets: int) -> LeftByPart:
        """What the join needs, after ``rows``; see ``JoinableFold.left``."""
        return self._fold.left(buckets)
