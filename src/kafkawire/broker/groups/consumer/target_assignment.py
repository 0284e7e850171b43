"""The target assignment of a consumer group: which assignor computes it, and its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from kafkawire.broker.groups.assignors.assignment import Assignment, Assignor
from kafkawire.broker.groups.consumer.group_state import ConsumerChange, ConsumerGroupState
from kafkawire.broker.groups.consumer.member import Member
from kafkawire.broker.groups.target_assignment import changed_targets
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.model.java_order import hash_order, java_hash
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
    for member_id, target in changed_targets(state, topics, assignor, newcomer=newcomer):
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
