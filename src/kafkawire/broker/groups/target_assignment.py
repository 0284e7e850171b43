"""The target assignment of a group: what an assignor gets, and which members shall have something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from kafkawire.broker.groups.assigned_state import AssignedState, M
from kafkawire.broker.groups.assignors.assignment import NOTHING, Assignment, Assignor, GroupSpec, MemberSpec
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import hash_order, java_hash, timeline_order


def changed_targets(
    state: AssignedState[M],
    topics: KnownTopics,
    assignor: Assignor,
    *,
    newcomer: str | None = None,
    assignable: Mapping[Uuid, Set[int]] | None = None,
) -> Iterator[tuple[str, Assignment]]:
    """The members whose target assignment changes with the epoch of a group, and what each shall have.

    Args:
        state: the group.
        topics: of the cluster.
        assignor: computes it.
        newcomer: a member that has joined just now, if Kafka counts it last; None if it does not.
        assignable: topic id to the partitions that members may get; None for all.
    """
    spec = _spec(state, topics, newcomer, assignable)
    targets = assignor(spec)
    for member_id in spec.members:
        target = targets.get(member_id, NOTHING)
        known = state.targets.get(member_id)
        if known is None or not _is_same(known, target):
            yield member_id, target


def _spec(
    state: AssignedState[M], topics: KnownTopics, newcomer: str | None, assignable: Mapping[Uuid, Set[int]] | None
) -> GroupSpec:
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
        assignable,
    )


def _is_same(one: Assignment, other: Assignment) -> bool:
    return as_sets(one) == as_sets(other)


def as_sets(assignment: Assignment) -> Mapping[Uuid, Set[int]]:
    """An assignment without its order."""
    return {topic: frozenset(each) for topic, each in assignment.items()}
