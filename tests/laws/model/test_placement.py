"""New assignments: allowed brokers, as many replicas as wanted, racks, few moves, even spread."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from kafkawire.model.partitions import TopicPartition
from kafkawire.model.placement import PlacementError, PlacementGoal, new_assignment

BROKERS = st.dictionaries(st.integers(0, 8), st.sampled_from([None, "a", "b", "c"]), min_size=1, max_size=7)


@st.composite
def reassignments(draw: st.DrawFn) -> tuple[dict[TopicPartition, tuple[int, ...]], PlacementGoal]:
    racks = draw(BROKERS)
    factor = draw(st.integers(1, len(racks)))
    brokers = st.lists(st.integers(0, 8), min_size=1, max_size=4, unique=True).map(tuple)
    numbers = draw(st.dictionaries(st.sampled_from(["x", "y"]), st.integers(1, 6), min_size=1))
    current = {TopicPartition(topic, each): draw(brokers) for topic, count in numbers.items() for each in range(count)}
    return current, PlacementGoal(racks=racks, replication_factor=factor, rebalance=draw(st.booleans()))


@given(reassignments())
def test_each_partition_has_its_replicas_on_brokers_that_may_hold_them(
    given_: tuple[dict[TopicPartition, tuple[int, ...]], PlacementGoal],
) -> None:
    current, goal = given_
    placed = new_assignment(current, goal)
    assert placed.keys() == current.keys()
    for replicas in placed.values():
        assert len(replicas) == len(set(replicas)) == goal.replication_factor
        assert goal.racks.keys() >= set(replicas)


@given(reassignments())
def test_without_rebalance_every_replica_that_may_stay_stays(
    given_: tuple[dict[TopicPartition, tuple[int, ...]], PlacementGoal],
) -> None:
    current, goal = given_
    if goal.rebalance:
        return
    for partition, replicas in new_assignment(current, goal).items():
        may_stay = [broker for broker in current[partition] if broker in goal.racks]
        stay = [broker for broker in replicas if broker in may_stay]
        assert len(stay) == min(len(may_stay), len(replicas))
        assert not may_stay or replicas[0] == may_stay[0]


@given(reassignments())
def test_a_second_assignment_moves_nothing(
    given_: tuple[dict[TopicPartition, tuple[int, ...]], PlacementGoal],
) -> None:
    current, goal = given_
    once = new_assignment(current, goal)
    again = new_assignment(once, goal)
    assert {each: set(replicas) for each, replicas in again.items()} == {each: set(once[each]) for each in once}


@given(st.integers(1, 12), st.integers(1, 6), st.data())
def test_rebalance_spreads_a_topic_evenly_where_racks_allow(partitions: int, brokers: int, data: st.DataObject) -> None:
    factor = data.draw(st.integers(1, brokers))
    current = {TopicPartition("t", each): tuple(range(factor)) for each in range(partitions)}
    goal = PlacementGoal(racks=dict.fromkeys(range(brokers)), rebalance=True)
    placed = new_assignment(current, goal)
    counts = Counter(dict.fromkeys(range(brokers), 0))
    counts.update(broker for replicas in placed.values() for broker in replicas)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_replicas_are_on_different_racks() -> None:
    current = {TopicPartition("t", 0): (1,)}
    goal = PlacementGoal(racks={1: "a", 2: "a", 3: "b"}, replication_factor=2)
    assert new_assignment(current, goal) == {TopicPartition("t", 0): (1, 3)}


def test_a_follower_on_the_rack_of_others_goes_first() -> None:
    current = {TopicPartition("t", 0): (1, 2, 3)}
    goal = PlacementGoal(racks={1: "a", 2: "a", 3: "b"}, replication_factor=2)
    assert new_assignment(current, goal) == {TopicPartition("t", 0): (1, 3)}


@pytest.mark.parametrize(
    ("factor", "message"),
    [(3, "3 replicas need as many brokers; there are 2"), (0, "a replication factor of 0: it must be at least 1")],
)
def test_impossible_goals_are_refused(factor: int, message: str) -> None:
    with pytest.raises(PlacementError, match=message):
        PlacementGoal(racks={1: None, 2: None}, replication_factor=factor)


def test_a_partition_with_more_replicas_than_brokers_is_named() -> None:
    with pytest.raises(PlacementError, match="t-0 has 3 replicas, and there are 2 brokers"):
        new_assignment({TopicPartition("t", 0): (1, 2, 3)}, PlacementGoal(racks={1: None, 2: None}))
