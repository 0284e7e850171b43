"""The group coordinator: the only place that changes groups."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Collection, Iterable
from functools import partial
from pathlib import Path
from typing import Self

from kafkawire.broker.clock import Clock
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.records import GROUP_RECORDS
from kafkawire.broker.groups.state import GroupsState
from kafkawire.broker.internal_topics.coordinator import RecordedCoordinator
from kafkawire.broker.internal_topics.topic import InternalTopic
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.protocol import RemoveTopicRecord
from kafkawire.wire import Message


class GroupCoordinator(RecordedCoordinator[GroupsState]):
    """The groups, recorded in ``__consumer_offsets``."""

    @classmethod
    def opened(
        cls,
        data_dir: Path | None,
        topic: InternalTopic,
        clock: Clock,
        on_failure: Callable[[StorageError], None] | None = None,
        before_write: BeforeWrite = at_once,
        *,
        store: RecordStore,
        in_memory: GroupsState | None = None,
    ) -> Self:
        """The coordinator with the groups in a data directory, or in memory.

        Args:
            data_dir: the directory.
            topic: the topic of the logs.
            clock: for timestamps.
            on_failure: called with the first error of a write.
            before_write: awaited before each write, with the name of what is written.
            store: gets the logs, for clients that read them.
            in_memory: the first groups without a data directory; None for no groups.

        Raises:
            StorageError: a log is damaged.
            OSError: a file cannot be read or made.
        """
        return cls.read(
            data_dir,
            topic,
            GROUP_RECORDS,
            in_memory or GroupsState(),
            store=store,
            clock=clock,
            on_failure=on_failure,
            before_write=before_write,
        )

    def follow(self, controller: Controller) -> None:
        """Forget the commits of each topic that is deleted, and all commits when the topic of the logs is deleted."""
        super().follow(controller)

        def committed(records: Iterable[Message]) -> None:
            if any(isinstance(record, RemoveTopicRecord) for record in records):
                self._forget_when_durable(self._topics_besides(controller.image.topics.by_name), controller)

        controller.subscribe_to_commits(committed)

    async def arrive(self, controller: Controller) -> None:
        """Prepare for changes, once the node leads, and forget the commits of deleted topics.

        If there are commits but no ``__consumer_offsets`` topic, the topic is made. Commits that are not in the
        partition of their group are moved there.

        Raises:
            StorageError, OSError: a log could not be written.
        """
        await super().arrive(controller)
        await self._forget_prepared(self._topics_besides(controller.image.topics.by_name))

    def end_transaction(self, partition: int, producer: Producer, *, committed: bool, coordinator_epoch: int) -> None:
        """End a transaction in a partition: its offsets are committed or dropped; durable later.

        Nothing is written if the log of the partition is not open, since no group has offsets in it then.

        Args:
            partition: of ``__consumer_offsets``.
            producer: of the transaction, with its epoch in the marker.
            committed: whether the transaction is committed.
            coordinator_epoch: of the coordinator of transactions.

        Raises:
            StorageError: the log has failed before.
        """
        topic = self._topic.current
        if topic is None or partition not in topic.partitions or not self._logs.is_open(topic, [partition]):
            return
        self._logs.append_marker(
            partition, producer, self._clock.now_ms(), committed=committed, coordinator_epoch=coordinator_epoch
        )
        groups = [
            group for group in self.state.groups_in(producer.producer_id) if self.partition_of(group) == partition
        ]
        self.state.end(producer.producer_id, groups, committed=committed)

    def _topics_besides(self, topics: Collection[str]) -> list[str]:
        return [topic for topic in self.state.topics() if topic not in topics]

    def when_durable(self, controller: Controller, work: Callable[[], Awaitable[None]]) -> None:
        """Do something once what the controller has committed is durable: after a crash before that, it is undone."""
        end_offset = controller.end_offset

        async def later() -> None:
            # A failed write is reported to the broker, which halts.
            with contextlib.suppress(StorageError):
                await controller.log.durable(end_offset)
                await work()

        self._later(later())

    def _forget_when_durable(self, topics: Collection[str], controller: Controller) -> None:
        """Forget commits once the deletion is durable, since after a crash before that the topics exist again."""
        if controller.log.is_durable(controller.end_offset):
            self._forget(topics)
        else:
            self.when_durable(controller, partial(self._forget_prepared, topics))

    async def _forget_prepared(self, topics: Collection[str]) -> None:
        groups = {key.group for topic in topics for key in self.state.commits_of(topic)}
        if groups:
            await self.prepare(groups)
            self._forget(topics)

    def _forget(self, topics: Iterable[str]) -> None:
        self.commit([(key, None) for topic in topics for key in self.state.commits_of(topic)])
