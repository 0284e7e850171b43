"""When something happens in a streams group without a request, to the millisecond, and when an assignment is due."""

from __future__ import annotations

import pytest
from tests.embedded.timed_streams_group import TimedStreamsGroup, active_tasks, codes

from kafkawire.broker.groups import timers
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.states import StreamsGroupStatus
from kafkawire.protocol.error_codes import ErrorCode

SESSION_MS, DELAY_MS, INTERVAL_MS = 45_001, 3_000, 1_500
ASSIGNMENT_DELAYED = 5


@pytest.mark.parametrize("begins", ["joins", "beats", "is read"])
def test_a_session_ends_to_the_millisecond(begins: str) -> None:
    timed = TimedStreamsGroup(session_timeout_ms=SESSION_MS)
    timed.join("a")
    timed.at = 7
    if begins == "joins":
        timed.join("a")
    elif begins == "beats":
        timed.beat("a", 0, 1)
    else:
        timed.restart()
    assert timed.pass_until(7 + SESSION_MS - 1) == ["a"]
    assert timed.pass_until(7 + SESSION_MS) == []
    assert timed.status() is StreamsGroupStatus.EMPTY
    assert len(timed.group.timers) == 0


@pytest.mark.parametrize("is_read", [False, True], ids=["lives", "is read"])
@pytest.mark.parametrize("rebalance_ms", [10_000, 1, 0, -1, -2])
def test_a_rebalance_timeout_ends_to_the_millisecond(rebalance_ms: int, *, is_read: bool) -> None:
    """It begins when the member is to give up tasks, and not again with each heartbeat."""
    timed = TimedStreamsGroup()
    timed.join("a", rebalance_ms=rebalance_ms)
    timed.join("b")
    timed.at = 5
    timed.beat("a", 0, 1)
    assert timers.revocation("a") in timed.group.timers
    end = 5 + max(rebalance_ms, 0)
    if is_read:
        timed.restart()
    timed.at = end - 1 if rebalance_ms else 5
    timed.beat("a", 0, 1)
    if rebalance_ms > 0:
        assert timed.pass_until(end - 1) == ["a", "b"]
    assert timed.pass_until(end) == ["b"]


def test_a_member_that_gives_up_its_tasks_has_no_rebalance_timeout() -> None:
    timed = TimedStreamsGroup(session_timeout_ms=SESSION_MS)
    timed.join("a")
    timed.join("b")
    timed.beat("a", 0, 1)
    kept = timed.group.state.members["a"].assigned.active["0"]
    timed.beat("a", *kept)
    assert timers.revocation("a") not in timed.group.timers
    assert timed.pass_until(SESSION_MS - 1) == ["a", "b"]


@pytest.mark.parametrize("delay", [DELAY_MS, 1])
def test_the_wait_for_members_ends_to_the_millisecond(delay: int) -> None:
    timed = TimedStreamsGroup(initial_rebalance_delay_ms=delay)
    assert codes(timed.join("a")) == [ASSIGNMENT_DELAYED]
    timed.pass_until(delay - 1)
    assert timed.status() is StreamsGroupStatus.ASSIGNING
    assert codes(timed.beat("a")) == [ASSIGNMENT_DELAYED]
    timed.pass_until(delay)
    assert timed.status() is StreamsGroupStatus.RECONCILING
    answer = timed.beat("a")
    assert (codes(answer), active_tasks(answer)) == ([], {"0": (0, 1)})


def test_the_wait_for_members_begins_with_the_first_and_not_again() -> None:
    timed = TimedStreamsGroup(initial_rebalance_delay_ms=DELAY_MS)
    timed.join("a")
    timed.at = DELAY_MS - 1
    timed.join("b")
    timed.pass_until(DELAY_MS)
    assert [sum(map(len, target.active.values())) for target in timed.group.state.targets.values()] == [1, 1]


def test_a_group_without_a_wait_assigns_at_once() -> None:
    timed = TimedStreamsGroup()
    answer = timed.join("a")
    assert (codes(answer), active_tasks(answer)) == ([], {"0": (0, 1)})
    assert timers.ASSIGNMENT not in timed.group.timers


@pytest.mark.parametrize("interval", [INTERVAL_MS, 1])
def test_the_interval_between_assignments_ends_to_the_millisecond(interval: int) -> None:
    timed = TimedStreamsGroup(assignment_interval_ms=interval)
    timed.at = 3
    assert codes(timed.join("a")) == [], "the first has none before it"
    assert codes(timed.join("b")) == [ASSIGNMENT_DELAYED]
    timed.at = 3 + interval - 1
    assert codes(timed.beat("b")) == [ASSIGNMENT_DELAYED]
    assert timed.status() is StreamsGroupStatus.ASSIGNING
    timed.at = 3 + interval
    assert codes(timed.beat("b")) == []
    assert timed.group.state.assignment_epoch == timed.group.state.epoch


def test_a_group_without_an_assignment_may_have_one_at_any_time() -> None:
    """Also where the clock begins with the year 1970."""
    timed = TimedStreamsGroup(assignment_interval_ms=INTERVAL_MS)
    timed.at = 1 - timed.now.ms
    assert timed.now.ms == 1
    assert codes(timed.join("a")) == []
    assert timed.group.state.assigned_at_ms == 1


def test_without_an_interval_a_clock_that_goes_back_delays_nothing() -> None:
    timed = TimedStreamsGroup()
    timed.join("a")
    timed.at = -5
    assert codes(timed.join("b")) == []
    assert timed.group.state.assignment_epoch == timed.group.state.epoch


def test_a_wait_that_ends_before_the_interval_assigns_nothing() -> None:
    """A group whose members have all left waits for new ones; its last assignment may be young."""
    timed = TimedStreamsGroup(initial_rebalance_delay_ms=1_000, assignment_interval_ms=9_000)
    timed.join("a")
    timed.beat("a")
    timed.pass_until(1_000)
    assert timed.status() is StreamsGroupStatus.RECONCILING
    assigned = timed.group.state.assignment_epoch
    timed.leave("a")
    timed.at = 5_000
    timed.join("b")
    timed.pass_until(6_000)
    assert timed.group.state.assignment_epoch == assigned
    assert codes(timed.beat("b")) == [ASSIGNMENT_DELAYED]
    timed.at = 9_999
    assert codes(timed.beat("b")) == [ASSIGNMENT_DELAYED]
    timed.at = 10_000
    assert codes(timed.beat("b")) == []


def test_a_wait_that_ends_after_the_interval_assigns() -> None:
    timed = TimedStreamsGroup(initial_rebalance_delay_ms=1_000, assignment_interval_ms=5_000)
    timed.join("a")
    timed.beat("a")
    timed.pass_until(1_000)
    timed.leave("a")
    timed.at = 5_000
    timed.join("b")
    timed.pass_until(6_000)
    assert timed.group.state.assignment_epoch == timed.group.state.epoch
    assert active_tasks(timed.beat("b")) == {"0": (0, 1)}


@pytest.mark.parametrize("most", [1, 2])
def test_a_group_has_as_many_members_as_it_may_have(most: int) -> None:
    """Members that join again are refused too, as in Apache Kafka."""
    timed = TimedStreamsGroup(most)
    for member_id in "abc"[:most]:
        timed.join(member_id)
    for member_id in ("a", "z"):
        with pytest.raises(GroupError) as error:
            timed.join(member_id)
        assert (error.value.code, error.value.message) == (
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The streams group has reached its maximum capacity of {most} members.",
        )
    timed.beat("a")
