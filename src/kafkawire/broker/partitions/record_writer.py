"""Writes the records of all partitions: those that come during a write share the next one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Final, Protocol, TypeVar

from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once

_log = logging.getLogger(__name__)
T = TypeVar("T")
_RECORDS: Final = "records"


class Writable(Protocol):
    """Something with bytes to write."""

    def taken(self) -> Callable[[], None]:
        """Take what is to be written; the function writes it, in the thread, and makes it durable."""

    def written(self) -> None:
        """What was taken is durable."""

    def failed(self, error: StorageError) -> None:
        """Nothing can be written any more."""


class RecordWriter:
    """One thread that writes for all partitions, group by group.

    Args:
        on_failure: called with the first error.
        before_write: awaited before each write, with the name of what is written.

    Attributes:
        failure: the first error; None if there was none.
    """

    def __init__(self, on_failure: Callable[[StorageError], None], before_write: BeforeWrite = at_once) -> None:
        self.failure: StorageError | None = None
        self._on_failure = on_failure
        self._before_write = before_write
        self._unwritten: dict[Writable, None] = {}
        self._deletions: list[Callable[[], Awaitable[None]]] = []
        self._task: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kafkawire-records")

    def write(self, log: Writable) -> None:
        """Write what a log has, soon.

        Raises:
            StorageError: the writer has failed before.
        """
        self.check()
        self._unwritten[log] = None
        self._begin()

    def delete(self, deletion: Callable[[], Awaitable[None]]) -> None:
        """Run a deletion before anything is written that comes later."""
        self._deletions.append(deletion)
        self._begin()

    def check(self) -> None:
        """Raise the error that ended the writer.

        Raises:
            StorageError: it has failed before.
        """
        if self.failure is not None:
            raise StorageError(str(self.failure))

    async def in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        """Call a function in the thread, not at the same time as any write.

        Raises:
            StorageError: it raised OSError, or the writer has failed before.
        """
        self.check()
        with self.failing():
            return await asyncio.get_running_loop().run_in_executor(self._thread, partial(function, *arguments))

    @contextmanager
    def failing(self) -> Iterator[None]:
        """End the writer with the first error inside.

        Raises:
            StorageError: there was OSError or StorageError inside.
        """
        try:
            yield
        except (OSError, StorageError) as error:
            self._fail(error)
            raise StorageError(str(self.failure)) from error

    async def drained(self) -> None:
        """Wait until nothing is left to write, or the writer has failed."""
        while self._task is not None:
            await asyncio.wait((self._task,))

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()

    def _begin(self) -> None:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._write_all())

    async def _write_all(self) -> None:
        try:
            while (self._unwritten or self._deletions) and self.failure is None:
                deletions, self._deletions = self._deletions, []
                for deletion in deletions:
                    await deletion()
                await self._write_group()
        except Exception as error:  # noqa: BLE001 - after any error, records must not be reported as durable
            self._fail(error)
        finally:
            self._task = None

    async def _write_group(self) -> None:
        if self._unwritten:
            await self._before_write(_RECORDS)
        group, self._unwritten = self._unwritten, {}
        taken = [log.taken() for log in group]
        try:
            await self.in_thread(_call_all, taken)
        except StorageError as error:
            for log in (*group, *self._unwritten):
                log.failed(error)
            return
        for log in group:
            log.written()

    def _fail(self, error: Exception) -> None:
        if self.failure is not None:
            return
        where = error.filename if isinstance(error, OSError) and error.filename else "records"
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.failure = StorageError(
            f"{where}: writing failed: {reason}; the broker has stopped. Free space or repair the disk, then start the "
            "broker again"
        )
        _log.error("%s", self.failure, exc_info=None if isinstance(error, OSError) else error)
        self._on_failure(self.failure)


def _call_all(functions: list[Callable[[], None]]) -> None:
    for function in functions:
        function()
