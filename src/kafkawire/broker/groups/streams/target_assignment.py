"""The target assignment of a streams group: what the assignor gets, and the records of what changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kafkawire.broker.groups.assignors.sticky_task_assignor import assigned_tasks
from kafkawire.broker.groups.assignors.tasks import NO_TASKS, MemberSpec, Partitions, Tasks
from kafkawire.broker.groups.streams.group_state import StreamsChange, StreamsGroupState
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.topology import ConfiguredTopology
from kafkawire.model.java_order import hash_order, java_hash, timeline_order
from kafkawire.protocol import StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue


def specs(state: StreamsGroupState, members: Iterable[StreamsMember]) -> Mapping[str, MemberSpec]:
    """Members with what they shall have so far."""
    return {each.member_id: MemberSpec(each.process_id, state.target(each.member_id)) for each in members}


def target_assignment(
    known: Mapping[str, MemberSpec],
    updated: Mapping[str, MemberSpec],
    topology: ConfiguredTopology,
    standby_replicas: int,
) -> Mapping[str, Tasks]:
    """What each member shall have, in Kafka's order; nothing if the topology is not ready.

    Args:
        known: the members of the group, by id, in the order in which they came.
        updated: the member that has sent a heartbeat, as it is after that; empty if none has.
        topology: of the group.
        standby_replicas: how many standby tasks each task with state shall have.
    """
    members = {**{member_id: known[member_id] for member_id in timeline_order(known, java_hash)}, **updated}
    in_order = {member_id: members[member_id] for member_id in hash_order(members, java_hash)}
    targets: Mapping[str, Tasks] = {}
    if topology.is_ready:
        targets = assigned_tasks(in_order, topology.subtopologies, standby_replicas)
    return {member_id: targets.get(member_id, NO_TASKS) for member_id in in_order}


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
