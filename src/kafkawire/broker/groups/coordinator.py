"""The group coordinator: the only place that changes groups."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Self

from kafkawire.broker.clock import Clock
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.offsets_logs import FileOffsetsLogs, OffsetsLogs
from kafkawire.broker.groups.offsets_topic import OffsetsTopic, partition_of
from kafkawire.broker.groups.state import Change, GroupsState
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.topic_names import OFFSETS_TOPIC
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import RemoveTopicRecord
from kafkawire.wire import Message

_log = logging.getLogger(__name__)
_FEWEST_TO_REWRITE: Final = 100_000
_SUPERSEDED_FACTOR: Final = 4
_PARTITIONS_OF_UNREGISTERED: Final = 1


class GroupCoordinator:
    """Appends changes to the logs and applies them to the state.

    A committed change is in the state at once and durable later, so callers await ``durable`` before they report it.
    When most records of the logs are superseded, the logs are rewritten.

    Args:
        topic: the topic of the logs.
        logs: store the changes.
        state: the state after the changes that the logs have so far.
        clock: for timestamps.

    Attributes:
        state: the groups; only changes change them.
        on_cleared: called when all groups are forgotten, since the topic of the logs was deleted.
    """

    def __init__(
        self, topic: OffsetsTopic, logs: OffsetsLogs, state: GroupsState, clock: Clock, *, in_place: bool = True
    ) -> None:
        self.state = state
        self._topic = topic
        self._logs = logs
        self._clock = clock
        self._in_place = in_place
        self._places: tuple[Uuid, int] | None = None
        self._rewriting: asyncio.Task[None] | None = None
        self._forgetting: set[asyncio.Task[None]] = set()
        self.on_cleared: Callable[[], None] = lambda: None

    @classmethod
    def opened(
        cls,
        data_dir: Path | None,
        topic: OffsetsTopic,
        clock: Clock,
        on_failure: Callable[[StorageError], None] | None = None,
        *,
        in_memory: GroupsState | None = None,
    ) -> Self:
        """The coordinator with the groups in a data directory, or in memory.

        Args:
            data_dir: the directory.
            topic: the topic of the logs.
            clock: for timestamps.
            on_failure: called with the first error of a write.
            in_memory: the first groups without a data directory; None for no groups.

        Raises:
            StorageError: a log is damaged.
            OSError: a file cannot be read or made.
        """
        if data_dir is None:
            return cls(topic, OffsetsLogs(), in_memory or GroupsState(), clock)
        logs = FileOffsetsLogs(data_dir, topic.current, on_failure)
        state, in_place = logs.read()
        return cls(topic, logs, state, clock, in_place=in_place)

    def follow(self, controller: Controller) -> None:
        """Forget the commits of each topic that is deleted, and all commits when the topic of the logs is deleted."""

        def committed(records: Iterable[Message]) -> None:
            before, self._places = self._places, self._current_places()
            removed = {record.topic_id for record in records if isinstance(record, RemoveTopicRecord)}
            if before is not None and before[0] in removed:
                self.state.clear()
                self.on_cleared()
                self._logs.drop(partial(self._until_dropping_is_safe, controller, controller.end_offset))
            elif before is not None and before != self._places and self.state.by_id:
                self._rewrite_soon()
            if removed:
                self._forget_when_durable(self._topics_besides(controller.image.topics.by_name), controller)

        controller.subscribe_to_commits(committed)

    async def arrive(self, controller: Controller) -> None:
        """Prepare for changes, once the node leads.

        If there are commits but no ``__consumer_offsets`` topic, the topic is made. Commits of deleted topics are
        forgotten, and commits that are not in the partition of their group are moved there.

        Raises:
            StorageError, OSError: a log could not be written.
        """
        if self._logs.unregistered:
            self._topic.made(_PARTITIONS_OF_UNREGISTERED)
            _log.warning(
                "%s-0 has commits of %d groups, but the metadata log had no such topic, as an earlier version of "
                "kafkawire left it; the topic is made now, so that Apache Kafka finds the commits too",
                OFFSETS_TOPIC, len(self.state.by_id),
            )  # fmt: skip
        topic = self._topic.current
        if topic is not None:
            await self._topic.durable()
            await self._logs.lead(topic)
        self._places = self._current_places()
        await self._forget_prepared(self._topics_besides(controller.image.topics.by_name))
        if not self._in_place:
            _log.warning(
                "%s: some groups' commits are not in the partitions where Apache Kafka looks for them; they are moved",
                OFFSETS_TOPIC,
            )
            self._rewrite_soon()

    def expect(self) -> None:
        """Make the topic if there is none, as Kafka does when a client looks for the coordinator of a group.

        Raises:
            StorageError: the metadata log has failed before.
        """
        self._topic.made()

    async def prepare(self, group_ids: Collection[str]) -> None:
        """Prepare the logs for commits of groups. Call ``commit`` before the next ``await``.

        Raises:
            StorageError: a log is damaged, or failed before.
            OSError: a file cannot be read or made.
        """
        while group_ids:
            topic = self._topic.made()
            partitions = _partitions(topic, group_ids)
            if self._logs.is_open(topic, partitions):
                return
            await self._topic.durable()
            await self._logs.open(topic, partitions)

    def commit(self, changes: Sequence[Change]) -> None:
        """Commit changes, for each group all or none; its log must be prepared (``prepare``).

        Raises:
            EncodeError: a change cannot be encoded.
            StorageError: a log has failed before.
        """
        if not changes:
            return
        count, now = len(self._topic.made().partitions), self._clock.now_ms()
        by_partition: dict[int, list[Change]] = defaultdict(list)
        for change in changes:
            by_partition[partition_of(change[0].group, count)].append(change)
        for partition, portion in by_partition.items():
            self._logs.append(partition, portion, now)
        for key, value in changes:
            self.state.apply(key, value)
        if self._logs.size > max(_FEWEST_TO_REWRITE, _SUPERSEDED_FACTOR * self.state.size):
            self._rewrite_soon()

    async def durable(self) -> None:
        """Wait until every change in the state would survive a crash.

        Raises:
            StorageError: one could not be written.
        """
        await self._logs.durable()

    async def close(self) -> None:
        """Write what is not durable yet, and close the files."""
        if self._rewriting is not None:
            await self._rewriting
        await asyncio.gather(*self._forgetting)
        await self._logs.close()

    def _current_places(self) -> tuple[Uuid, int] | None:
        """Id and partition count of the topic, which determine the partition of each group."""
        topic = self._topic.current
        return None if topic is None else (topic.topic_id, len(topic.partitions))

    def _topics_besides(self, topics: Collection[str]) -> list[str]:
        return [topic for topic in self.state.topics() if topic not in topics]

    def _forget_when_durable(self, topics: Collection[str], controller: Controller) -> None:
        """Forget commits once the deletion is durable, since after a crash before that the topics exist again."""
        end_offset = controller.end_offset
        if controller.log.is_durable(end_offset):
            self._forget(topics)
            return

        async def forget_later() -> None:
            # A failed write is reported to the broker, which halts.
            with contextlib.suppress(StorageError):
                await controller.log.durable(end_offset)
                await self._forget_prepared(topics)

        task = asyncio.get_running_loop().create_task(forget_later())
        self._forgetting.add(task)
        task.add_done_callback(self._forgetting.discard)

    async def _forget_prepared(self, topics: Collection[str]) -> None:
        groups = {key.group for topic in topics for key in self.state.commits_of(topic)}
        if groups:
            await self.prepare(groups)
            self._forget(topics)

    def _forget(self, topics: Iterable[str]) -> None:
        self.commit([(key, None) for topic in topics for key in self.state.commits_of(topic)])

    async def _until_dropping_is_safe(self, controller: Controller, deleted_below: int) -> None:
        await controller.log.durable(deleted_below)
        if self._rewriting is not None:
            await self._rewriting

    def _rewrite_soon(self) -> None:
        if self._rewriting is None:
            self._rewriting = asyncio.get_running_loop().create_task(self._rewrite())

    async def _rewrite(self) -> None:
        try:
            places = None
            while (topic := self._topic.current) is not None and places != self._current_places():
                places = self._current_places()
                await self._logs.rewrite(topic, self.state, self._clock.now_ms())
        except (StorageError, OSError) as error:
            _log.warning("The logs of commits could not be rewritten, and grow from now on: %s", error)
        else:
            self._rewriting = None


def _partitions(topic: Topic, group_ids: Iterable[str]) -> set[int]:
    return {partition_of(group_id, len(topic.partitions)) for group_id in group_ids}
