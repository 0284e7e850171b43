"""``uniform`` for members that subscribe to the same topics: the rules of ``UniformHomogeneousAssignmentBuilder``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from kafkawire.broker.groups.assignors.assignment import Assignment, Draft, GroupSpec
from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import hash_order, room_for, uuid_hash

Partition = tuple[Uuid, int]


def assign_equal(spec: GroupSpec) -> Mapping[str, Assignment]:
    """What each member shall have: as many partitions as the others, or one more."""
    first = next(iter(spec.members.values()))
    topics = hash_order(first.topics, uuid_hash, room_for(first.names))
    if not topics:
        return {}
    free = [
        (topic, partition)
        for topic in topics
        for partition in range(spec.partitions[topic])
        if partition not in spec.assigned.get(topic, ())
    ]
    least, extra = divmod(sum(spec.partitions[topic] for topic in topics), len(spec.members))
    drafts: dict[str, Draft] = {}
    room: dict[str, int] = {}
    for index, (member_id, member) in enumerate(spec.members.items()):
        draft = drafts[member_id] = Draft(member.target)
        has_extra = extra > 0
        quota = _keep(draft, member.target, frozenset(topics), least + has_extra, free)
        if quota > 0 and has_extra and len(spec.members) - index > extra:
            # Another member may have one partition more, unless only as many members are left as must have it.
            quota -= 1
            has_extra = False
        if quota > 0:
            room[member_id] = quota
        extra -= has_extra
    rest = iter(free)
    for member_id, quota in room.items():
        for topic, partition in islice(rest, quota):
            drafts[member_id].add(topic, partition)
    return {member_id: draft.result() for member_id, draft in drafts.items()}


def _keep(draft: Draft, target: Assignment, topics: frozenset[Uuid], quota: int, free: list[Partition]) -> int:
    """Take from a member what it has beyond its quota; returns how many partitions it may get."""
    for topic, partitions in target.items():
        if topic not in topics:
            draft.remove_topic(topic)
            continue
        for partition in partitions[quota:]:
            draft.remove(topic, partition)
            free.append((topic, partition))
        quota -= min(quota, len(partitions))
    return quota
