"""The target assignment of a streams group: what the assignor gets, and the records of what changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from kafkawire.broker.groups.assignors.sticky_task_assignor import assigned_tasks
from kafkawire.broker.groups.assignors.tasks import NO_TASKS, MemberSpec, Partitions, Tasks
from kafkawire.broker.groups.streams.group_state import StreamsChange, StreamsGroupState
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.task_offsets import NO_TASK_OFFSETS, TaskOffsets
from kafkawire.broker.groups.streams.topology import ConfiguredTopology
from kafkawire.model.java_order import hash_order, java_hash, timeline_order
from kafkawire.protocol import StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue

_LONG: Final = 1000
"""How many steps of some microseconds each may be done at once."""
_MEMBER: Final = 5
"""The steps for a member that gets tasks; each of these is one more."""


class Rules(NamedTuple):
    """How tasks are assigned.

    Attributes:
        standby_replicas: how many standby tasks each task with state shall have.
        is_later: whether as in Apache Kafka 4.4, else as in 4.3.
    """

    standby_replicas: int
    is_later: bool


def specs(
    state: StreamsGroupState, members: Collection[StreamsMember], offsets: Mapping[str, TaskOffsets] | None = None
) -> Mapping[str, MemberSpec]:
    """Members with what they shall have so far.

    Args:
        state: the group.
        members: of the group, or that come to it.
        offsets: member id to the offsets of its tasks, for the rules of Apache Kafka 4.4, where members have what they
            have; None for those of 4.3.
    """
    if offsets is None:
        return {each.member_id: MemberSpec(each.process_id, state.target(each.member_id)) for each in members}
    restored = {each.member_id: offsets.get(each.member_id, NO_TASK_OFFSETS).restored for each in members}
    return {
        each.member_id: MemberSpec(each.process_id, each.assigned.tasks, restored[each.member_id]) for each in members
    }


def target_assignment(
    known: Mapping[str, MemberSpec], updated: Mapping[str, MemberSpec], topology: ConfiguredTopology, rules: Rules
) -> Mapping[str, Tasks]:
    """What each member shall have, in Kafka's order; nothing if the topology is not ready.

    Args:
        known: the members of the group, by id, in the order in which they came.
        updated: the member that has sent a heartbeat, as it is after that; empty if none has.
        topology: of the group.
        rules: of the assignment.
    """
    members = {**{member_id: known[member_id] for member_id in timeline_order(known, java_hash)}, **updated}
    in_order = {member_id: members[member_id] for member_id in hash_order(members, java_hash)}
    targets: Mapping[str, Tasks] = {}
    if topology.is_ready:
        targets = assigned_tasks(in_order, topology.subtopologies, rules.standby_replicas, is_later=rules.is_later)
    return {member_id: targets.get(member_id, NO_TASKS) for member_id in in_order}


def is_long(topology: ConfiguredTopology, rules: Rules, members: int) -> bool:
    """Whether it takes long to assign tasks."""
    return topology.tasks * (1 + rules.standby_replicas) + _MEMBER * members > _LONG


def changes(state: StreamsGroupState, targets: Mapping[str, Tasks]) -> Iterator[StreamsChange]:
    """The records of the members whose target assignment changes."""
    for member_id, target in targets.items():
        if state.targets.get(member_id) != target:
            key = StreamsGroupTargetAssignmentMemberKey(state.group_id, member_id)
            yield (
                key,
                StreamsGroupTargetAssignmentMemberValue(
                    _recorded(target.active), _recorded(target.standby), _recorded(target.warmup)
                ),
            )


def _recorded(partitions: Partitions) -> tuple[StreamsGroupTargetAssignmentMemberValue.TaskIds, ...]:
    ids = StreamsGroupTargetAssignmentMemberValue.TaskIds
    return tuple(ids(subtopology, tuple(sorted(partitions[subtopology]))) for subtopology in sorted(partitions))
