"""The state of a consumer group as a fold of its records, which are Apache Kafka's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeAlias

from kafkawire.broker.groups.assigned_state import AssignedState, count_names
from kafkawire.broker.groups.assignors.assignment import normalized
from kafkawire.broker.groups.commits import CommitRules, CommittedTopic
from kafkawire.broker.groups.consumer.member import LEFT, Member
from kafkawire.broker.groups.consumer.states import GroupState
from kafkawire.broker.groups.subscriptions import names_in_order
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from kafkawire.wire import Message
from kafkawire.wire.message import Struct

ConsumerKey: TypeAlias = (
    ConsumerGroupMetadataKey
    | ConsumerGroupPartitionMetadataKey
    | ConsumerGroupMemberMetadataKey
    | ConsumerGroupTargetAssignmentMetadataKey
    | ConsumerGroupTargetAssignmentMemberKey
    | ConsumerGroupCurrentMemberAssignmentKey
    | ConsumerGroupRegularExpressionKey
)
"""The keys of the records of consumer groups."""

ConsumerChange: TypeAlias = tuple[ConsumerKey, Message | None]
"""Key and value of a record; None as value deletes the key."""


class ResolvedRegex(Struct, frozen=True):
    """The topics that a regular expression matches.

    Attributes:
        topics: their names, in the order of Kafka's set.
        version: of the metadata.
        timestamp: when they were looked up, in milliseconds since the epoch.
    """

    topics: tuple[str, ...]
    version: int
    timestamp: int


class ConsumerGroupState(AssignedState[Member]):
    """A group of KIP-848 as of its last record.

    Args:
        group_id: its id.
        records: the records that it has.

    Attributes:
        regexes: the resolved regular expressions.
        static_ids: instance id to member id.
        has_partition_metadata: whether a release before 4.1 left a record that is not needed any more.
    """

    def __init__(self, group_id: str, records: Iterable[ConsumerChange] = ()) -> None:
        super().__init__(group_id)
        self.regexes: dict[str, ResolvedRegex] = {}
        self.static_ids: dict[str, str] = {}
        self.has_partition_metadata = False
        self._owners: dict[tuple[Uuid, int], str] = {}
        self._regexes: Counter[str] = Counter()
        for key, value in records:
            self.apply(key, value)

    def commit_rules(self, ids: Callable[[str], Uuid | None]) -> CommitRules[Member]:
        """Which commits it accepts.

        Args:
            ids: name to id of the topics that exist.
        """

        def owned_since(member: Member, topic: CommittedTopic) -> Mapping[int, int]:
            topic_id = topic.topic_id if any(topic.topic_id) else ids(topic.name)
            return {} if topic_id is None else member.owned_since(topic_id)

        return CommitRules(self.members, owned_since)

    def apply(self, key: ConsumerKey, value: Message | None) -> None:
        """Apply a record."""
        match key, value:
            case ConsumerGroupMetadataKey(), ConsumerGroupMetadataValue():
                self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
            case ConsumerGroupPartitionMetadataKey(), _:
                self.has_partition_metadata = value is not None
            case ConsumerGroupTargetAssignmentMetadataKey(), ConsumerGroupTargetAssignmentMetadataValue():
                self.assignment_epoch, self.assigned_at_ms = value.assignment_epoch, value.assignment_timestamp
            case ConsumerGroupTargetAssignmentMemberKey(), ConsumerGroupTargetAssignmentMemberValue():
                self.targets[key.member_id] = normalized(
                    (each.topic_id, each.partitions) for each in value.topic_partitions
                )
            case ConsumerGroupTargetAssignmentMemberKey(), None:
                self.targets.pop(key.member_id, None)
            case ConsumerGroupMemberMetadataKey(), ConsumerGroupMemberMetadataValue():
                self._put(self._member(key.member_id).with_metadata(value))
            case ConsumerGroupMemberMetadataKey(), None:
                self._remove(key.member_id)
            case ConsumerGroupCurrentMemberAssignmentKey(), ConsumerGroupCurrentMemberAssignmentValue():
                self._put(self._member(key.member_id).with_current(value))
            case ConsumerGroupCurrentMemberAssignmentKey(), None:
                self._release(key.member_id)
            case ConsumerGroupRegularExpressionKey(), ConsumerGroupRegularExpressionValue():
                topics = names_in_order(value.topics)
                self.regexes[key.regular_expression] = ResolvedRegex(topics, value.version, value.timestamp)
            case ConsumerGroupRegularExpressionKey(), None:
                self.regexes.pop(key.regular_expression, None)

    @property
    def state(self) -> GroupState:
        """The state of the group."""
        if not self.members:
            return GroupState.EMPTY
        if self.epoch > self.assignment_epoch:
            return GroupState.ASSIGNING
        are_there = all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values())
        return GroupState.STABLE if are_there else GroupState.RECONCILING

    def owner(self, topic: Uuid, partition: int) -> str | None:
        """The member that owns a partition, or is to give it up; None for none."""
        return self._owners.get((topic, partition))

    def static_member(self, instance_id: str) -> Member | None:
        """The static member with an instance id."""
        return self.members.get(self.static_ids.get(instance_id, ""))

    def names_of(self, member: Member) -> tuple[str, ...]:
        """The topics to which a member subscribes, by name and by regular expression."""
        resolved = self.regexes.get(member.regex or "")
        matched = () if resolved is None else resolved.topics
        first, second = (member.topics, matched) if len(member.topics) > len(matched) else (matched, member.topics)
        known = frozenset(first)
        return (*first, *(name for name in second if name not in known))

    @property
    def subscribed(self) -> Collection[str]:
        """The topics to which members subscribe."""
        return self._names.keys() | {name for regex in self.regexes.values() for name in regex.topics}

    @property
    def subscribed_regexes(self) -> Counter[str]:
        """The regular expressions to which members subscribe, and how many do."""
        return self._regexes

    @property
    def supported_by_classic(self) -> frozenset[str] | None:
        """The classic protocols that all classic members support; None if no member is classic."""
        supported: frozenset[str] | None = None
        for member in self.members.values():
            if member.classic is not None:
                names = frozenset(each.name for each in member.classic.supported_protocols)
                supported = names if supported is None else supported & names
        return supported

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members subscribe to the same topics, as far as Kafka finds out without comparing them."""
        if not self._regexes:
            return super().is_homogeneous
        by_regex = Counter(name for regex in self.regexes.values() for name in regex.topics)
        is_one = next(iter(self._regexes.values())) == len(self.members)
        return is_one and not self._names and all(matches == 1 for matches in by_regex.values())

    def _member(self, member_id: str) -> Member:
        return self.members.get(member_id) or Member(member_id)

    def _put(self, member: Member) -> None:
        self._count(self.members.get(member.member_id), -1)
        self._disown(member.member_id)
        self.members[member.member_id] = member
        self._count(member, 1)
        for owned in (member.assigned, member.revoking):
            for topic, partitions in owned.items():
                self._owners.update(((topic, partition), member.member_id) for partition in partitions)
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id

    def _release(self, member_id: str) -> None:
        member = self.members.get(member_id)
        if member is not None:
            value = ConsumerGroupCurrentMemberAssignmentValue(LEFT, LEFT, member.state)
            self._put(member.with_current(value))

    def _remove(self, member_id: str) -> None:
        self._disown(member_id)
        member = self.members.pop(member_id, None)
        self._count(member, -1)
        if member is not None and self.static_ids.get(member.instance_id or "") == member_id:
            del self.static_ids[member.instance_id or ""]

    def _disown(self, member_id: str) -> None:
        member = self.members.get(member_id)
        for owned in () if member is None else (member.assigned, member.revoking):
            for topic, partitions in owned.items():
                for partition in partitions:
                    if self._owners.get((topic, partition)) == member_id:
                        del self._owners[topic, partition]

    def _count(self, member: Member | None, by: int) -> None:
        super()._count(member, by)
        if member is not None and member.regex:
            count_names(self._regexes, (member.regex,), by)
