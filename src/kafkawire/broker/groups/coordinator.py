"""The one place through which groups change."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Final, Self

from kafkawire.broker.clock import Clock
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.offsets_log import FileOffsetsLog, MemoryOffsetsLog, OffsetsLog
from kafkawire.broker.groups.state import Change, GroupsState
from kafkawire.broker.storage.errors import StorageError
from kafkawire.protocol import RemoveTopicRecord
from kafkawire.wire import Message

__all__ = ["GroupCoordinator"]

_log = logging.getLogger(__name__)
_FOLDER: Final = "__consumer_offsets-0"
_FEW: Final = 100_000
_MUCH_OLDER: Final = 4


class GroupCoordinator:
    """Turns changes into log and state.

    What was committed is in the state at once and durable later, so whoever tells of it waits for ``durable`` first.
    When most of the log has been overtaken, it is written anew.

    Args:
        log: where changes go.
        state: what the log amounts to so far.
        clock: for timestamps.

    Attributes:
        state: the groups; only changes change them.
    """

    def __init__(self, log: OffsetsLog, state: GroupsState, clock: Clock) -> None:
        self.state = state
        self._log = log
        self._clock = clock
        self._rewriting: asyncio.Task[None] | None = None
        self._forgetting: set[asyncio.Task[None]] = set()

    @classmethod
    def opened(
        cls, data_dir: Path | None, clock: Clock, on_failure: Callable[[StorageError], None] | None = None
    ) -> Self:
        """The coordinator with what a data directory holds; without one it starts empty every time.

        Args:
            data_dir: the directory.
            clock: for timestamps.
            on_failure: told the first error of a write.

        Raises:
            StorageError: the log is damaged.
            OSError: a file cannot be read or made.
        """
        state = GroupsState()
        if data_dir is None:
            return cls(MemoryOffsetsLog(), state, clock)
        log = FileOffsetsLog(data_dir / _FOLDER, on_failure)
        for key, value in log.changes():
            state.apply(key, value)
        return cls(log, state, clock)

    def commit(self, changes: Sequence[Change]) -> None:
        """Make changes, all of them or nothing.

        Raises:
            EncodeError: one cannot be written.
            StorageError: the log takes nothing more.
        """
        if not changes:
            return
        self._log.append(changes, self._clock.now_ms())
        for key, value in changes:
            self.state.apply(key, value)
        if self._rewriting is None and self._log.size > max(_FEW, _MUCH_OLDER * self.state.size):
            self._rewriting = asyncio.get_running_loop().create_task(self._rewrite())

    async def durable(self) -> None:
        """Wait until everything in the state would survive a crash.

        Raises:
            StorageError: it could not be written.
        """
        await self._log.durable(self._log.end_offset)

    def follow(self, controller: Controller) -> None:
        """Let go of what was committed of topics that are no more, now and whenever one is deleted."""
        topics = controller.image.topics.by_name

        def committed(records: Iterable[Message]) -> None:
            if any(isinstance(record, RemoveTopicRecord) for record in records):
                self._let_go(self._topics_besides(topics), controller)

        controller.subscribe_to_commits(committed)
        self._forget(self._topics_besides(topics))

    def _topics_besides(self, topics: Collection[str]) -> list[str]:
        return [topic for topic in self.state.topics() if topic not in topics]

    def _let_go(self, topics: Collection[str], controller: Controller) -> None:
        """Not before the deletion would survive a crash: else the topics could be back without their commits."""
        end_offset = controller.end_offset
        if controller.is_durable(end_offset):
            self._forget(topics)
            return

        async def forget_later() -> None:
            # Whatever cannot be written is told to the broker, which halts.
            with contextlib.suppress(StorageError):
                await controller.durable(end_offset)
                self._forget(topics)

        task = asyncio.get_running_loop().create_task(forget_later())
        self._forgetting.add(task)
        task.add_done_callback(self._forgetting.discard)

    def _forget(self, topics: Iterable[str]) -> None:
        self.commit([(key, None) for topic in topics for key in self.state.commits_of(topic)])

    async def close(self) -> None:
        """Write what is left and let go of the files."""
        if self._rewriting is not None:
            await self._rewriting
        await asyncio.gather(*self._forgetting)
        await self._log.close()

    async def _rewrite(self) -> None:
        try:
            await self._log.rewrite(self.state, self._clock.now_ms())
        except (StorageError, OSError) as error:
            _log.warning("The log of commits could not be written anew, and grows from now on: %s", error)
        else:
            self._rewriting = None
