"""Static members (KIP-345): they return with another id, keep their assignment, and fence the one before."""

from __future__ import annotations

import pytest
from tests.embedded.driven_group import SUBSCRIPTION, Driven

from kafkawire.broker.groups import timers
from kafkawire.broker.groups.classic.group import Joining
from kafkawire.broker.groups.classic.states import State
from kafkawire.protocol import (
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    OffsetCommitRequest,
    SyncGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode


def test_static_members_that_do_not_join_again_keep_their_place() -> None:
    driven = Driven()
    driven.join(instance_id="one", session_ms=60_000)
    driven.join(session_ms=60_000)
    driven.wait(3)
    driven.wait(3)
    driven.sync("one-1", {})
    driven.sync("c-2")
    again = driven.join("c-2", metadata=SUBSCRIPTION + b"\0", session_ms=60_000)
    driven.wait(20)
    assert driven.joined(again).leader == "c-2"
    assert {each.member_id for each in driven.joined(again).members} == {"one-1", "c-2"}
    driven.sync("c-2", {})
    driven.wait(20)
    assert {*driven.group.roster.members} == {"c-2"}, "but it must sync"


def test_static_members_without_time_to_join_keep_the_broker_from_no_other_work() -> None:
    driven = Driven()
    driven.join(instance_id="one", rebalance_ms=0)
    driven.join(instance_id="two", rebalance_ms=0)
    driven.wait(3)
    driven.sync("one-1", {})
    driven.sync("two-2")
    driven.group.leave([LeaveGroupRequest.MemberIdentity("", "two")], driven.now)
    driven.wait(0)
    assert timers.JOIN in driven.group.timers, "it is checked again"
    assert driven.group.timers.look_at == driven.seconds + 1
    checks = 0
    while driven.group.roster.members:
        driven.wait(driven.group.timers.look_at - driven.seconds)
        checks += 1
    assert checks <= 11
    assert driven.group.state is State.EMPTY


def test_a_static_leader_that_returns_keeps_its_assignment() -> None:
    """From version 9 on it learns that it leads, and assigns nothing (KIP-814); before, the leader has its old id."""
    for version, leader, skips in ((5, "one-1", False), (9, "one-2", True)):
        driven = Driven()
        driven.join(instance_id="one")
        driven.wait(3)
        driven.sync("one-1", {"one-1": b"all"})
        back = driven.joined(driven.join(version=version, instance_id="one"))
        assert (back.member_id, back.leader, back.generation_id) == ("one-2", leader, 1)
        assert (back.skip_assignment, len(back.members)) == (skips, int(skips))
        assert driven.values[-1].members[0].assignment == b"all"
        answer = driven.answers[driven.sync("one-2")]
        assert isinstance(answer, SyncGroupResponse)
        assert answer.assignment == b"all"


def test_a_static_member_that_returns_counts_as_joined() -> None:
    driven = Driven()
    driven.join(instance_id="one")
    driven.join()
    driven.wait(3)
    driven.wait(3)
    again = driven.join("c-2", metadata=SUBSCRIPTION + b"\0")
    back = driven.join(instance_id="one")
    assert {driven.joined(ticket).generation_id for ticket in (again, back)} == {2}
    assert driven.joined(back).member_id == driven.joined(back).leader == "one-3"


def test_a_static_member_that_returns_before_it_has_synced_still_must() -> None:
    for syncs, state in ((True, State.STABLE), (False, State.PREPARING_REBALANCE)):
        driven = Driven()
        driven.join(session_ms=60_000)
        driven.join(instance_id="one", session_ms=60_000)
        driven.wait(3)
        driven.wait(3)
        driven.sync("c-1", {})
        assert driven.joined(driven.join(instance_id="one", session_ms=60_000)).member_id == "one-3"
        if syncs:
            driven.sync("one-3")
        driven.wait(20)
        assert driven.group.state is state


def test_a_static_member_that_returns_with_another_protocol_rebalances() -> None:
    driven = Driven()
    driven.join(instance_id="one")
    driven.wait(3)
    driven.sync("one-1", {})
    protocols = (
        JoinGroupRequest.JoinGroupRequestProtocol("sticky"),
        JoinGroupRequest.JoinGroupRequestProtocol("range"),
    )
    request = JoinGroupRequest("g", 10_000, 20_000, "", "one", "consumer", protocols)
    driven.group.join(Joining(request, 9, "c", "/h"), 99, driven.now)
    answer = driven.group.outcome().answers[99]
    assert isinstance(answer, JoinGroupResponse)
    assert (answer.generation_id, answer.protocol_name) == (2, "sticky")


def test_commits_of_static_members() -> None:
    driven = Driven()
    driven.join(instance_id="one")
    driven.wait(3)
    driven.sync("one-1", {})
    for member_id, instance_id, error in (
        ("one-1", "one", ErrorCode.NONE),
        ("other", "one", ErrorCode.FENCED_INSTANCE_ID),
        ("", "one", ErrorCode.FENCED_INSTANCE_ID),
        ("", "two", ErrorCode.UNKNOWN_MEMBER_ID),
    ):
        for generation in {1, 1 if member_id == "one-1" else -1}:
            request = OffsetCommitRequest("g", generation, member_id, instance_id)
            assert driven.group.commit(request, driven.now) is error


def test_requests_that_wait_are_fenced_by_a_member_that_returns() -> None:
    driven = Driven()
    joins = driven.join(instance_id="one")
    back = driven.join(instance_id="one")
    assert driven.joined(joins).error_code == ErrorCode.FENCED_INSTANCE_ID
    assert driven.joined(joins).member_id == "one-1"
    driven.wait(3)
    assert driven.joined(back).generation_id == 1


def test_a_sync_that_waits_is_fenced() -> None:
    driven = Driven()
    driven.join()
    driven.join(instance_id="one")
    driven.wait(3)
    driven.wait(3)
    waits = driven.sync("one-2")
    driven.join(instance_id="one")
    answer = driven.answers[waits]
    assert isinstance(answer, SyncGroupResponse)
    assert answer.error_code == ErrorCode.FENCED_INSTANCE_ID
    assert driven.group.state is State.PREPARING_REBALANCE


@pytest.mark.parametrize("version", [5, 8, 9])
def test_a_static_follower_that_returns_learns_who_leads(version: int) -> None:
    """It has nothing to skip, whatever its version (KIP-814)."""
    driven = Driven()
    driven.join()
    driven.join(instance_id="one")
    driven.wait(3)
    driven.wait(3)
    driven.sync("c-1", {"c-1": b"\1", "one-2": b"\2"})
    driven.sync("one-2")
    back = driven.joined(driven.join(version=version, instance_id="one"))
    assert (back.member_id, back.leader, back.members, back.skip_assignment) == ("one-3", "c-1", (), False)
