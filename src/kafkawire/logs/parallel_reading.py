"""Tables that several processes read.

Parts of a table are read at the same time, and their rows come in the order of the parts. A large log of a divisible
history is read in parts too, which a join follows; see ``kafkawire.logs.folding.division``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, cast

import pyarrow as pa

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.catalogue import table_named
from kafkawire.logs.errors import LogReadError
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.folding.coordinator_log import NO_PAST, UNREAD, PartOfLog, Past
from kafkawire.logs.folding.division import Bucket, DivisibleHistory, LeftByPart, buckets_of
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.history_tables import HistoryTable
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.planning import parts_of_log
from kafkawire.logs.processes import Job, Workers, WrittenRows, read_batches, read_rows, write_rows
from kafkawire.logs.tables.rows import repeated
from kafkawire.logs.tables.table import Part, Table

LOG_PART_BYTES: Final = 32 * 1024 * 1024
"""About the size of a part of a log: several for each process, so that all end together."""

_FILE: Final = "file"
"""The column of the path of the file that a row is from; see ``PROVENANCE``."""


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
        parts = parts_of_log(part, options, store, max_partition_bytes=log_part_bytes, tapers=True)
        if len(parts) > 1:
            return DividedLog(asked, part, parts)
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

    @property
    def history(self) -> DivisibleHistory:
        """The history of the table; histories are not pickled."""
        return cast("DivisibleHistory", cast("HistoryTable", table_named(self.table, self.options)).history)

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
        """The rows as they were written, which are counted."""
        accounts.merge(self.accounts)
        return read_rows(self.rows)


class _RowsOfFiles:
    """Temporary rows of some files of logs. If it is one file, they are written without its path.

    The path is longer than half of the other columns together.

    Args:
        schema: of the table.
        files: which the rows can be from.
    """

    def __init__(self, schema: pa.Schema, files: Iterable[LogFile]) -> None:
        paths = {file.shown_path for file in files}
        place = schema.get_field_index(_FILE)
        self._left_out = len(paths) == 1 and place >= 0 and len(schema) > 1  # batches without columns have no length
        self._schema, self._place, self._path = schema, place, min(paths, default="")

    @property
    def written(self) -> pa.Schema:
        """The columns that are written."""
        return self._schema.remove(self._place) if self._left_out else self._schema

    def whole(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches that were written, with all columns."""
        if not self._left_out:
            yield from batches
            return
        for batch in batches:
            columns = batch.columns
            columns.insert(self._place, repeated(self._path, batch.num_rows))
            yield pa.RecordBatch.from_arrays(columns, schema=self._schema)


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
    log: Part
    parts: Sequence[Part]

    def jobs(self, workers: Workers) -> Iterator[Job[_Result]]:
        """What comes first: no job depends on another one."""
        for number, part in enumerate(self.parts):
            yield self._job(part, workers.new_path(), None if number else NO_PAST)

    def rows(self, results: Iterator[_Result], workers: Workers, accounts: Accounts) -> Iterator[pa.RecordBatch]:
        """The rows, from the next of the results and further jobs."""
        files = [each.file for each in self.log.files]
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
            is_last = len(found) == len(self.parts)
            self.asked.history.check_known(files, self.asked.source(accounts), found, is_last=is_last)
            yield from self._rows_of(self.parts[number]).whole(result.taken(accounts))
        count = buckets_of(len(self.parts))
        joins = (
            _JoinJob(self.asked, self.log, left, Bucket(number, count), workers.new_path()) for number in range(count)
        )
        for joined in workers.results(joins):
            yield from self._rows_of(self.log).whole(joined.taken(accounts))
        for each in left:
            each.remove()

    def _rows_of(self, part: Part) -> _RowsOfFiles:
        return _RowsOfFiles(self.asked.schema, (each.file for each in part.files))

    def _job(self, part: Part, rows: Path, past: Past | None) -> _LogPartJob:
        return _LogPartJob(self.asked, self.log, part, rows, past, buckets_of(len(self.parts)))


class _LeftFiles(NamedTuple):
    """What a part of a log leaves: two files beside that of its rows, with a batch of each piece for each bucket."""

    rows: Path

    def write(self, left: Iterator[LeftByPart], buckets: int) -> None:
        with WrittenRows(self._left_rows) as rows, WrittenRows(self._changes) as changes:
            for piece in left:
                for bucket in range(buckets):
                    of_bucket = piece.of_bucket(bucket)
                    rows.write(of_bucket.rows)
                    changes.write(of_bucket.changes)

    def read(self, bucket: Bucket) -> Iterator[LeftByPart]:
        pieces = (read_batches(path, bucket.number, bucket.count) for path in (self._left_rows, self._changes))
        return (LeftByPart(*each) for each in zip(*pieces, strict=True))

    def remove(self) -> None:
        for path in (self._left_rows, self._changes):
            path.unlink(missing_ok=True)

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
    log: Part
    part: Part
    rows: Path
    past: Past | None
    buckets: int

    @property
    def path(self) -> str:
        return self.part.files[0].file.path

    def run(self) -> _Result:
        asked, accounts = self.asked, Accounts()
        files = [each.file for each in self.log.files]
        schema = _RowsOfFiles(asked.schema, (each.file for each in self.part.files)).written
        part = asked.history.part(self.part.files, files, schema, asked.source(accounts), self.past)
        try:
            write_rows(self.rows, schema, part.rows())
            _LeftFiles(self.rows).write(part.left(self.buckets), self.buckets)
        except LogReadError:
            if self.past is None:  # in mode FAILFAST, its past decides which errors count
                return _Result(self.rows, accounts)
            raise
        return _Result(self.rows, accounts, part.found)


@dataclass(frozen=True)
class _JoinJob:
    """Joins what the parts of a log leave for the keys of a bucket."""

    asked: Asked
    log: Part
    left: Sequence[_LeftFiles]
    bucket: Bucket
    rows: Path

    @property
    def path(self) -> str:
        return self.log.files[0].file.path

    def run(self) -> _Result:
        asked, accounts = self.asked, Accounts()
        left = (each.read(self.bucket) for each in self.left)
        files = [each.file for each in self.log.files]
        source, schema = asked.source(accounts), _RowsOfFiles(asked.schema, files).written
        write_rows(self.rows, schema, asked.history.joined(left, files, schema, source, self.bucket))
        return _Result(self.rows, accounts)
