"""What share groups have acknowledged, as recorded in ``__share_group_state``: the share coordinator's state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple, Self

from msgspec.structs import replace

from kafkawire.broker.clock import Clock
from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.internal_topics.coordinator import RecordedCoordinator
from kafkawire.broker.internal_topics.entries import TopicFormat, Written
from kafkawire.broker.internal_topics.topic import InternalTopic
from kafkawire.broker.share_coordinator.state_batches import StateBatch, combined
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.topic_names import SHARES_TOPIC
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message
from kafkawire.wire.message import Struct

UNINITIALIZED: Final = -1
"""In place of a start offset or a delivery complete count where there is none yet."""

NO_EPOCH: Final = -1
"""An epoch in a request that is not compared."""

FENCED: Final = {
    ErrorCode.FENCED_LEADER_EPOCH: "The leader epoch in the request is older than the epoch on the broker.",
    ErrorCode.FENCED_STATE_EPOCH: "The share coordinator rejected the request because the share-group state epoch "
    "did not match.",
}
"""Kafka's messages for the errors of ``ShareStates.fenced``."""

UNWRITTEN: Final = "Write operation on uninitialized share partition not allowed."
"""Kafka's message for an update of a share partition that has no state."""

_PARTS: Final[Callable[[Message], tuple[str, Uuid, int]]] = attrgetter("group_id", "topic_id", "partition")
_UPDATES_PER_SNAPSHOT: Final = "share.coordinator.snapshot.update.records.per.snapshot"


class SharePartitionKey(NamedTuple):
    """A partition as one share group reads it.

    Attributes:
        group_id: of the group.
        topic_id: of the topic.
        partition: its number.
    """

    group_id: str
    topic_id: Uuid
    partition: int

    @property
    def owner(self) -> str:
        """The key by which Kafka chooses the partition of ``__share_group_state``."""
        return f"{self.group_id}:{self.topic_id}:{self.partition}"


class ShareSummary(Struct, frozen=True, gc=False):
    """How far a share group is in a partition.

    Attributes:
        state_epoch: counts how often the state was initialized.
        leader_epoch: of the partition, when the state was last read to deliver records.
        start_offset: all records below it are done with; -1 if the group has not begun.
        delivery_complete_count: how many records from there on are done with; -1 if it is unknown.
    """

    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int


class ShareState(Struct, frozen=True):
    """The recorded state of a share partition.

    Attributes:
        snapshot_epoch: counts the snapshots.
        summary: how far the group is.
        batches: the delivery states from the start offset on, as far as they were written.
        created_ms, written_ms: when the last snapshot was made, milliseconds since the epoch.
        updates: how many updates were written after the last snapshot.
    """

    snapshot_epoch: int
    summary: ShareSummary
    batches: Sequence[StateBatch] = ()
    created_ms: int = 0
    written_ms: int = 0
    updates: int = 0


class StateUpdate(Struct, frozen=True):
    """What a share partition writes.

    Attributes:
        state_epoch: of the state that the share partition has read; -1 not to compare it.
        leader_epoch: of the partition; -1 not to compare it.
        start_offset: the first record that is not done with; -1 for no change.
        delivery_complete_count: how many records from there on are done with.
        batches: the delivery states that have changed.
    """

    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: Sequence[StateBatch] = ()


class RecordedShares:
    """All share partitions.

    Attributes:
        by_key: the recorded states.
    """

    def __init__(self) -> None:
        self.by_key: dict[SharePartitionKey, ShareState] = {}
        self._highest: dict[SharePartitionKey, tuple[int, int]] = {}

    def highest_epochs(self, key: SharePartitionKey) -> tuple[int, int]:
        """The highest leader epoch and state epoch of a share partition; -1 for none.

        A state that is initialized again has the leader epoch 0, but leaders of earlier epochs remain fenced.
        """
        return self._highest.get(key, (NO_EPOCH, NO_EPOCH))

    @property
    def size(self) -> int:
        """How many records it takes to make it again."""
        return len(self.by_key)

    def apply(self, key: Message, value: Message | None, producer: Producer | None = None) -> None:
        """Apply a record; none of them is in a transaction."""
        match key, value:
            case ShareSnapshotKey(), ShareSnapshotValue():
                self.by_key[_key(key)] = _of_snapshot(value)
                self._raise(_key(key), value.leader_epoch, value.state_epoch)
            case ShareSnapshotKey(), None:
                self.by_key.pop(_key(key), None)
                self._highest.pop(_key(key), None)
            case ShareUpdateKey(), ShareUpdateValue():
                self._update(_key(key), value)

    def end(self, producer_id: int, owners: Iterable[str], *, committed: bool) -> None:
        """Nothing: no record of this topic is in a transaction."""

    def clear(self) -> None:
        """Forget all share partitions."""
        self.by_key.clear()
        self._highest.clear()

    def entries(self) -> Iterator[Written]:
        """The records that make it again: a snapshot of each share partition."""
        for key, state in self.by_key.items():
            yield Written(ShareSnapshotKey(*key), snapshot(state))

    def _raise(self, key: SharePartitionKey, leader_epoch: int, state_epoch: int) -> None:
        highest_leader, highest_state = self.highest_epochs(key)
        self._highest[key] = (max(highest_leader, leader_epoch), max(highest_state, state_epoch))

    def _update(self, key: SharePartitionKey, value: ShareUpdateValue) -> None:
        before = self.by_key.get(key)
        if before is None:  # its snapshot was deleted from the log
            before = ShareState(value.snapshot_epoch, ShareSummary(0, value.leader_epoch, value.start_offset, 0))
        start = before.summary.start_offset if value.start_offset == UNINITIALIZED else value.start_offset
        epoch = before.summary.leader_epoch if value.leader_epoch == NO_EPOCH else value.leader_epoch
        self.by_key[key] = replace(
            before,
            summary=ShareSummary(before.summary.state_epoch, epoch, start, value.delivery_complete_count),
            batches=combined(before.batches, _batches(value.state_batches), start),
            updates=before.updates + 1,
        )
        self._raise(key, value.leader_epoch, NO_EPOCH)


class ShareStates(RecordedCoordinator[RecordedShares]):
    """The states of share partitions, recorded in ``__share_group_state``.

    Call ``prepare`` with the ``owner`` of each share partition before ``initialize``, ``delete`` and ``write``, and
    await ``durable`` before a change is reported.

    Attributes:
        updates_per_snapshot: how many updates of a share partition are written before the next snapshot.
    """

    updates_per_snapshot = 500

    @classmethod
    def opened(
        cls,
        data_dir: Path | None,
        topic: InternalTopic,
        configuration: Values,
        clock: Clock,
        on_failure: Callable[[StorageError], None] | None = None,
        *,
        before_write: BeforeWrite = at_once,
        in_memory: RecordedShares | None = None,
    ) -> Self:
        """The states in a data directory, or in memory.

        Args:
            data_dir: the directory.
            topic: the topic of the logs.
            configuration: the broker's, with ``share.coordinator.*``.
            clock: for timestamps.
            on_failure: called with the first error of a write.
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
            in_memory or RecordedShares(),
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


def update_value(state: ShareState, update: StateUpdate, leader_epoch: int) -> ShareUpdateValue:
    """The value of the record that changes a state.

    Args:
        state: before the change.
        update: the change.
        leader_epoch: of the partition, which is recorded.
    """
    batch = ShareUpdateValue.StateBatch
    return ShareUpdateValue(
        state.snapshot_epoch,
        leader_epoch,
        update.start_offset,
        update.delivery_complete_count,
        tuple(
            batch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
            for each in combined((), update.batches, update.start_offset)
        ),
    )


def snapshot(state: ShareState) -> ShareSnapshotValue:
    """The value of the record that has a whole state."""
    batch = ShareSnapshotValue.StateBatch
    return ShareSnapshotValue(
        snapshot_epoch=state.snapshot_epoch,
        state_epoch=state.summary.state_epoch,
        leader_epoch=state.summary.leader_epoch,
        start_offset=state.summary.start_offset,
        delivery_complete_count=state.summary.delivery_complete_count,
        create_timestamp=state.created_ms,
        write_timestamp=state.written_ms,
        state_batches=tuple(
            batch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
            for each in state.batches
        ),
    )


def _of_snapshot(value: ShareSnapshotValue) -> ShareState:
    return ShareState(
        value.snapshot_epoch,
        ShareSummary(value.state_epoch, value.leader_epoch, value.start_offset, value.delivery_complete_count),
        _batches(value.state_batches),
        value.create_timestamp,
        value.write_timestamp,
    )


def _batches(
    batches: Sequence[ShareSnapshotValue.StateBatch] | Sequence[ShareUpdateValue.StateBatch],
) -> Sequence[StateBatch]:
    return tuple(
        StateBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count) for each in batches
    )


def _key(key: ShareSnapshotKey | ShareUpdateKey) -> SharePartitionKey:
    return SharePartitionKey(key.group_id, key.topic_id, key.partition)


def _owner(key: Message) -> str:
    return SharePartitionKey(*_PARTS(key)).owner


_OWNERS: Final[Mapping[type[Message], Callable[[Message], str]]] = MappingProxyType(
    {ShareSnapshotKey: _owner, ShareUpdateKey: _owner}
)

SHARE_RECORDS: Final = TopicFormat(SHARES_TOPIC, _OWNERS, lambda value: None if value is None else 0)
"""How the states are in the records of ``__share_group_state``."""
