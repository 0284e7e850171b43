"""The share coordinator: reads and records the states of share partitions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

from kafkawire.broker.clock import Clock
from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.internal_topics.coordinator import RecordedCoordinator
from kafkawire.broker.internal_topics.entries import TopicFormat
from kafkawire.broker.internal_topics.topic import InternalTopic
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.share_coordinator.state import (
    NO_EPOCH,
    UNINITIALIZED,
    SharePartitionKey,
    SharesState,
    ShareState,
    ShareSummary,
    StateUpdate,
    snapshot,
    update_value,
)
from kafkawire.broker.share_coordinator.state_batches import combined
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once
from kafkawire.broker.topic_names import SHARES_TOPIC
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ShareSnapshotKey, ShareUpdateKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message

FENCED: Final = {
    ErrorCode.FENCED_LEADER_EPOCH: "The leader epoch in the request is older than the epoch on the broker.",
    ErrorCode.FENCED_STATE_EPOCH: "The share coordinator rejected the request because the share-group state epoch "
    "did not match.",
}
"""Kafka's messages for the errors of ``ShareCoordinator.fenced``."""

UNWRITTEN: Final = "Write operation on uninitialized share partition not allowed."
"""Kafka's message for an update of a share partition that has no state."""

_PARTS: Final[Callable[[Message], tuple[str, Uuid, int]]] = attrgetter("group_id", "topic_id", "partition")
_UPDATES_PER_SNAPSHOT: Final = "share.coordinator.snapshot.update.records.per.snapshot"


class ShareCoordinator(RecordedCoordinator[SharesState]):
    """The states of share partitions, recorded in ``__share_group_state``.

    Call ``prepare`` with the ``owner`` of each share partition before ``initialize``, ``delete`` and ``write``, and
    await ``durable`` before a change is reported.

    Attributes:
        updates_per_snapshot: how many updates of a share partition are written before the next snapshot.
    """

    updates_per_snapshot: int

    @classmethod
    def opened(
        cls,
        data_dir: Path | None,
        topic: InternalTopic,
        configuration: Values,
        clock: Clock,
        on_failure: Callable[[StorageError], None] | None = None,
        *,
        store: RecordStore,
        before_write: BeforeWrite = at_once,
        in_memory: SharesState | None = None,
    ) -> Self:
        """The states in a data directory, or in memory.

        Args:
            data_dir: the directory.
            topic: the topic of the logs.
            configuration: the broker's, with ``share.coordinator.*``.
            clock: for timestamps.
            on_failure: called with the first error of a write.
            store: gets the logs, for clients that read them.
            before_write: awaited before each write, with the name of what is written.
            in_memory: the first states without a data directory; None for none.

        Raises:
            StorageError: a log is damaged.
            OSError: a file cannot be read or made.
        """
        states = cls.read(
            data_dir,
            topic,
            SHARE_RECORDS,
            in_memory or SharesState(),
            store=store,
            clock=clock,
            on_failure=on_failure,
            before_write=before_write,
        )
        states.updates_per_snapshot = configuration.integer(_UPDATES_PER_SNAPSHOT)
        return states

    def initialize(self, group: str, topic_id: Uuid, partition: int, state_epoch: int, start_offset: int) -> None:
        """Begin the state of a share partition, again if there is one: nothing is acknowledged.

        Args:
            group, topic_id, partition: the share partition.
            state_epoch: higher than before, so that a share partition with the earlier state can write no more.
            start_offset: where the group begins; -1 for what ``share.auto.offset.reset`` says.

        Raises:
            StorageError: the log has failed before.
        """
        key = SharePartitionKey(group, topic_id, partition)
        before, now = self.state.by_key.get(key), self._clock.now_ms()
        complete = UNINITIALIZED if start_offset == UNINITIALIZED else 0
        epoch = 0 if before is None else before.snapshot_epoch + 1
        summary = ShareSummary(state_epoch, 0, start_offset, complete)
        self._snapshot(key, ShareState(epoch, summary, (), now, now))

    def delete(self, group: str, topic_id: Uuid, partition: int) -> None:
        """Forget the state of a share partition, if there is one.

        Raises:
            StorageError: the log has failed before.
        """
        if SharePartitionKey(group, topic_id, partition) in self.state.by_key:
            self.commit([(ShareSnapshotKey(group, topic_id, partition), None)])

    def summary(self, group: str, topic_id: Uuid, partition: int) -> ShareSummary | None:
        """How far a group is in a partition; None if there is no state."""
        state = self.state.by_key.get(SharePartitionKey(group, topic_id, partition))
        return None if state is None else state.summary

    def read_to_deliver(self, key: SharePartitionKey, leader_epoch: int) -> ShareState | ErrorCode:
        """The state, for a leader of a partition that begins to deliver its records; or why it may not have it.

        Args:
            key: the share partition.
            leader_epoch: of the partition, which is recorded; -1 not to compare or record it.

        Raises:
            StorageError: the log has failed before.
        """
        state = self.state.by_key.get(key)
        if state is None:
            return ErrorCode.INVALID_REQUEST
        fenced = self.fenced(key, leader_epoch)
        if fenced:
            return fenced
        if leader_epoch not in {NO_EPOCH, self.state.highest_epochs(key)[0]}:
            summary = state.summary
            update = StateUpdate(
                summary.state_epoch, leader_epoch, summary.start_offset, summary.delivery_complete_count
            )
            self._write(key, state, update, leader_epoch)
        return state

    def write(self, key: SharePartitionKey, update: StateUpdate) -> ErrorCode:
        """Record what has changed in a share partition; nothing if there is an error.

        Raises:
            StorageError: the log has failed before.
        """
        state = self.state.by_key.get(key)
        if state is None:
            return ErrorCode.INVALID_REQUEST
        fenced = self.fenced(key, update.leader_epoch, update.state_epoch)
        if not fenced:
            self._write(key, state, update, state.summary.leader_epoch)
        return fenced

    def fenced(self, key: SharePartitionKey, leader_epoch: int = NO_EPOCH, state_epoch: int = NO_EPOCH) -> ErrorCode:
        """The error for epochs that are lower than earlier ones of a share partition; -1 is no epoch."""
        highest_leader, highest_state = self.state.highest_epochs(key)
        if NO_EPOCH < leader_epoch < highest_leader:
            return ErrorCode.FENCED_LEADER_EPOCH
        return ErrorCode.FENCED_STATE_EPOCH if NO_EPOCH < state_epoch < highest_state else ErrorCode.NONE

    def of_topics(self, topic_ids: Collection[Uuid]) -> Sequence[SharePartitionKey]:
        """The share partitions of topics."""
        return [key for key in self.state.by_key if key.topic_id in topic_ids]

    def _write(self, key: SharePartitionKey, state: ShareState, update: StateUpdate, leader_epoch: int) -> None:
        """Append an update, or a snapshot after many of them."""
        if state.updates < self.updates_per_snapshot:
            self.commit([(ShareUpdateKey(*key), update_value(state, update, leader_epoch))])
            return
        start = state.summary.start_offset if update.start_offset == UNINITIALIZED else update.start_offset
        summary = ShareSummary(state.summary.state_epoch, leader_epoch, start, update.delivery_complete_count)
        batches, now = combined(state.batches, update.batches, start), self._clock.now_ms()
        self._snapshot(key, ShareState(state.snapshot_epoch + 1, summary, batches, now, now))

    def _snapshot(self, key: SharePartitionKey, state: ShareState) -> None:
        self.commit([(ShareSnapshotKey(*key), snapshot(state))])


def _owner(key: Message) -> str:
    return SharePartitionKey(*_PARTS(key)).owner


_OWNERS: Final[Mapping[type[Message], Callable[[Message], str]]] = MappingProxyType(
    {ShareSnapshotKey: _owner, ShareUpdateKey: _owner}
)

SHARE_RECORDS: Final = TopicFormat(SHARES_TOPIC, _OWNERS, lambda value: None if value is None else 0)
"""How the states are in the records of ``__share_group_state``."""
