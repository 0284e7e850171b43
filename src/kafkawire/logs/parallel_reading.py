"""Tables that several processes read.

Parts of a table are read at the same time, and their rows come in the order of the parts. A large log of a divisible
history is read in parts too, which a join follows; see ``kafkawire.logs.folding.coordinator_parts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.catalogue import table_named
from kafkawire.logs.errors import LogReadError
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.folding.coordinator_fold import LeftByPart
from kafkawire.logs.folding.coordinator_history import ShownRows, known_since, ranges_of_log
from kafkawire.logs.folding.coordinator_log import NO_PAST, UNREAD, PartOfLog, Past
from kafkawire.logs.folding.coordinator_parts import DivisibleHistory, buckets_of
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.history_tables import HistoryTable
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.planning import parts_of_log
from kafkawire.logs.processes import Job, Workers, read_batch, read_rows, write_rows
from kafkawire.logs.tables.table import Part, Table

LOG_PART_BYTES: Final = 32 * 1024 * 1024
"""About the size of a part of a log: several for each process, so that all end together."""


def read_in_processes(
    table: Table,
    parts: Sequence[Part],
    options: ReadOptions,
    accounts: Accounts,
    *,
    store: FileStore,
    processes: int,
    log_part_bytes: int = LOG_PART_BYTES,
) -> Iterator[pa.RecordBatch]:
    """The rows of parts; this process reads them if there is only one, and it is not divided.

    Args:
        table: what to read, of these options.
        parts: some or all of the table.
        options: how to read.
        accounts: gets the counts of a part before its first row is returned.
        store: where the files are; it is pickled.
        processes: how many parts are read at the same time.
        log_part_bytes: about the size of the parts of a log.

    Raises:
        LogReadError: as ``Table.read``, in place of the rows of the part; code ``unreadable`` also if a process is
            killed, or the temporary folder is full.
        BeforeKnowledgeError: as ``Table.read``.
    """
    if len(parts) <= 1 and sum(part.bytes for part in parts) <= log_part_bytes:
        yield from _read_here(table, parts, options, accounts, store)
        return
    with Workers(processes) as workers:  # they begin while the logs are divided
        readings = [_divided(table, part, options, store, log_part_bytes) for part in parts]
        if sum(len(each.parts) for each in readings) <= 1:
            yield from _read_here(table, parts, options, accounts, store)
        else:
            yield from rows_of(readings, workers, accounts)


def _read_here(
    table: Table, parts: Sequence[Part], options: ReadOptions, accounts: Accounts, store: FileStore
) -> Iterator[pa.RecordBatch]:
    for part in parts:
        yield from table.read(part, options, accounts, store)


def rows_of(
    readings: Sequence[PartOfTable | DividedLog], workers: Workers, accounts: Accounts
) -> Iterator[pa.RecordBatch]:
    """The rows of readings, one after the other; workers begin the next ones in the meantime.

    Raises:
        LogReadError, BeforeKnowledgeError: as ``read_in_processes``.
    """
    results = workers.results(job for each in readings for job in each.jobs(workers))
    for reading in readings:
        yield from reading.rows(results, workers, accounts)


def _divided(
    table: Table, part: Part, options: ReadOptions, store: FileStore, log_part_bytes: int
) -> PartOfTable | DividedLog:
    asked = Asked(table.name, table.schema, options, store)
    if isinstance(table, HistoryTable) and isinstance(table.history, DivisibleHistory):
        parts = parts_of_log(part, options, store, max_partition_bytes=log_part_bytes)
        if len(parts) > 1:
            return DividedLog(asked, table.history, part, parts)
    return PartOfTable(asked, (part,))


class Asked(NamedTuple):
    """What all jobs have in common.

    Attributes:
        table: its name.
        schema: of the table.
        options: how to read.
        store: where the files are.
    """

    table: str
    schema: pa.Schema
    options: ReadOptions
    store: FileStore

    def source(self, accounts: Accounts) -> FoldSource:
        """The source of a history."""
        return FoldSource(self.options, accounts, self.store)


class _Result(NamedTuple):
    """What a job returns.

    Attributes:
        rows: a temporary file.
        accounts: the counts.
        found: in a part of a log.
    """

    rows: Path
    accounts: Accounts
    found: PartOfLog = UNREAD

    def taken(self, accounts: Accounts) -> Iterator[pa.RecordBatch]:
        """The rows, which are counted."""
        accounts.merge(self.accounts)
        return read_rows(self.rows)


@dataclass(frozen=True)
class PartOfTable:
    """A part of a table that one process reads."""

    asked: Asked
    parts: tuple[Part]

    def jobs(self, workers: Workers) -> Iterator[Job[_Result]]:
        """What comes first: no job depends on another one."""
        yield _PartJob(self.asked, self.parts[0], workers.new_path())

    def rows(self, results: Iterator[_Result], _: Workers, accounts: Accounts) -> Iterator[pa.RecordBatch]:
        """The rows, from the next of the results."""
        yield from next(results).taken(accounts)


@dataclass(frozen=True)
class DividedLog:
    """A log of a divisible history: the rows of its parts come first, then those of the join."""

    asked: Asked
    history: DivisibleHistory
    log: Part
    parts: Sequence[Part]

    def jobs(self, workers: Workers) -> Iterator[Job[_Result]]:
        """What comes first: no job depends on another one."""
        for number, part in enumerate(self.parts):
            yield self._job(part, workers.new_path(), None if number else NO_PAST)

    def rows(self, results: Iterator[_Result], workers: Workers, accounts: Accounts) -> Iterator[pa.RecordBatch]:
        """The rows, from the next of the results and further jobs."""
        files = [each.file for each in self.log.files]
        shown = ShownRows(files, self.asked.schema, self.asked.source(accounts))
        past, found, left = NO_PAST, list[PartOfLog](), list[_LeftFiles]()
        for number, first in enumerate(islice(results, len(self.parts))):
            result = first
            if number and not first.found.fits(past):
                (result,) = workers.results([self._job(self.parts[number], first.rows, past)])
                past = result.found.end
            else:
                past = result.found.after(past)
            found.append(result.found)
            left.append(_LeftFiles(result.rows))
            shown.refuse_unknown(known_since(ranges_of_log(files), found), is_last=len(found) == len(self.parts))
            yield from result.taken(accounts)
        joins = (
            _JoinJob(self.asked, self.history, self.log, left, bucket, workers.new_path())
            for bucket in range(buckets_of(len(self.parts)))
        )
        for joined in workers.results(joins):
            yield from joined.taken(accounts)
        for each in left:
            each.remove()

    def _job(self, part: Part, rows: Path, past: Past | None) -> _LogPartJob:
        return _LogPartJob(self.asked, self.history, part, rows, past, buckets_of(len(self.parts)))


class _LeftFiles(NamedTuple):
    """What a part of a log leaves: two files with a batch for each bucket, beside that of its rows."""

    rows: Path

    def write(self, left: LeftByPart, buckets: int) -> None:
        of_buckets = [left.of_bucket(bucket) for bucket in range(buckets)]
        write_rows(self._left_rows, left.rows.schema, (each.rows for each in of_buckets))
        write_rows(self._changes, left.changes.schema, (each.changes for each in of_buckets))

    def read(self, bucket: int) -> LeftByPart:
        return LeftByPart(read_batch(self._left_rows, bucket), read_batch(self._changes, bucket))

    def remove(self) -> None:
        self._left_rows.unlink()
        self._changes.unlink()

    @property
    def _left_rows(self) -> Path:
        return self.rows.with_suffix(".left")

    @property
    def _changes(self) -> Path:
        return self.rows.with_suffix(".changes")


@dataclass(frozen=True)
class _PartJob:
    """Reads a part of a table."""

    asked: Asked
    part: Part
    rows: Path

    @property
    def path(self) -> str:
        return self.part.files[0].file.path

    def run(self) -> _Result:
        asked, accounts = self.asked, Accounts()
        table = table_named(asked.table, asked.options)
        write_rows(self.rows, table.schema, table.read(self.part, asked.options, accounts, asked.store))
        return _Result(self.rows, accounts)


@dataclass(frozen=True)
class _LogPartJob:
    """Reads a part of a log of a divisible history; ``past`` is None if it is not known yet."""

    asked: Asked
    history: DivisibleHistory
    part: Part
    rows: Path
    past: Past | None
    buckets: int

    @property
    def path(self) -> str:
        return self.part.files[0].file.path

    def run(self) -> _Result:
        asked, accounts = self.asked, Accounts()
        part = self.history.part(self.part.files, asked.schema, asked.source(accounts), self.past)
        try:
            write_rows(self.rows, asked.schema, part.rows())
        except LogReadError:
            if self.past is None:  # in mode FAILFAST, its past decides which errors count
                return _Result(self.rows, accounts)
            raise
        _LeftFiles(self.rows).write(part.left(self.buckets), self.buckets)
        return _Result(self.rows, accounts, part.found)


@dataclass(frozen=True)
class _JoinJob:
    """Joins what the parts of a log leave for the keys of a bucket."""

    asked: Asked
    history: DivisibleHistory
    log: Part
    left: Sequence[_LeftFiles]
    bucket: int
    rows: Path

    @property
    def path(self) -> str:
        return self.log.files[0].file.path

    def run(self) -> _Result:
        asked, accounts = self.asked, Accounts()
        left = (each.read(self.bucket) for each in self.left)
        files = [each.file for each in self.log.files]
        write_rows(self.rows, asked.schema, self.history.joined(left, files, asked.schema, asked.source(accounts)))
        return _Result(self.rows, accounts)
