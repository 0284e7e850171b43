"""A classic group by itself: what it does over time, and with members that want too much."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.embedded.driven_group import SUBSCRIPTION, Driven, stable
from tests.embedded.received import received

from kafkawire.broker.groups.classic.group import ClassicGroup, Joining
from kafkawire.broker.groups.classic.settings import NEW_MEMBER_TIMEOUT, GroupSettings
from kafkawire.broker.groups.classic.states import State
from kafkawire.broker.groups.timers import Now
from kafkawire.model.java_order import in_java_order
from kafkawire.protocol import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetCommitRequest,
    SyncGroupRequest,
    SyncGroupResponse,
    TxnOffsetCommitRequest,
)
from kafkawire.protocol.error_codes import ErrorCode


def test_the_first_members_wait_for_more_as_long_as_more_come() -> None:
    driven = Driven()
    first = driven.join(rebalance_ms=10_000)
    for _ in range(3):
        driven.wait(2.9)
        driven.join(rebalance_ms=10_000)
        driven.wait(0.1)
        assert first not in driven.answers
    driven.wait(0.999)
    driven.join(rebalance_ms=10_000)
    assert first not in driven.answers
    driven.wait(0.001)
    assert len(driven.joined(first).members) == 5, "not longer than the rebalance timeout"


def test_one_member_waits_once() -> None:
    driven = Driven()
    first = driven.join()
    driven.wait(2.999)
    assert first not in driven.answers
    driven.wait(0.001)
    assert driven.joined(first).generation_id == 1


def test_a_new_member_that_nobody_waits_for_is_forgotten_after_five_minutes() -> None:
    driven = stable(members=1)
    driven.group.roster.members["c-1"].session_timeout_ms = 1_000_000
    driven.beat("c-1")
    late = driven.join(rebalance_ms=1_000_000)
    driven.group.roster.members["c-1"].rebalance_timeout_ms = 1_000_000
    assert NEW_MEMBER_TIMEOUT == 300
    driven.wait(NEW_MEMBER_TIMEOUT - 0.001)
    assert late not in driven.answers
    driven.wait(0.001)
    assert driven.joined(late).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert [*driven.group.roster.members] == ["c-1"]


def test_a_member_that_beats_stays_and_a_silent_one_is_removed() -> None:
    driven = stable()
    for _ in range(4):
        driven.wait(3)
        driven.beat("c-1")
    assert [*driven.group.roster.members] == ["c-1"]
    assert driven.group.state is State.PREPARING_REBALANCE
    assert driven.beat("c-1") is ErrorCode.REBALANCE_IN_PROGRESS
    again = driven.join("c-1")
    assert driven.joined(again).generation_id == 2


def test_members_that_do_not_join_again_are_removed_after_the_rebalance_timeout() -> None:
    driven = stable()
    again = driven.join("c-1")
    for _ in range(4):
        driven.wait(4.9)
        driven.beat("c-2")
    driven.wait(0.39)
    assert again not in driven.answers
    driven.wait(0.02)
    assert [each.member_id for each in driven.joined(again).members] == ["c-1"]


def test_the_rebalance_timeout_ends_with_its_last_millisecond() -> None:
    driven = stable()
    again = driven.join("c-1", rebalance_ms=20_500)
    for _ in range(4):
        driven.wait(5)
        driven.beat("c-2")
    driven.wait(0.499)
    assert again not in driven.answers
    driven.wait(0.001)
    assert [each.member_id for each in driven.joined(again).members] == ["c-1"]


def test_members_that_do_not_sync_are_removed_after_the_rebalance_timeout() -> None:
    driven = Driven()
    driven.join(session_ms=60_000)
    driven.join(session_ms=60_000)
    driven.wait(3)
    driven.wait(3)
    waits = driven.sync("c-2")
    driven.wait(19)
    assert waits not in driven.answers
    driven.wait(1)
    answer = driven.answers[waits]
    assert isinstance(answer, SyncGroupResponse)
    assert answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert [*driven.group.roster.members] == ["c-2"]


def test_a_session_begins_again_with_the_answer_that_a_member_waited_for() -> None:
    driven = Driven()
    driven.join()
    driven.join()
    driven.wait(3)
    driven.wait(3)
    driven.sync("c-2")
    driven.wait(9)
    driven.beat("c-1")
    driven.wait(9)
    assert {*driven.group.roster.members} == {"c-1", "c-2"}, "one that waits can send no heartbeat"
    driven.sync("c-1", {})
    driven.wait(9)
    driven.beat("c-1")
    driven.wait(1)
    assert {*driven.group.roster.members} == {"c-1"}


def test_a_rebalance_in_the_middle_of_another_takes_the_assignments_away() -> None:
    driven = stable()
    for member_id in ("c-1", "c-2"):
        driven.join(member_id)
    waits = driven.sync("c-2")
    assert [member.assignment for member in driven.group.roster.members.values()] == [b"\1", b"\2"]
    driven.join()
    answer = driven.answers[waits]
    assert isinstance(answer, SyncGroupResponse)
    assert answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert {member.assignment for member in driven.group.roster.members.values()} == {b""}


def test_a_group_is_recorded_when_it_is_stable_and_when_it_is_empty() -> None:
    driven = stable()
    (value,) = driven.values
    assert [(each.member_id, each.assignment) for each in value.members] == [("c-1", b"\x01"), ("c-2", b"\x02")]
    driven.wait(10)
    assert driven.group.state is State.EMPTY
    assert (driven.values[-1].generation, driven.values[-1].members, driven.values[-1].leader) == (2, (), None)


def test_a_recorded_group_begins_where_it_was() -> None:
    loaded = Driven(value=stable().values[0])
    assert loaded.group.state is State.STABLE
    assert loaded.group.is_subscribed_to("orders")
    assert not loaded.group.is_subscribed_to("payments")
    loaded.wait(9)
    assert loaded.beat("c-2") is ErrorCode.NONE
    loaded.wait(1)
    assert [*loaded.group.roster.members] == ["c-2"]


def test_the_session_of_a_recorded_member_that_waits_goes_on_however_long_it_waits() -> None:
    """It is not new: new members are forgotten after five minutes."""
    loaded = Driven(value=stable().values[0])
    again = loaded.join("c-1", metadata=b"other")
    for _ in range(3):
        loaded.wait(9)
        loaded.beat("c-2")
        if loaded.seconds < 20:
            assert again not in loaded.answers
            assert [*loaded.group.roster.members] == ["c-1", "c-2"]


def test_a_recorded_leader_leads() -> None:
    loaded = Driven(value=replace(stable().values[0], leader="c-2"))
    follower = loaded.joined(loaded.join("c-1"))
    assert (follower.leader, follower.members, follower.generation_id) == ("c-2", (), 1)
    loaded.join("c-2")
    assert loaded.group.state is State.PREPARING_REBALANCE


def test_a_recorded_group_that_is_larger_than_the_limit_rebalances() -> None:
    loaded = Driven(GroupSettings(most_members=1), stable().values[0])
    assert loaded.group.state is State.PREPARING_REBALANCE
    first = loaded.join("c-2")
    late = loaded.joined(loaded.join("c-1"))
    assert late.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    loaded.wait(20)
    assert [each.member_id for each in loaded.joined(first).members] == ["c-2"]


@pytest.mark.parametrize("limit", [2, 300])
def test_a_full_group_takes_no_other_member(limit: int) -> None:
    full = Driven(GroupSettings(most_members=limit), stable(members=limit).values[0])
    assert (full.group.state, len(full.group.roster.members)) == (State.STABLE, limit)
    assert full.joined(full.join()).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert full.beat("c-1") is ErrorCode.NONE


def test_a_record_that_is_too_large_fails_the_sync() -> None:
    driven = Driven(GroupSettings(most_record_bytes=4000))
    driven.join()
    driven.wait(3)
    answer = driven.answers[driven.sync("c-1", {"c-1": bytes(5000)})]
    assert isinstance(answer, SyncGroupResponse)
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert not driven.values
    assert driven.group.state is State.PREPARING_REBALANCE


def test_a_record_may_have_as_many_bytes_as_a_batch() -> None:
    """The batch has 100 bytes more than the value and the name of the group."""
    made = stable(members=1)
    size = len(made.values[0].encode(3)) + len("g") + 100
    for most, state in ((size, State.STABLE), (size - 1, State.PREPARING_REBALANCE)):
        driven = Driven(GroupSettings(most_record_bytes=most))
        driven.join()
        driven.wait(3)
        driven.sync("c-1", {"c-1": b"\1"})
        assert driven.group.state is state


def test_the_first_member_needs_a_protocol_and_its_type() -> None:
    for protocol_type, names in (("", ("range",)), ("consumer", ())):
        group = ClassicGroup("g", None, GroupSettings(), Now(0, 0))
        protocols = tuple(JoinGroupRequest.JoinGroupRequestProtocol(name) for name in names)
        request = JoinGroupRequest("g", 10_000, 10_000, "", None, protocol_type, protocols)
        group.join(Joining(request, 3, "c", "/h"), 0, Now(0, 0))
        answer = group.outcome().answers[0]
        assert isinstance(answer, JoinGroupResponse)
        assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_what_a_client_brings_is_counted() -> None:
    driven = Driven()
    driven.join(metadata=bytes(1000))
    assert driven.group.roster.size == len("c-1") + len("c") + len("range") + 1000
    driven.join("c-1", metadata=bytes(10))
    assert driven.group.roster.size == len("c-1") + len("c") + len("range") + 10
    driven.wait(3)
    driven.wait(20)
    assert driven.group.roster.size == 0


def test_a_client_joins_with_the_id_that_it_gets() -> None:
    driven = Driven()
    asked = driven.joined(driven.join(version=4))
    assert (asked.error_code, asked.member_id) == (ErrorCode.MEMBER_ID_REQUIRED, "c-1")
    static = driven.joined(driven.join("c-1", version=5, instance_id="one"))
    assert (static.error_code, static.member_id) == (ErrorCode.UNKNOWN_SERVER_ERROR, ""), "as Kafka's exception"
    first = driven.join("c-1", version=4)
    driven.wait(3)
    assert (driven.joined(first).generation_id, driven.joined(first).leader) == (1, "c-1")
    assert not driven.group.roster.pending


def test_an_id_that_no_client_uses_holds_a_rebalance_up_until_its_session_ends() -> None:
    driven = stable(members=1)
    driven.join(version=4)
    again = driven.join("c-1")
    driven.wait(9.9)
    assert again not in driven.answers
    driven.wait(0.1)
    assert driven.joined(again).generation_id == 2


def test_a_client_may_leave_before_it_uses_its_id() -> None:
    driven = stable(members=1)
    driven.join(version=4)
    again = driven.join("c-1")
    results = driven.leave(("c-2", None), ("stranger", None), ("", "one"))
    assert [result.error_code for result in results] == [0, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.UNKNOWN_MEMBER_ID]
    assert driven.joined(again).generation_id == 2


def test_commits_of_members_and_of_others() -> None:
    def error(driven: Driven, generation: int, member_id: str = "") -> ErrorCode:
        return driven.group.commit(OffsetCommitRequest("g", generation, member_id), driven.now)

    empty, held = Driven(), stable()
    assert error(empty, -1) is ErrorCode.NONE
    assert error(empty, 0) is error(empty, 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert error(empty, -2) is ErrorCode.NONE
    assert error(held, -1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert error(held, 0, "c-1") is ErrorCode.ILLEGAL_GENERATION
    assert error(held, -1, "c-1") is ErrorCode.ILLEGAL_GENERATION
    for _ in range(3):
        held.wait(9)
        assert error(held, 1, "c-1") is ErrorCode.NONE
        held.beat("c-2")
    assert len(held.group.roster.members) == 2, "a commit is a sign of life"


def test_a_group_without_members_can_be_deleted() -> None:
    empty, held = Driven(), stable()
    errors = [empty.group.deletion_error, held.group.deletion_error]
    held.group.close(ErrorCode.UNKNOWN_MEMBER_ID)
    errors.append(held.group.deletion_error)
    assert errors == [ErrorCode.NONE, ErrorCode.NON_EMPTY_GROUP, ErrorCode.GROUP_ID_NOT_FOUND]


def test_offsets_of_transactions_of_members_and_of_others() -> None:
    """Clients before KIP-447 do not say which member they are."""

    def error(driven: Driven, generation: int, member_id: str = "") -> ErrorCode:
        request = TxnOffsetCommitRequest("t", "g", generation_id_or_member_epoch=generation, member_id=member_id)
        return driven.group.transactional_commit_error(request)

    empty, held = Driven(), stable()
    assert error(empty, -1) is error(empty, -1, "gone") is ErrorCode.NONE
    assert error(empty, 0) is error(empty, 0, "gone") is ErrorCode.UNKNOWN_MEMBER_ID
    assert error(held, -1) is error(held, 1, "c-1") is ErrorCode.NONE
    assert error(held, -1, "c-1") is error(held, 0, "c-1") is ErrorCode.ILLEGAL_GENERATION
    assert error(held, -1, "gone") is error(held, 1, "gone") is ErrorCode.UNKNOWN_MEMBER_ID


def test_topics_that_members_may_subscribe_to() -> None:
    """All that there are, where the subscriptions cannot be read; none, where the members are no consumers."""
    unreadable = Driven()
    unreadable.join(metadata=b"?")
    assert unreadable.group.is_subscribed_to("orders")
    unreadable.wait(3)
    assert unreadable.group.is_subscribed_to("orders")
    assert stable().group.is_subscribed_to("orders")
    assert not stable().group.is_subscribed_to("payments")
    others = Driven(value=replace(stable().values[0], protocol_type="connect"))
    assert not others.group.is_subscribed_to("orders")


def test_a_subscription_of_any_version_is_read_by_the_fields_of_the_first() -> None:
    """As Kafka's coordinator reads it: clients may leave out what a later version adds."""
    first = SUBSCRIPTION[2:]
    for version in (-1, 1, 3, 99):
        driven = Driven()
        driven.join(metadata=version.to_bytes(2, "big", signed=True) + first)
        driven.wait(3)
        assert driven.group.is_subscribed_to("orders")
        assert not driven.group.is_subscribed_to("payments")


def test_a_group_that_is_gone_answers_all_that_wait() -> None:
    driven = Driven()
    first = driven.join()
    driven.group.close(ErrorCode.NOT_COORDINATOR)
    driven.wait(0)
    assert driven.joined(first).error_code == ErrorCode.NOT_COORDINATOR
    assert driven.joined(driven.join()).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert driven.beat("c-1") is ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_bounded_members_that_only_get_ids() -> None:
    """The oldest ids are forgotten; their clients get another one, as after a session timeout."""
    driven = Driven(GroupSettings(most_pending=10))
    first = driven.joined(driven.join(version=4)).member_id
    for _ in range(1000):
        driven.join(version=4)
    assert (len(driven.group.roster.pending), len(driven.group.timers)) == (10, 10)
    assert driven.joined(driven.join(first, version=4)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_repeated_joins_answer_the_one_before() -> None:
    """Kafka leaves it without an answer; here its connection would wait forever."""
    driven = stable()
    first = driven.join("c-1")
    second = driven.join("c-1")
    assert driven.joined(first).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert second not in driven.answers
    driven.join("c-2")
    first, second = driven.sync("c-2"), driven.sync("c-2")
    answer = driven.answers[first]
    assert isinstance(answer, SyncGroupResponse)
    assert answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert second not in driven.answers


def test_ties_are_broken_in_the_order_of_javas_hash_map() -> None:
    """As a ``HashMap`` of these keys prints them."""
    names = ("roundrobin", "range", "sticky", "cooperative-sticky")
    assert in_java_order(dict.fromkeys(names, 1)) == ["sticky", "range", "roundrobin", "cooperative-sticky"]
    printed = (
        "p0 p7 p70 p91 p63 p84 p21 p98 p42 p56 p77 p112 p14 p133 p35 p49 p105 p126 p28 p119"  # two of a bucket too
    )
    assert in_java_order({f"p{number * 7}": 1 for number in range(20)}) == printed.split()


@pytest.mark.parametrize("state", [State.COMPLETING_REBALANCE, State.STABLE])
@pytest.mark.parametrize("metadata", [b"", SUBSCRIPTION + b"\0", b"\xff"])
def test_a_member_with_other_metadata_begins_a_rebalance(state: State, metadata: bytes) -> None:
    """Whichever of the two comes first in the order of bytes."""
    driven = stable()
    if state is State.COMPLETING_REBALANCE:
        for member_id in ("c-1", "c-2"):
            driven.join(member_id)
    assert driven.group.state is state
    same = driven.join("c-2")
    assert driven.joined(same).error_code == ErrorCode.NONE
    driven.join("c-2", metadata=metadata)
    assert driven.group.state is State.PREPARING_REBALANCE


@pytest.mark.parametrize(
    ("protocol_type", "protocol", "error"),
    [
        (None, None, ErrorCode.NONE),
        ("consumer", None, ErrorCode.NONE),
        ("consumer", "range", ErrorCode.NONE),
        ("connect", "range", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ("streams", "range", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ("consumer", "a", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (None, "roundrobin", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_a_sync_may_name_the_protocol_of_the_group(
    protocol_type: str | None, protocol: str | None, error: ErrorCode
) -> None:
    driven = stable()
    request = SyncGroupRequest("g", 1, "c-2", None, protocol_type, protocol)
    driven.group.sync(received(request, 5), 99, driven.now)
    answer = driven.group.outcome().answers[99]
    assert isinstance(answer, SyncGroupResponse)
    assert answer.error_code == error


@pytest.mark.parametrize("generation", [-1, 0, 1, 2])
def test_a_member_names_its_generation(generation: int) -> None:
    driven = stable()
    error = ErrorCode.NONE if generation == 1 else ErrorCode.ILLEGAL_GENERATION
    assert driven.group.heartbeat(HeartbeatRequest("g", generation, "c-1"), driven.now) is error
    request = TxnOffsetCommitRequest("t", "g", generation_id_or_member_epoch=generation, member_id="c-1")
    assert driven.group.transactional_commit_error(request) is error


def test_a_member_id_that_no_record_has_room_for_fails_the_sync() -> None:
    """It begins with a client id, which may be as long as the whole id in a record."""
    driven = Driven()
    driven.join()
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", SUBSCRIPTION),)
    request = JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", protocols)
    driven.group.join(Joining(request, 3, "c" * 32_767, "/h"), 99, driven.now)
    driven.wait(3)
    driven.wait(3)
    answer = driven.answers[driven.sync("c-1", {"c-1": b"\1"})]
    assert isinstance(answer, SyncGroupResponse)
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert not driven.values
    assert driven.group.state is State.PREPARING_REBALANCE


def test_the_first_member_of_a_group_that_had_others_waits_once() -> None:
    """A member that came in a later rebalance of these others is no newcomer for it."""
    driven = stable(members=1)
    driven.join()
    driven.join()
    driven.join("c-1")
    driven.sync("c-1", {})
    driven.leave(("c-1", None), ("c-2", None), ("c-3", None))
    assert driven.group.state is State.EMPTY
    first = driven.join()
    driven.wait(2.999)
    assert first not in driven.answers
    driven.wait(0.001)
    assert driven.joined(first).leader == "c-4"
