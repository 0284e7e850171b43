"""Parts of a table that several processes read at the same time. The rows come in the order of the parts.

Each process writes the rows of a part to a temporary file, from which they are returned: a part needs no memory here.
"""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.catalogue import table_named
from kafkawire.logs.errors import LogReadError, system_reason
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.tables.table import Part, Table

_PARTS_AHEAD: Final = 1
"""Parts that may wait in addition to those that are read, so that no process waits while rows are used."""


class _Job(NamedTuple):
    """What a process reads.

    Attributes:
        table: name of the table.
        part: the part of it.
        options: how to read.
        store: where the files are.
        rows: the temporary file to write.
    """

    table: str
    part: Part
    options: ReadOptions
    store: FileStore
    rows: Path


def read_in_processes(
    table: Table, parts: Sequence[Part], options: ReadOptions, accounts: Accounts, *, store: FileStore, processes: int
) -> Iterator[pa.RecordBatch]:
    """The rows of parts, in the order of the parts.

    Args:
        table: what to read, of these options.
        parts: some or all of the table.
        options: how to read.
        accounts: gets the counts of a part before its first row is returned.
        store: where the files are; it is pickled.
        processes: how many parts are read at the same time.

    Raises:
        LogReadError: as ``Table.read``, in place of the rows of the part; code ``unreadable`` also if a process is
            killed, or the temporary folder is full.
        BeforeKnowledgeError: as ``Table.read``.
    """
    with tempfile.TemporaryDirectory(prefix="kafkawire-") as folder:
        jobs = (
            _Job(table.name, part, options, store, Path(folder) / f"{number}.arrow")
            for number, part in enumerate(parts)
        )
        executor = ProcessPoolExecutor(min(processes, len(parts)), _context(), initializer=_leave_interrupts)
        path = parts[0].files[0].file.path
        try:
            for job, future in _in_order(executor, jobs, processes + _PARTS_AHEAD):
                path = job.part.files[0].file.path
                accounts.merge(future.result())
                yield from _rows(job.rows)
                job.rows.unlink()
        except BrokenProcessPool:  # by a result, or where a part is begun
            reason = "the process that read it was killed: memory may be short, and fewer processes need less"
            raise LogReadError("unreadable", path, reason) from None
        finally:
            executor.shutdown(cancel_futures=True)


def _context() -> BaseContext:
    """Processes that share no threads with this one, and the imports with each other where the system allows."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _leave_interrupts() -> None:
    """Ctrl-C reaches all processes of a terminal. The first one ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _in_order(
    executor: ProcessPoolExecutor, jobs: Iterator[_Job], ahead: int
) -> Iterator[tuple[_Job, Future[Accounts]]]:
    """All jobs, the first ones first; no more than ``ahead`` are begun and not returned."""
    begun = deque((job, executor.submit(_read, job)) for job in islice(jobs, ahead))
    while begun:
        yield begun.popleft()
        begun.extend((job, executor.submit(_read, job)) for job in islice(jobs, 1))


def _read(job: _Job) -> Accounts:
    """Write the rows of a part, in one of the processes."""
    table, accounts = table_named(job.table, job.options), Accounts()
    rows = table.read(job.part, job.options, accounts, job.store)
    try:
        with pa.OSFile(str(job.rows), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            for batch in rows:
                stream.write_batch(batch)
    except OSError as error:
        reason = f"rows cannot be kept there until they are used: {system_reason(error)}"
        raise LogReadError("unreadable", str(job.rows), reason) from None
    return accounts


def _rows(path: Path) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(str(path), "rb") as file, pa.ipc.open_stream(file) as stream:
        yield from stream
