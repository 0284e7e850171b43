"""The state of a coordinator, with the logs that it is recorded in."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Generic, Self, TypeVar

from kafkawire.broker.clock import Clock
from kafkawire.broker.controller import Controller
from kafkawire.broker.internal_topics.entries import Change, RecordedState, TopicFormat
from kafkawire.broker.internal_topics.file_logs import FileInternalLogs
from kafkawire.broker.internal_topics.logs import InternalLogs
from kafkawire.broker.internal_topics.topic import InternalTopic, partition_of
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import RemoveTopicRecord
from kafkawire.wire import Message

_log = logging.getLogger(__name__)
_FEWEST_TO_REWRITE: Final = 20_000
_SUPERSEDED_FACTOR: Final = 4
_PARTITIONS_OF_UNREGISTERED: Final = 1

S = TypeVar("S", bound=RecordedState)


class RecordedCoordinator(Generic[S]):
    """Appends changes to the logs of an internal topic and applies them to a state.

    A committed change is in the state at once and durable later, so callers await ``durable`` before they report it.
    When most records of the logs are superseded, the logs are rewritten.

    Args:
        topic: the topic of the logs.
        logs: store the changes.
        records: how the state is in the records.
        state: the state after the changes that the logs have so far.
        clock: for timestamps.
        in_place: whether each owner is in the partition where Kafka looks for it.

    Attributes:
        state: only changes change it.
        on_cleared: functions that are called when everything is forgotten, since the topic of the logs was deleted.
    """

    def __init__(
        self,
        topic: InternalTopic,
        logs: InternalLogs,
        records: TopicFormat,
        state: S,
        clock: Clock,
        *,
        in_place: bool = True,
    ) -> None:
        self.state = state
        self.on_cleared: list[Callable[[], None]] = []
        self._topic = topic
        self._logs = logs
        self._format = records
        self._clock = clock
        self._in_place = in_place
        self._places: tuple[Uuid, int] | None = None
        self._rewriting: asyncio.Task[None] | None = None
        self._needed_size = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    def read(
        cls,
        data_dir: Path | None,
        topic: InternalTopic,
        records: TopicFormat,
        state: S,
        *,
        store: RecordStore,
        clock: Clock,
        on_failure: Callable[[StorageError], None] | None = None,
        before_write: BeforeWrite = at_once,
    ) -> Self:
        """The coordinator with the state in a data directory, or in memory.

        Args:
            data_dir: the directory.
            topic: the topic of the logs.
            records: how the state is in the records.
            state: the first state; an empty one if there is a data directory.
            store: gets the logs, for clients that read them.
            clock: for timestamps.
            on_failure: called with the first error of a write.
            before_write: awaited before each write, with the name of what is written.

        Raises:
            StorageError: a log is damaged.
            OSError: a file cannot be read or made.
        """
        if data_dir is None:
            return cls(topic, InternalLogs(records, store), records, state, clock)
        logs = FileInternalLogs(
            data_dir, records, store, topic.current, on_failure=on_failure, before_write=before_write
        )
        in_place = logs.read(state)
        return cls(topic, logs, records, state, clock, in_place=in_place)

    def follow(self, controller: Controller) -> None:
        """Forget everything when the topic of the logs is deleted, and follow its partition count."""

        def committed(records: Iterable[Message]) -> None:
            before, self._places = self._places, self._current_places()
            removed = {record.topic_id for record in records if isinstance(record, RemoveTopicRecord)}
            if before is not None and before[0] in removed:
                self.state.clear()
                for forget in self.on_cleared:
                    forget()
                self._logs.drop(partial(self._until_dropping_is_safe, controller, controller.end_offset))
            elif before is not None and before != self._places and self.state.size:
                self._rewrite_soon()

        controller.subscribe_to_commits(committed)

    async def arrive(self, controller: Controller) -> None:
        """Prepare for changes, once the node leads.

        If there are records but no topic, the topic is made. Records that are not in the partition of their owner are
        moved there.

        Raises:
            StorageError, OSError: a log could not be written.
        """
        if self._logs.unregistered:
            self._topic.made(_PARTITIONS_OF_UNREGISTERED)
            _log.warning(
                "%s-0 has %d records, but the metadata log had no such topic, as an earlier version of kafkawire left "
                "it; the topic is made now, so that Apache Kafka finds the records too",
                self._topic.name, self.state.size,
            )  # fmt: skip
        topic = self._topic.current
        if topic is not None:
            await self._topic.durable()
            await self._logs.lead(topic)
        self._places = self._current_places()
        if not self._in_place:
            _log.warning(
                "%s: some records are not in the partitions where Apache Kafka looks for them; they are moved",
                self._topic.name,
            )
            self._rewrite_soon()

    def expect(self) -> None:
        """Make the topic if there is none, as Kafka does when a client looks for the coordinator.

        Raises:
            StorageError: the metadata log has failed before.
        """
        self._topic.made()

    def partition_of(self, owner: str) -> int:
        """The partition of the topic that an owner belongs to; the topic is made if there is none.

        Raises:
            StorageError: the metadata log has failed before.
        """
        return partition_of(owner, len(self._topic.made().partitions))

    async def prepare(self, owners: Collection[str]) -> None:
        """Prepare the logs for changes of owners. Call ``commit`` before the next ``await``.

        Raises:
            StorageError: a log is damaged, or failed before.
            OSError: a file cannot be read or made.
        """
        while owners:
            topic = self._topic.made()
            partitions = {partition_of(owner, len(topic.partitions)) for owner in owners}
            if self._logs.is_open(topic, partitions):
                return
            await self._topic.durable()
            await self._logs.open(topic, partitions)

    def commit(self, changes: Sequence[Change], producer: Producer | None = None) -> None:
        """Commit changes, for each owner all or none; its log must be prepared (``prepare``).

        Args:
            changes: the changes.
            producer: whose transaction they are in; None outside of one.

        Raises:
            EncodeError: a change cannot be encoded.
            StorageError: a log has failed before.
        """
        if not changes:
            return
        count, now = len(self._topic.made().partitions), self._clock.now_ms()
        by_partition: dict[int, list[Change]] = defaultdict(list)
        for change in changes:
            by_partition[partition_of(self._format.owner(change[0]), count)].append(change)
        for number, portion in by_partition.items():
            self._logs.append(number, portion, now, producer)
        for key, value in changes:
            self.state.apply(key, value, producer)
        self._rewrite_if_superseded()

    async def durable(self) -> None:
        """Wait until every change in the state would survive a crash.

        Raises:
            StorageError: one could not be written.
        """
        await self._logs.durable()

    async def close(self) -> None:
        """Write what is not durable yet, and close the files."""
        await asyncio.gather(*self._tasks)
        if self._rewriting is not None:
            await self._rewriting
        await self._logs.close()

    def _later(self, work: Coroutine[None, None, None]) -> None:
        """Do something that must end before the logs are closed."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _current_places(self) -> tuple[Uuid, int] | None:
        """Id and partition count of the topic, which determine the partition of each owner."""
        topic = self._topic.current
        return None if topic is None else (topic.topic_id, len(topic.partitions))

    async def _until_dropping_is_safe(self, controller: Controller, deleted_below: int) -> None:
        await controller.log.durable(deleted_below)
        if self._rewriting is not None:
            await self._rewriting

    def _rewrite_if_superseded(self) -> None:
        """Rewrite the logs when most of their records are superseded.

        The state counts its records one owner after the other, so they are counted again only when the logs have grown
        to the size that was too large. If the state becomes smaller meanwhile, they are rewritten later.
        """
        size = self._logs.size
        if self._rewriting is not None or size <= max(_FEWEST_TO_REWRITE, self._needed_size):
            return
        self._needed_size = _SUPERSEDED_FACTOR * self.state.size
        if size > self._needed_size:
            self._rewrite_soon()

    def _rewrite_soon(self) -> None:
        if self._rewriting is None:
            self._rewriting = asyncio.get_running_loop().create_task(self._rewrite())

    async def _rewrite(self) -> None:
        try:
            places = None
            while self._topic.current is not None and places != self._current_places():
                places = self._current_places()
                await self._logs.rewrite(self._topic.made(), self.state, self._clock.now_ms)
        except (StorageError, OSError) as error:
            _log.warning("The logs of %s could not be rewritten, and grow from now on: %s", self._topic.name, error)
        else:
            self._rewriting, self._needed_size = None, 0
