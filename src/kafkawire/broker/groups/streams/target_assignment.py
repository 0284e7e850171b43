"""The target assignment of a streams group: what the assignor gets, and the records of what changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafkawire.broker.groups.assignors.sticky_task_assignor import assigned_tasks
from kafkawire.broker.groups.assignors.tasks import NO_TASKS, MemberSpec, Partitions, Tasks
from kafkawire.broker.groups.streams.group_state import StreamsChange, StreamsGroupState
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.task_offsets import NO_TASK_OFFSETS, TaskOffsets
from kafkawire.broker.groups.streams.topology import ConfiguredTopology
from kafkawire.model.java_order import hash_order, java_hash, timeline_order
from kafkawire.protocol import StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue


def target_assignment(
    state: StreamsGroupState,
    updated: StreamsMember | None,
    topology: ConfiguredTopology,
    standby_replicas: int,
    offsets: Mapping[str, TaskOffsets] | None = None,
) -> Mapping[str, Tasks]:
    """What each member shall have, in Kafka's order; nothing if the topology is not ready.

    Args:
        state: the group.
        updated: a member that has sent a heartbeat, as it is after that; None if none has.
        topology: of the group.
        standby_replicas: how many standby tasks each task with state shall have.
        offsets: member id to the offsets of its tasks, for the rules of Apache Kafka 4.4; None for those of 4.3.
    """
    members = {member_id: state.members[member_id] for member_id in timeline_order(state.members, java_hash)}
    if updated is not None:
        members[updated.member_id] = updated
    specs = dict[str, MemberSpec]()
    for member_id in hash_order(members, java_hash):
        member = members[member_id]
        if offsets is None:
            specs[member_id] = MemberSpec(member.process_id, state.target(member_id))
        else:
            restored = offsets.get(member_id, NO_TASK_OFFSETS).restored
            specs[member_id] = MemberSpec(member.process_id, member.assigned.tasks, restored)
    targets: Mapping[str, Tasks] = {}
    if topology.is_ready:
        is_later = offsets is not None
        targets = assigned_tasks(specs, topology.subtopologies, standby_replicas, is_later=is_later)
    return {member_id: targets.get(member_id, NO_TASKS) for member_id in specs}


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
