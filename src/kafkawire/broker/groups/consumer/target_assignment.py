"""The target assignment of a consumer group: what an assignor gets, and the records of what it returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from kafkawire.broker.groups.consumer.assignors.assignment import (
    NOTHING,
    Assignment,
    Assignor,
    GroupSpec,
    MemberSpec,
)
from kafkawire.broker.groups.consumer.group_state import ConsumerChange, ConsumerGroupState
from kafkawire.broker.groups.consumer.member import Member
from kafkawire.broker.groups.consumer.topics import KnownTopics
from kafkawire.broker.groups.java_order import hash_order, timeline_order
from kafkawire.broker.internal_topics.topic import java_hash
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)


def preferred_assignor(members: Collection[Member], assignors: Sequence[str]) -> str:
    """The assignor that most members prefer; the first of the broker if they prefer none that it has."""
    votes = Counter(member.assignor for member in members if member.assignor in assignors)
    named = [name for name in votes if name is not None]
    return max(hash_order(named, java_hash), key=votes.__getitem__, default=assignors[0])


def changes(
    state: ConsumerGroupState, topics: KnownTopics, assignor: Assignor, now_ms: int, newcomer: str | None
) -> Iterator[ConsumerChange]:
    """The changes to a target assignment for the epoch of a group.

    Args:
        state: the group.
        topics: of the cluster.
        assignor: computes it.
        now_ms: the time, in milliseconds since the epoch.
        newcomer: a member that has joined just now, which Kafka counts last; None if none has.
    """
    spec = _spec(state, topics, newcomer)
    targets = assignor(spec)
    for member_id in spec.members:
        target = targets.get(member_id, NOTHING)
        known = state.targets.get(member_id)
        if known is None or not _is_same(known, target):
            yield ConsumerGroupTargetAssignmentMemberKey(state.group_id, member_id), recorded(target)
    value = ConsumerGroupTargetAssignmentMetadataValue(state.epoch, now_ms)
    yield ConsumerGroupTargetAssignmentMetadataKey(state.group_id), value


def recorded(target: Assignment) -> ConsumerGroupTargetAssignmentMemberValue:
    """The record of the target assignment of a member."""
    return ConsumerGroupTargetAssignmentMemberValue(
        tuple(
            ConsumerGroupTargetAssignmentMemberValue.TopicPartition(topic, partitions)
            for topic, partitions in target.items()
        )
    )


def _spec(state: ConsumerGroupState, topics: KnownTopics, newcomer: str | None) -> GroupSpec:
    known = timeline_order((each for each in state.members if each != newcomer), java_hash)
    member_ids = known if newcomer is None else [*known, newcomer]
    ids = {name: topic for name in state.subscribed if (topic := topics.id_of(name)) is not None}
    members = {}
    for member_id in hash_order(member_ids, java_hash):
        member = state.members[member_id]
        names = state.names_of(member)
        subscribed = tuple(ids[name] for name in names if name in ids)
        members[member_id] = MemberSpec(member.instance_id, subscribed, len(names), state.target(member_id))
    assigned: dict[Uuid, set[int]] = {}
    for target in state.targets.values():
        for topic, partitions in target.items():
            assigned.setdefault(topic, set()).update(partitions)
    return GroupSpec(
        members,
        {topic: topics.partitions_of(topic) for topic in ids.values()},
        state.is_homogeneous,
        {topic: frozenset(partitions) for topic, partitions in assigned.items()},
    )


def _is_same(one: Assignment, other: Assignment) -> bool:
    return {topic: frozenset(each) for topic, each in one.items()} == {
        topic: frozenset(each) for topic, each in other.items()
    }
