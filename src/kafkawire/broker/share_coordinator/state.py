"""What share groups have acknowledged, as recorded in ``__share_group_state``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple, Self

from msgspec.structs import replace

from kafkawire.broker.internal_topics.entries import RecordedState, Written
from kafkawire.broker.share_coordinator.state_batches import StateBatch, combined
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from kafkawire.wire import Message
from kafkawire.wire.message import Struct

UNINITIALIZED: Final = -1
"""In place of a start offset or a delivery complete count where there is none yet."""

NO_EPOCH: Final = -1
"""In place of an epoch that is unknown, or not to be compared."""


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

    @classmethod
    def of(cls, owner: str) -> Self:
        """The key with an owner."""
        group_id, topic_id, partition = owner.rsplit(":", 2)
        return cls(group_id, Uuid.from_text(topic_id), int(partition))


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


class SharesState(RecordedState):
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

    def owners(self) -> Collection[str]:
        """See ``RecordedState``."""
        return [key.owner for key in self.by_key]

    def entries_of(self, owner: str) -> Sequence[Written]:
        """See ``RecordedState``: a snapshot of the share partition."""
        key = SharePartitionKey.of(owner)
        state = self.by_key.get(key)
        return () if state is None else (Written(ShareSnapshotKey(*key), snapshot(state)),)

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
