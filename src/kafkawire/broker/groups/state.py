"""The offsets that groups have committed, as recorded in ``__consumer_offsets``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from kafkawire.broker.groups.consumer.group_state import ConsumerKey
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
)
from kafkawire.wire import Message

Key: TypeAlias = OffsetCommitKey | GroupMetadataKey | ConsumerKey
"""The keys of the records that the broker uses; those about transactions and other groups have others."""

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

Change: TypeAlias = tuple[Key, Message | None]
"""Key and value of a record; None as value deletes the key."""

Partition: TypeAlias = tuple[str, int]
"""Topic and partition id."""


def group_of(key: Key) -> str:
    """The group that a key belongs to."""
    return key.group if isinstance(key, OffsetCommitKey | GroupMetadataKey) else key.group_id


@dataclass(slots=True)
class Group:
    """A group as the records have it.

    Attributes:
        group_id: its id.
        metadata: of a classic group, as of its last generation; None if it never had a member.
        records: of a consumer group, by key; empty for a classic group.
        commits: topic and partition to the last commit.
    """

    group_id: str
    metadata: GroupMetadataValue | None = None
    records: dict[ConsumerKey, Message] = field(default_factory=dict)
    commits: dict[Partition, OffsetCommitValue] = field(default_factory=dict)

    @property
    def is_consumer_group(self) -> bool:
        """Whether it is a group of KIP-848."""
        return bool(self.records)

    def removal(self) -> Iterator[Change]:
        """The changes that delete it."""
        for topic, partition in self.commits:
            yield OffsetCommitKey(self.group_id, topic, partition), None
        yield from self.removal_of_members()

    def removal_of_members(self) -> Iterator[Change]:
        """The changes that leave its commits only."""
        for key in sorted(self.records, key=lambda each: CONSUMER_KEYS.index(type(each))):
            yield key, None
        if not self.records:
            yield GroupMetadataKey(self.group_id), None

    def changes(self) -> Iterator[Change]:
        """The changes that recreate it."""
        if self.metadata is not None:
            yield GroupMetadataKey(self.group_id), self.metadata
        yield from self.records.items()
        for (topic, partition), value in self.commits.items():
            yield OffsetCommitKey(self.group_id, topic, partition), value


class GroupsState:
    """All groups.

    Attributes:
        by_id: group id to group; a group without commits stays until it is deleted itself.
    """

    def __init__(self) -> None:
        self.by_id: dict[str, Group] = {}
        self._commits_of_topics: dict[str, Counter[str]] = {}

    def apply(self, key: Key, value: Message | None) -> None:
        """Apply a record."""
        match key, value:
            case OffsetCommitKey(), OffsetCommitValue() | None:
                self._apply_commit(key, value)
            case GroupMetadataKey(), GroupMetadataValue() | None:
                self._apply_group(key, value)
            case ((OffsetCommitKey() | GroupMetadataKey()), _):
                return
            case _:
                self._apply_record(key, value)

    def clear(self) -> None:
        """Forget all groups."""
        self.by_id.clear()
        self._commits_of_topics.clear()

    def topics(self) -> Collection[str]:
        """The topics with committed offsets."""
        return self._commits_of_topics.keys()

    def commits_of(self, topic: str) -> Iterator[OffsetCommitKey]:
        """The keys of the commits of a topic."""
        for group_id in self._commits_of_topics.get(topic, ()):
            commits = self.by_id[group_id].commits
            yield from (OffsetCommitKey(group_id, name, partition) for name, partition in commits if name == topic)

    def changes(self) -> Iterator[Change]:
        """The changes that recreate all groups."""
        for group in self.by_id.values():
            yield from group.changes()

    @property
    def size(self) -> int:
        """The number of ``changes``."""
        groups = self.by_id.values()
        return sum(len(group.commits) + len(group.records) + (group.metadata is not None) for group in groups)

    def _apply_commit(self, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        partition = (key.topic, key.partition)
        if value is not None:
            commits = self.by_id.setdefault(key.group, Group(key.group)).commits
            if partition not in commits:
                self._commits_of_topics.setdefault(key.topic, Counter())[key.group] += 1
            commits[partition] = value
            return
        group = self.by_id.get(key.group)
        if group is not None and group.commits.pop(partition, None) is not None:
            self._uncount(key.topic, key.group)

    def _apply_group(self, key: GroupMetadataKey, value: GroupMetadataValue | None) -> None:
        if value is not None:
            self.by_id.setdefault(key.group, Group(key.group)).metadata = value
            return
        group = self.by_id.get(key.group)
        if group is not None:
            group.metadata = None
            self._forget_if_empty(group)

    def _apply_record(self, key: ConsumerKey, value: Message | None) -> None:
        if value is not None:
            self.by_id.setdefault(key.group_id, Group(key.group_id)).records[key] = value
            return
        group = self.by_id.get(key.group_id)
        if group is not None and group.records.pop(key, None) is not None:
            self._forget_if_empty(group)

    def _forget_if_empty(self, group: Group) -> None:
        if not group.commits and not group.records and group.metadata is None:
            del self.by_id[group.group_id]

    def _uncount(self, topic: str, group_id: str) -> None:
        groups = self._commits_of_topics[topic]
        groups[group_id] -= 1
        if not groups[group_id]:
            del groups[group_id]
        if not groups:
            del self._commits_of_topics[topic]
