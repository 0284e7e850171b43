"""A classic group by itself: what it does over time, and with members that want too much."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from kafkawire.broker.groups.classic.group import ClassicGroup, Joining
from kafkawire.broker.groups.classic.rebalance import Now
from kafkawire.broker.groups.classic.roster import in_java_order
from kafkawire.broker.groups.classic.settings import NEW_MEMBER_TIMEOUT, GroupSettings
from kafkawire.broker.groups.classic.states import State
from kafkawire.protocol import (
    ConsumerProtocolSubscription,
    GroupMetadataValue,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.consumer_protocol import encode_subscription
from kafkawire.wire import Message

SUBSCRIPTION = encode_subscription(ConsumerProtocolSubscription(("orders",)), 0)


class Driven:
    """A group at a time that tests move.

    Attributes:
        answers: all answers by ticket.
        values: the records in order.
    """

    def __init__(self, settings: GroupSettings | None = None, value: GroupMetadataValue | None = None) -> None:
        self.seconds = 0.0
        self.answers: dict[int, Message] = {}
        self.values: list[GroupMetadataValue] = []
        self._numbers = itertools.count(1)
        self._tickets = itertools.count()
        self.group = ClassicGroup("g", value, settings or GroupSettings(), self.now, lambda: str(next(self._numbers)))

    @property
    def now(self) -> Now:
        return Now(self.seconds, round(self.seconds * 1000))

    def join(
        self,
        member_id: str = "",
        *,
        version: int = 3,
        instance_id: str | None = None,
        metadata: bytes = SUBSCRIPTION,
        rebalance_ms: int = 20_000,
        session_ms: int = 10_000,
    ) -> int:
        protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", metadata),)
        who = (member_id, instance_id, "consumer", protocols)
        ticket = next(self._tickets)
        request = JoinGroupRequest("g", session_ms, rebalance_ms, *who)
        self.group.join(Joining(request, version, "c", "/127.0.0.1"), ticket, self.now)
        self._take()
        return ticket

    def joined(self, ticket: int) -> JoinGroupResponse:
        answer = self.answers[ticket]
        assert isinstance(answer, JoinGroupResponse)
        return answer

    def sync(self, member_id: str, assignments: Mapping[str, bytes] | None = None) -> int:
        given = (SyncGroupRequest.SyncGroupRequestAssignment(*each) for each in (assignments or {}).items())
        request = SyncGroupRequest("g", self.group.generation, member_id, assignments=tuple(given))
        ticket = next(self._tickets)
        self.group.sync(request, ticket, self.now)
        self._take()
        return ticket

    def beat(self, member_id: str) -> ErrorCode:
        return self.group.heartbeat(HeartbeatRequest("g", self.group.generation, member_id), self.now)

    def wait(self, seconds: float) -> None:
        self.seconds += seconds
        self.group.expire(self.now)
        self._take()

    def leave(self, *members: tuple[str, str | None]) -> Sequence[LeaveGroupResponse.MemberResponse]:
        results = self.group.leave([LeaveGroupRequest.MemberIdentity(*each) for each in members], self.now)
        self._take()
        return results

    def _take(self) -> None:
        answers, value = self.group.outcome()
        self.answers.update(answers)
        self.values += [] if value is None else [value]


def stable(*, members: int = 2) -> Driven:
    """A group with members c-1, c-2 and so on; the first leads."""
    driven = Driven()
    for _ in range(members):
        driven.join()
    driven.wait(3)
    driven.wait(3)
    driven.sync("c-1", {f"c-{number}": bytes([number]) for number in range(1, members + 1)})
    for number in range(2, members + 1):
        driven.sync(f"c-{number}")
    assert driven.group.state is State.STABLE
    return driven


def test_the_first_members_wait_for_more_as_long_as_more_come() -> None:
    driven = Driven()
    first = driven.join(rebalance_ms=10_000)
    for _ in range(3):
        driven.wait(2.9)
        driven.join(rebalance_ms=10_000)
        driven.wait(0.1)
        assert first not in driven.answers
    driven.wait(1)
    assert len(driven.joined(first).members) == 4, "not longer than the rebalance timeout"


def test_one_member_waits_once() -> None:
    driven = Driven()
    first = driven.join()
    driven.wait(3)
    assert driven.joined(first).generation_id == 1


def test_a_new_member_that_nobody_waits_for_is_forgotten_after_five_minutes() -> None:
    driven = stable(members=1)
    driven.group.roster.members["c-1"].session_timeout_ms = 1_000_000
    driven.beat("c-1")
    late = driven.join(rebalance_ms=1_000_000)
    driven.group.roster.members["c-1"].rebalance_timeout_ms = 1_000_000
    driven.wait(NEW_MEMBER_TIMEOUT)
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
    assert again not in driven.answers
    driven.wait(0.4)
    assert [each.member_id for each in driven.joined(again).members] == ["c-1"]


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
    driven.wait(3)
    driven.sync("one-1", {})
    driven.sync("two-2")
    driven.group.leave([LeaveGroupRequest.MemberIdentity("", "two")], driven.now)
    checks = 0
    while driven.group.roster.members:
        driven.wait(driven.group.timers.look_at - driven.seconds)
        checks += 1
    assert checks <= 11
    assert driven.group.state is State.EMPTY


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


def test_a_recorded_leader_leads() -> None:
    loaded = Driven(value=replace(stable().values[0], leader="c-2"))
    follower = loaded.joined(loaded.join("c-1"))
    assert (follower.leader, follower.members, follower.generation_id) == ("c-2", (), 1)
    loaded.join("c-2")
    assert loaded.group.state is State.PREPARING_REBALANCE


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


def test_a_recorded_group_that_is_larger_than_the_limit_rebalances() -> None:
    loaded = Driven(GroupSettings(most_members=1), stable().values[0])
    assert loaded.group.state is State.PREPARING_REBALANCE
    first = loaded.join("c-2")
    late = loaded.joined(loaded.join("c-1"))
    assert late.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    loaded.wait(20)
    assert [each.member_id for each in loaded.joined(first).members] == ["c-2"]


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
    results = driven.leave(("c-2", None), ("nobody", None), ("", "one"))
    assert [result.error_code for result in results] == [0, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.UNKNOWN_MEMBER_ID]
    assert driven.joined(again).generation_id == 2


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


def test_commits_of_members_and_of_others() -> None:
    def error(driven: Driven, generation: int, member_id: str = "") -> ErrorCode:
        return driven.group.commit(OffsetCommitRequest("g", generation, member_id), driven.now)

    empty, held = Driven(), stable()
    assert error(empty, -1) is ErrorCode.NONE
    assert error(empty, 0) is ErrorCode.UNKNOWN_MEMBER_ID
    assert error(held, -1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert error(held, 0, "c-1") is ErrorCode.ILLEGAL_GENERATION
    assert error(held, -1, "c-1") is ErrorCode.ILLEGAL_GENERATION
    for _ in range(3):
        held.wait(9)
        assert error(held, 1, "c-1") is ErrorCode.NONE
        held.beat("c-2")
    assert len(held.group.roster.members) == 2, "a commit is a sign of life"


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


def test_ties_are_broken_in_the_order_of_javas_hash_map() -> None:
    """As a ``HashMap`` of these keys prints them."""
    names = ("roundrobin", "range", "sticky", "cooperative-sticky")
    assert in_java_order(dict.fromkeys(names, 1)) == ["sticky", "range", "roundrobin", "cooperative-sticky"]
    printed = (
        "p0 p7 p70 p91 p63 p84 p21 p98 p42 p56 p77 p112 p14 p133 p35 p49 p105 p126 p28 p119"  # two of a bucket too
    )
    assert in_java_order({f"p{number * 7}": 1 for number in range(20)}) == printed.split()
