"""Processes that read parts of tables at the same time, and leave the rows in temporary files."""

from __future__ import annotations

import errno
import multiprocessing
import multiprocessing.forkserver
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import count, islice
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Final, Protocol, Self, TypeVar

import pyarrow as pa

from kafkawire.logs.errors import LogReadError, system_reason

_JOBS_AHEAD: Final = 2
"""Jobs that may be begun in addition to one for each process, so that none waits while rows are used, or small parts
end before the large part that comes first."""

_KILLED: Final = (
    "the process that read it was killed: memory may be short, and fewer processes need less; "
    'or this is a script without `if __name__ == "__main__":`'
)

_CLOSED: Final = frozenset({errno.EBADF, errno.ECONNRESET, errno.EPIPE})
"""Errors of starting a process: if another one ends meanwhile, the pool closes what the new one would get."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Job(Protocol[T_co]):
    """What a process does. It is pickled."""

    @property
    def path(self) -> str:
        """The file that it begins with."""

    def run(self) -> T_co:
        """Do it.

        Raises:
            LogReadError, BeforeKnowledgeError: as ``Table.read``.
        """


class Workers:
    """Processes, and a temporary folder for what they leave. At the end of the context both are gone.

    What the processes import is imported from now on, in the background.

    Args:
        processes: how many jobs run at the same time.
    """

    def __init__(self, processes: int) -> None:
        self._ahead = processes + _JOBS_AHEAD
        self._executor = ProcessPoolExecutor(processes, _context(), initializer=_leave_interrupts)
        self._folder = tempfile.TemporaryDirectory(prefix="kafkawire-")
        self._numbers = count()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._executor.shutdown(cancel_futures=True)
        finally:
            self._folder.cleanup()

    def new_path(self) -> Path:
        """The path of a temporary file, which does not exist yet."""
        return Path(self._folder.name) / f"{next(self._numbers)}.arrow"

    def results(self, jobs: Iterable[Job[T]]) -> Iterator[T]:
        """What the jobs return, in their order. Few are begun before the result of the first is used.

        Raises:
            LogReadError: in place of the result of the job that raised it; code ``unreadable`` also if a process is
                killed.
            BeforeKnowledgeError: as the former.
        """
        waiting = iter(jobs)
        path = ""
        try:
            begun = deque(self._begun(islice(waiting, self._ahead)))
            while begun:
                path, future = begun.popleft()
                yield future.result()
                begun.extend(self._begun(islice(waiting, 1)))
        except BrokenProcessPool:  # by a result, or where a job is begun
            raise LogReadError("unreadable", path, _KILLED) from None

    def _begun(self, jobs: Iterable[Job[T]]) -> Iterator[tuple[str, Future[T]]]:
        for job in jobs:
            try:
                yield job.path, self._executor.submit(job.run)
            except OSError as error:
                if error.errno not in _CLOSED:
                    raise
                raise BrokenProcessPool(str(error)) from None


def _context() -> BaseContext:
    """Processes that share no threads with this one, and the imports with each other where the system allows."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["kafkawire.logs.worker_imports"])
    try:
        multiprocessing.forkserver.ensure_running()
    except OSError:  # its socket is in the temporary folder, and systems allow a socket about 100 bytes of path
        return multiprocessing.get_context("spawn")
    return context


def _leave_interrupts() -> None:
    """Ctrl-C reaches all processes of a terminal. The first one ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def write_rows(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write batches to a temporary file.

    Raises:
        LogReadError: code ``unreadable``: the temporary folder is full.
    """
    rows = iter(batches)
    try:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as written:
            for batch in rows:
                written.write_batch(batch)
    except OSError as error:
        raise _full(path, error) from None


class WrittenRows:
    """A temporary file that is written. There is none without a batch; an older one is removed.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: pa.NativeFile | None = None
        self._written: pa.RecordBatchFileWriter | None = None

    def __enter__(self) -> Self:
        self._path.unlink(missing_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._written, self._file):
            if each is not None:
                each.close()

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch; all have one schema.

        Raises:
            LogReadError: as ``write_rows``.
        """
        try:
            if self._written is None:
                self._file = pa.OSFile(str(self._path), "wb")
                self._written = pa.ipc.new_file(self._file, batch.schema)
            self._written.write_batch(batch)
        except OSError as error:
            raise _full(self._path, error) from None


def _full(path: Path, error: OSError) -> LogReadError:
    reason = f"rows cannot be kept there until they are used: {system_reason(error)}"
    return LogReadError("unreadable", str(path), reason)


def read_rows(path: Path) -> Iterator[pa.RecordBatch]:
    """The batches of a temporary file, which is removed after the last."""
    with _opened(path) as file, pa.ipc.open_file(file) as written:
        for number in range(written.num_record_batches):
            yield written.get_batch(number)
    path.unlink()


def read_batches(path: Path, first: int, step: int) -> Iterator[pa.RecordBatch]:
    """Batches of a temporary file, from the first on in steps; the file may not exist."""
    if path.exists():
        with _opened(path) as file, pa.ipc.open_file(file) as written:
            for number in range(first, written.num_record_batches, step):
                yield written.get_batch(number)


def _opened(path: Path) -> pa.NativeFile:
    """A temporary file, mapped where a mapped file can be removed: its rows are not copied then."""
    return pa.OSFile(str(path), "rb") if sys.platform == "win32" else pa.memory_map(str(path))
