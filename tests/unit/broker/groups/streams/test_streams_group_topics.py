"""A streams group sees which topics come, grow and go, and begins epochs for those of its topology only."""

from __future__ import annotations

import pytest
from tests.embedded.streams_members import COUNTS_ORDERS, READS_ORDERS
from tests.embedded.timed_streams_group import TimedStreamsGroup, active_tasks, codes

from kafkawire.broker.groups.streams.states import StreamsGroupStatus
from kafkawire.broker.groups.streams.topology import InternalTopic

STALE = "behind"
MISSING_SOURCE_TOPICS, INCORRECTLY_PARTITIONED_TOPICS, MISSING_INTERNAL_TOPICS = 1, 2, 3


@pytest.fixture
def driven() -> TimedStreamsGroup:
    """A group with a stable member."""
    group = TimedStreamsGroup()
    group.join("a")
    group.beat("a", 0, 1)
    assert group.status() is StreamsGroupStatus.STABLE
    return group


def test_a_topic_that_grows_has_more_tasks(driven: TimedStreamsGroup) -> None:
    epoch = driven.group.state.epoch
    driven.create("orders", 3)
    assert active_tasks(driven.beat("a", 0, 1)) == {"0": (0, 1, 2)}
    assert (driven.group.state.epoch, driven.group.state.assignment_epoch) == (epoch + 1, epoch + 1)
    assert active_tasks(driven.beat("a", 0, 1, 2)) is None
    assert driven.group.state.epoch == epoch + 1


@pytest.mark.parametrize("is_read", [False, True], ids=["lives", "is read"])
def test_topics_of_others_change_nothing(driven: TimedStreamsGroup, *, is_read: bool) -> None:
    records = len(driven.written)
    if is_read:
        driven.restart()
    driven.create("others", 1)
    driven.create("others", 4)
    assert (active_tasks(driven.beat("a", 0, 1)), codes(driven.beat("a", 0, 1))) == (None, [])
    driven.delete("others")
    driven.beat("a", 0, 1)
    assert len(driven.written) == records


def test_topics_are_looked_at_again_only_after_a_change(driven: TimedStreamsGroup) -> None:
    driven.create("orders", 3)
    driven.beat("a", 0, 1)
    hashed = driven.hashed
    configured = driven.group.configured
    driven.beat("a", 0, 1, 2)
    driven.beat("a", 0, 1, 2)
    driven.create("others", 1)
    driven.beat("a", 0, 1, 2)
    assert driven.group.configured is configured
    assert driven.hashed == hashed, "the topic is the same"


def test_members_have_no_tasks_of_a_topic_that_is_deleted(driven: TimedStreamsGroup) -> None:
    driven.delete("orders")
    answer = driven.beat("a", 0, 1)
    assert (codes(answer), active_tasks(answer)) == ([MISSING_SOURCE_TOPICS], {})
    state = driven.group.state
    assert (driven.status(), state.validated_topology_epoch, state.metadata_hash) == (
        StreamsGroupStatus.NOT_READY,
        -1,
        0,
    )
    epoch = state.epoch
    assert codes(driven.beat("a")) == [MISSING_SOURCE_TOPICS]
    assert state.epoch == epoch
    driven.create("orders", 1)
    answer = driven.beat("a")
    assert (codes(answer), active_tasks(answer)) == ([], {"0": (0,)})
    assert (driven.status(), state.validated_topology_epoch) == (StreamsGroupStatus.STABLE, 0)


def test_internal_topics_are_asked_for_until_they_exist() -> None:
    driven = TimedStreamsGroup()
    joining = driven.join("a", COUNTS_ORDERS)
    assert codes(joining) == [MISSING_INTERNAL_TOPICS]
    answer = driven.send(driven.short("a"))
    assert answer.internal_topics == {"g-changes": InternalTopic("g-changes", 2)}
    assert driven.status() is StreamsGroupStatus.NOT_READY
    driven.create("g-changes", 2)
    answer = driven.send(driven.short("a"))
    assert (answer.internal_topics, codes(answer.response), active_tasks(answer.response)) == ({}, [], {"0": (0, 1)})
    driven.create("orders", 3)
    answer = driven.send(driven.short("a"))
    assert (answer.internal_topics, codes(answer.response)) == ({}, [INCORRECTLY_PARTITIONED_TOPICS])
    assert driven.status() is StreamsGroupStatus.NOT_READY
    driven.create("g-changes", 3)
    driven.beat("a", 0, 1)
    driven.beat("a")
    assert {each: target.active for each, target in driven.group.state.targets.items()} == {"a": {"0": (0, 1, 2)}}


def test_a_restart_looks_at_topics_but_begins_no_epoch(driven: TimedStreamsGroup) -> None:
    epoch = driven.group.state.epoch
    driven.restart()
    driven.properties = {**driven.properties, "streams.heartbeat.interval.ms": "7000"}
    answer = driven.beat("a", 0, 1)
    assert (driven.group.state.epoch, codes(answer), active_tasks(answer)) == (epoch, [], None)
    assert answer.heartbeat_interval_ms == 7000
    assert driven.group.configured is not None
    driven.restart()
    driven.create("orders", 3)
    assert active_tasks(driven.beat("a", 0, 1)) == {"0": (0, 1, 2)}
    assert driven.group.state.epoch == epoch + 1


@pytest.mark.parametrize("partitions", [2, 3])
def test_a_topic_that_has_grown_while_the_group_was_away_begins_an_epoch(
    driven: TimedStreamsGroup, partitions: int
) -> None:
    epoch = driven.group.state.epoch
    driven.create("orders", partitions)
    driven.forget_changes()
    driven.restart()
    has_grown = partitions > 2
    assert active_tasks(driven.beat("a", 0, 1)) == ({"0": (0, 1, 2)} if has_grown else None)
    assert driven.group.state.epoch == epoch + has_grown


def test_the_first_member_begins_the_second_epoch() -> None:
    """As in Apache Kafka, a group that begins has the epoch 1."""
    driven = TimedStreamsGroup()
    assert (driven.group.state.epoch, driven.group.state.assignment_epoch) == (1, 1)
    assert driven.join("a").member_epoch == driven.group.state.epoch == 2


def test_another_number_of_standby_tasks_begins_an_epoch() -> None:
    driven = TimedStreamsGroup(num_standby_replicas=0)
    driven.create("g-changes", 2)
    for member_id in ("a", "b"):
        driven.join(member_id, COUNTS_ORDERS)
    for _ in range(2):
        for member_id in ("a", "b"):
            driven.beat(member_id, *driven.group.state.target(member_id).active.get("0", ()))
    assert driven.status() is StreamsGroupStatus.STABLE
    epoch = driven.group.state.epoch
    driven.properties = {**driven.properties, "streams.num.standby.replicas": "1"}
    driven.send(driven.short("a"))
    driven.send(driven.short("a"))
    state = driven.group.state
    assert (state.epoch, state.assignment_configs) == (epoch + 1, {"num.standby.replicas": "1"})
    active, standby = ({each: state.target(each)[role].get("0", ()) for each in "ab"} for role in (0, 1))
    assert sorted(active.values()) == [(0,), (1,)]
    assert standby == {"a": active["b"], "b": active["a"]}


def test_a_member_with_another_topology_epoch_is_stale() -> None:
    driven = TimedStreamsGroup()
    driven.join("a", type(READS_ORDERS)(3, READS_ORDERS.subtopologies))
    assert codes(driven.beat("a")) == []
    answer = driven.join("b", READS_ORDERS)
    assert [(each.status_code, each.status_detail) for each in answer.status or ()] == [
        (0, f"The member's topology epoch 0 is {STALE} the group's topology epoch 3.")
    ]
    assert codes(driven.beat("a", 0, 1)) == []
