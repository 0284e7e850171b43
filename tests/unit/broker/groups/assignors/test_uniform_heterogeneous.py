"""Members with different subscriptions; other tests compare the assignments of small groups with Apache Kafka."""

from __future__ import annotations

from collections import Counter

import pytest

from kafkawire.broker.groups.assignors.assignment import Assignment, GroupSpec, MemberSpec
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


def chain(links: int) -> GroupSpec:
    """Members of which each has one partition less than the one before, but the first, which has two more.

    Neighbours share a topic. The topics are in the order in which a partition moves from neighbour to neighbour only
    by one link in a round.
    """
    shared = [Uuid(bytes([2, *bytes(14), links - number])) for number in range(links)]
    own = [Uuid(bytes([1, *bytes(14), number])) for number in range(links + 1)]
    held = [links - number + (number in {0, links}) + (number == 0) for number in range(links + 1)]
    members = {}
    for number, topic in enumerate(own):
        target = {topic: tuple(range(held[number]))}
        target |= {shared[number]: (0,)} if number < links else {}
        target |= {shared[number - 1]: (1,)} if number else {}
        members[f"m-{number:02}"] = MemberSpec(None, (*target,), len(target), target)
    partitions = {**dict(zip(own, held, strict=True)), **dict.fromkeys(shared, 2)}
    assigned = {topic: frozenset(range(count)) for topic, count in partitions.items()}
    return GroupSpec(members, partitions, is_homogeneous=False, assigned=assigned)


@pytest.mark.parametrize(("links", "last"), [(15, 15), (16, 16), (17, 16), (20, 16)])
def test_partitions_move_for_sixteen_rounds(links: int, last: int) -> None:
    """As in Apache Kafka: one moves from the first member to the next, and so on."""
    spec = chain(links)
    found = assign_unequal(spec)
    loads = [sum(map(len, found[each].values())) - sum(map(len, spec.members[each].target.values())) for each in found]
    assert loads == [-1, *[0] * (last - 1), 1, *[0] * (links - last)]


@pytest.mark.parametrize("more", [0, 300])
def test_the_least_loaded_take_turns_however_much_they_have(more: int) -> None:
    """The first member gives two of its four partitions of a common topic away, one to each of two equal ones."""
    own = [Uuid(bytes([1, *bytes(14), number])) for number in range(3)]
    members = {
        f"m-{number}": MemberSpec(None, (topic, ALL), 2, {topic: tuple(range(more + 1))})
        for number, topic in enumerate(own)
    }
    members["m-0"] = members["m-0"]._replace(target={**members["m-0"].target, ALL: (0, 1, 2, 3)})
    partitions = {**dict.fromkeys(own, more + 1), ALL: 4}
    assigned = {**dict.fromkeys(own, frozenset(range(more + 1))), ALL: frozenset(range(4))}
    found = assign_unequal(GroupSpec(members, partitions, is_homogeneous=False, assigned=assigned))
    assert {each: len(found[each].get(ALL, ())) for each in members} == {"m-0": 2, "m-1": 1, "m-2": 1}


@pytest.mark.parametrize(
    ("of_first", "of_second", "of_all", "given"), [(30, 28, 33, (17, 1)), (33, 30, 36, (1, 17, 35))]
)
def test_a_member_has_its_new_partitions_in_javas_order(
    of_first: int, of_second: int, of_all: int, given: tuple[int, ...]
) -> None:
    """Its set begins with room for the share of a subscriber of the topic: with eleven, 17 and 1 are in one bucket."""
    first, second = (Uuid(bytes([1, *bytes(14), number])) for number in range(2))
    partitions = {ALL: of_all, first: of_first, second: of_second}
    others = tuple(number for number in range(of_all) if number not in {1, 17})
    targets: dict[str, Assignment] = {
        "a": {first: tuple(range(of_first)), ALL: (1, 17)},
        "b": {second: tuple(range(of_second))},
        "c": {ALL: others},
    }
    members = {
        member_id: MemberSpec(None, (*dict.fromkeys((ALL, *target)),), 2, target)
        for member_id, target in targets.items()
    }
    assigned = {topic: frozenset(range(count)) for topic, count in partitions.items()}
    found = assign_unequal(GroupSpec(members, partitions, is_homogeneous=False, assigned=assigned))
    assert found["b"][ALL] == given
    assert found["a"] == {first: tuple(range(of_first))}
    assert found["c"] == {ALL: tuple(number for number in others if number not in given)}
