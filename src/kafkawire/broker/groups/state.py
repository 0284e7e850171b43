"""The offsets that groups have committed, or will with a transaction, as recorded in ``__consumer_offsets``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, TypeAlias, TypeVar

from kafkawire.broker.groups.consumer.group_state import ConsumerKey
from kafkawire.broker.groups.share.group_state import ShareKey
from kafkawire.broker.groups.streams.group_state import StreamsKey
from kafkawire.broker.internal_topics.entries import Change, RecordedState, Written
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.protocol import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupMemberMetadataKey,
    ShareGroupMetadataKey,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMetadataKey,
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMetadataKey,
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTopologyKey,
)
from kafkawire.wire import Message

CONSUMER_KEYS: Final = (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupMetadataKey,
)
"""The keys of consumer groups, in the order in which Kafka deletes them."""

SHARE_KEYS: Final = (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupMemberMetadataKey,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupMetadataKey,
)
"""The keys of share groups, in the order in which Kafka deletes them."""

STREAMS_KEYS: Final = (
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMetadataKey,
    StreamsGroupTopologyKey,
)
"""The keys of streams groups, in the order in which Kafka deletes them."""

_ORDER: Final = (*CONSUMER_KEYS, *SHARE_KEYS, *STREAMS_KEYS)

AssignedKey: TypeAlias = ConsumerKey | ShareKey | StreamsKey
"""The keys of groups to whose members the coordinator assigns partitions or tasks."""

T = TypeVar("T", str, int)

Partition: TypeAlias = tuple[str, int]
"""Topic and partition id."""


class GroupKind(Enum):
    """The kinds of groups, with Kafka's names."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class Pending(NamedTuple):
    """An offset that is committed with a transaction.

    Attributes:
        value: the commit; None if a later commit has taken its place.
        producer: of the transaction.
    """

    value: OffsetCommitValue | None
    producer: Producer


@dataclass(slots=True)
class Group:
    """A group as the records have it.

    Attributes:
        group_id: its id.
        metadata: of a classic group, as of its last generation; None if it never had a member.
        records: of a consumer group, a share group or a streams group, by key; empty for a classic group.
        commits: topic and partition to the last commit.
        pending: topic and partition to the commits of open transactions, by producer id, the oldest first.
    """

    group_id: str
    metadata: GroupMetadataValue | None = None
    records: dict[AssignedKey, Message] = field(default_factory=dict)
    commits: dict[Partition, OffsetCommitValue] = field(default_factory=dict)
    pending: dict[Partition, dict[int, Pending]] = field(default_factory=dict)

    @property
    def kind(self) -> GroupKind:
        """Of which kind it is: all its records are those of one."""
        for key in self.records:
            if isinstance(key, SHARE_KEYS):
                return GroupKind.SHARE
            return GroupKind.STREAMS if isinstance(key, STREAMS_KEYS) else GroupKind.CONSUMER
        return GroupKind.CLASSIC

    def consumer_records(self) -> Iterator[tuple[ConsumerKey, Message]]:
        """The records of a consumer group."""
        yield from ((key, value) for key, value in self.records.items() if isinstance(key, CONSUMER_KEYS))

    def share_records(self) -> Iterator[tuple[ShareKey, Message]]:
        """The records of a share group."""
        yield from ((key, value) for key, value in self.records.items() if isinstance(key, SHARE_KEYS))

    def streams_records(self) -> Iterator[tuple[StreamsKey, Message]]:
        """The records of a streams group."""
        yield from ((key, value) for key, value in self.records.items() if isinstance(key, STREAMS_KEYS))

    def removal(self) -> Iterator[Change]:
        """The changes that delete it."""
        for topic, partition in dict.fromkeys((*self.commits, *self.pending)):
            yield OffsetCommitKey(self.group_id, topic, partition), None
        yield from self.removal_of_members()

    def removal_of_members(self) -> Iterator[Change]:
        """The changes that leave its commits only."""
        for key in sorted(self.records, key=lambda each: _ORDER.index(type(each))):
            yield key, None
        if not self.records:
            yield GroupMetadataKey(self.group_id), None

    def entries(self) -> Iterator[Written]:
        """The changes that recreate it."""
        if self.metadata is not None:
            yield Written(GroupMetadataKey(self.group_id), self.metadata)
        yield from (Written(key, value) for key, value in self.records.items())
        for (topic, partition), value in self.commits.items():
            yield Written(OffsetCommitKey(self.group_id, topic, partition), value)
        for (topic, partition), by_producer in self.pending.items():
            for each in by_producer.values():
                if each.value is not None:
                    yield Written(OffsetCommitKey(self.group_id, topic, partition), each.value, each.producer)

    @property
    def size(self) -> int:
        """The number of ``entries``, at least."""
        pending = sum(map(len, self.pending.values()))
        return len(self.commits) + pending + len(self.records) + (self.metadata is not None)


class GroupsState(RecordedState):
    """All groups.

    Attributes:
        by_id: group id to group; a group without commits stays until it is deleted itself.
        share_groups: the ids of share groups.
    """

    def __init__(self) -> None:
        self.by_id: dict[str, Group] = {}
        self.share_groups: dict[str, None] = {}
        self._commits_of_topics: dict[str, Counter[str]] = {}
        self._pending_of_producers: dict[int, Counter[str]] = {}

    def apply(self, key: Message, value: Message | None, producer: Producer | None = None) -> None:
        """Apply a record; a commit of a transaction waits for its end."""
        match key, value:
            case OffsetCommitKey(), OffsetCommitValue() if producer is not None:
                self._apply_pending(key, value, producer)
            case OffsetCommitKey(), OffsetCommitValue() | None:
                self._apply_commit(key, value)
            case GroupMetadataKey(), GroupMetadataValue() | None:
                self._apply_group(key, value)
            case _ if isinstance(key, _ORDER):
                self._apply_record(key, value)

    def clear(self) -> None:
        """Forget all groups."""
        self.by_id.clear()
        self.share_groups.clear()
        self._commits_of_topics.clear()
        self._pending_of_producers.clear()

    def groups_in(self, producer_id: int) -> Collection[str]:
        """The groups with offsets in the open transaction of a producer."""
        return self._pending_of_producers.get(producer_id, ())

    def end(self, producer_id: int, owners: Iterable[str], *, committed: bool) -> None:
        """End the transaction of a producer for some groups: commit its offsets, or drop them."""
        groups = self._pending_of_producers.get(producer_id, Counter())
        for group_id in [each for each in owners if each in groups]:
            del groups[group_id]
            self._end(self.by_id[group_id], producer_id, committed=committed)
        if not groups:
            self._pending_of_producers.pop(producer_id, None)

    def topics(self) -> Collection[str]:
        """The topics with committed offsets."""
        return self._commits_of_topics.keys()

    def commits_of(self, topic: str) -> Iterator[OffsetCommitKey]:
        """The keys of the commits of a topic."""
        for group_id in self._commits_of_topics.get(topic, ()):
            group = self.by_id[group_id]
            partitions = dict.fromkeys((*group.commits, *group.pending))
            yield from (OffsetCommitKey(group_id, name, partition) for name, partition in partitions if name == topic)

    def owners(self) -> Collection[str]:
        """See ``RecordedState``: the ids of the groups."""
        return self.by_id.keys()

    def entries_of(self, owner: str) -> Sequence[Written]:
        """See ``RecordedState``."""
        group = self.by_id.get(owner)
        return () if group is None else [*group.entries()]

    @property
    def size(self) -> int:
        """The number of ``entries``, at least."""
        return sum(group.size for group in self.by_id.values())

    def _apply_commit(self, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        partition = (key.topic, key.partition)
        if value is not None:
            self._commit(self.by_id.setdefault(key.group, Group(key.group)), partition, value)
            return
        group = self.by_id.get(key.group)
        if group is not None:
            if group.commits.pop(partition, None) is not None:
                _uncount(self._commits_of_topics, key.topic, key.group)
            self._drop_pending(group, partition)

    def _commit(self, group: Group, partition: Partition, value: OffsetCommitValue) -> None:
        if partition not in group.commits:
            _count(self._commits_of_topics, partition[0], group.group_id)
        group.commits[partition] = value
        by_producer = group.pending.get(partition)
        if by_producer is not None:
            group.pending[partition] = {key: Pending(None, each.producer) for key, each in by_producer.items()}

    def _apply_pending(self, key: OffsetCommitKey, value: OffsetCommitValue, producer: Producer) -> None:
        group, partition = self.by_id.setdefault(key.group, Group(key.group)), (key.topic, key.partition)
        by_producer = group.pending.setdefault(partition, {})
        if by_producer.pop(producer.producer_id, None) is None:
            _count(self._commits_of_topics, key.topic, key.group)
            _count(self._pending_of_producers, producer.producer_id, key.group)
        by_producer[producer.producer_id] = Pending(value, producer)

    def _end(self, group: Group, producer_id: int, *, committed: bool) -> None:
        for partition in [key for key, by_producer in group.pending.items() if producer_id in by_producer]:
            by_producer = group.pending[partition]
            earlier = [*by_producer][: [*by_producer].index(producer_id)]
            value = by_producer.pop(producer_id).value
            if not by_producer:
                del group.pending[partition]
            _uncount(self._commits_of_topics, partition[0], group.group_id)
            if committed and value is not None:
                later = {key: each for key, each in by_producer.items() if key not in earlier}
                self._commit(group, partition, value)
                if partition in group.pending:
                    group.pending[partition] |= later

    def _drop_pending(self, group: Group, partition: Partition) -> None:
        for producer_id in group.pending.pop(partition, {}):
            _uncount(self._commits_of_topics, partition[0], group.group_id)
            _uncount(self._pending_of_producers, producer_id, group.group_id)

    def _apply_group(self, key: GroupMetadataKey, value: GroupMetadataValue | None) -> None:
        if value is not None:
            self.by_id.setdefault(key.group, Group(key.group)).metadata = value
            return
        group = self.by_id.get(key.group)
        if group is not None:
            group.metadata = None
            self._forget_if_empty(group)

    def _apply_record(self, key: AssignedKey, value: Message | None) -> None:
        if value is not None:
            self.by_id.setdefault(key.group_id, Group(key.group_id)).records[key] = value
            if isinstance(key, SHARE_KEYS):
                self.share_groups[key.group_id] = None
            return
        group = self.by_id.get(key.group_id)
        if group is not None and group.records.pop(key, None) is not None:
            if not group.records:
                self.share_groups.pop(key.group_id, None)
            self._forget_if_empty(group)

    def _forget_if_empty(self, group: Group) -> None:
        if not group.commits and not group.pending and not group.records and group.metadata is None:
            del self.by_id[group.group_id]


def _count(groups_of: dict[T, Counter[str]], key: T, group_id: str) -> None:
    groups_of.setdefault(key, Counter())[group_id] += 1


def _uncount(groups_of: dict[T, Counter[str]], key: T, group_id: str) -> None:
    groups = groups_of[key]
    groups[group_id] -= 1
    if not groups[group_id]:
        del groups[group_id]
    if not groups:
        del groups_of[key]
