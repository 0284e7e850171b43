"""Members with different subscriptions; other tests compare the assignments of small groups with Apache Kafka."""

from __future__ import annotations

from collections import Counter

from kafkawire.broker.groups.assignors.assignment import GroupSpec, MemberSpec
from kafkawire.broker.groups.assignors.uniform_heterogeneous import assign_unequal
from kafkawire.layout.uuid import Uuid

ALL, SOME = Uuid(bytes(15) + b"\1"), Uuid(bytes(15) + b"\2")
MEMBERS = 300


def test_hundreds_of_members_have_as_many_partitions_each() -> None:
    members = {
        f"m-{number:03}": MemberSpec(None, (ALL, SOME) if number < MEMBERS / 2 else (ALL,), 2, {})
        for number in range(MEMBERS)
    }
    partitions = {ALL: 2 * MEMBERS, SOME: MEMBERS}
    assigned = assign_unequal(GroupSpec(members, partitions, is_homogeneous=False, assigned={}))
    assert {sum(map(len, assigned[member_id].values())) for member_id in members} == {3}
    given = Counter((topic, each) for member in assigned.values() for topic, some in member.items() for each in some)
    assert given == Counter((topic, each) for topic, count in partitions.items() for each in range(count))
    assert all(SOME not in assigned[member_id] for member_id, member in members.items() if SOME not in member.topics)
    grown = {member_id: member._replace(target=assigned[member_id]) for member_id, member in members.items()}
    again = assign_unequal(GroupSpec(grown, partitions, is_homogeneous=False, assigned={}))
    assert again == assigned, "a balanced group stays as it is"


def test_members_with_much_of_another_topic_move_nothing_of_one_that_is_balanced_among_the_rest() -> None:
    """They have none of its partitions to give away, and the rest have one or two."""
    members = {
        f"m-{number:03}": MemberSpec(None, (ALL, SOME) if number < 10 else (ALL,), 2, {}) for number in range(MEMBERS)
    }
    partitions = {ALL: MEMBERS, SOME: 100}
    assigned = assign_unequal(GroupSpec(members, partitions, is_homogeneous=False, assigned={}))
    loads = Counter(sum(map(len, assigned[member_id].values())) for member_id in members)
    assert loads == {10: 10, 1: 280, 2: 10}
    grown = {member_id: member._replace(target=assigned[member_id]) for member_id, member in members.items()}
    assert assign_unequal(GroupSpec(grown, partitions, is_homogeneous=False, assigned={})) == assigned
