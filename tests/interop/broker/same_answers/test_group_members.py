"""Members of classic groups: they join, sync, send heartbeats, commit and leave, in all versions and out of turn."""

from __future__ import annotations

import time

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.members import SUBSCRIPTION, Member, listed, settled
from tests.interop.broker.same_answers.scenario import (
    same_answers_from_brokers_with_policies,
    same_answers_from_plain_brokers,
    same_answers_from_secure_brokers,
)
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_groups import commit, coordinated, delete_offsets, describe, fetch, topic_of

from kafkawire.protocol import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    ListGroupsRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)

pytestmark = pytest.mark.interop

ILLEGAL_GENERATION, UNKNOWN_MEMBER, REBALANCE, FENCED = 22, 25, 27, 82
MEMBER = LeaveGroupRequest.MemberIdentity
PROTOCOL = JoinGroupRequest.JoinGroupRequestProtocol


@same_answers_from_plain_brokers
def test_a_member_in_every_version(talk: Talk) -> None:
    for version in range(10):
        group = f"gm-life-{version}"
        coordinated(talk, group)
        member = Member(talk.client(f"c{version}"), group, version)
        assert not member.join().error_code
        settled(talk, group, "CompletingRebalance", 1)
        describe(talk, group)
        assert not member.sync(member).error_code
        member.sync(member)
        member.beat()
        describe(talk, group)
        assert not member.join().error_code  # the leader: another generation
        assert member.generation == 2
        member.beat()
        member.sync()
        member.sync()
        member.leave()
        member.leave()
        member.beat()
        describe(talk, group)
        member.sync()


@same_answers_from_plain_brokers
def test_requests_out_of_turn(talk: Talk) -> None:
    coordinated(talk, "gm-none", "gm-turn")
    stranger = Member(talk.client("c"), "gm-none", member_id="m", generation=1, protocol="range")
    for version in range(10):
        stranger.version = version
        stranger.send_join()
        stranger.joined()
        stranger.sync()
        stranger.beat()
        stranger.leave()
    describe(talk, "gm-none")
    member = Member(talk.client("c"), "gm-turn")
    assert not member.join().error_code
    stranger.group = "gm-turn"
    for version in range(10):
        stranger.version = version
        stranger.send_join()
        stranger.joined()
        stranger.sync()
        stranger.beat()
        stranger.leave()
    member.beat(7)
    member.beat(-1)
    member.generation = 7
    assert member.sync().error_code == ILLEGAL_GENERATION
    member.generation = 1
    for names in (("connect", "range"), ("consumer", "roundrobin")):
        member.send_sync(protocol_type=names[0], protocol=names[1])
        member.synced()
    describe(talk, "gm-turn")


@same_answers_from_plain_brokers
def test_joins_that_are_refused(talk: Talk) -> None:
    coordinated(talk, "gm-refused")
    client = talk.client("c")
    for version in range(10):
        for group, session_ms, protocol_type, protocols in (
            ("", 10_000, "consumer", (PROTOCOL("range"),)),
            ("gm-refused", 5999, "consumer", (PROTOCOL("range"),)),
            ("gm-refused", 1_800_001, "consumer", (PROTOCOL("range"),)),
            ("gm-refused", 10_000, "", (PROTOCOL("range"),)),
            ("gm-refused", 10_000, "consumer", ()),
        ):
            request = JoinGroupRequest(group, session_ms, 10_000, "", None, protocol_type, protocols)
            client.ask(request, version, JoinGroupResponse)
    describe(talk, "gm-refused")
    member = Member(client, "gm-refused")
    assert not member.join().error_code
    for protocols in ((), (PROTOCOL("roundrobin"),)):
        request = JoinGroupRequest("gm-refused", 10_000, 10_000, "", None, "consumer", protocols)
        client.ask(request, 9, JoinGroupResponse)
    request = JoinGroupRequest("gm-refused", 10_000, 10_000, "", None, "connect", (PROTOCOL("range"),))
    client.ask(request, 9, JoinGroupResponse)
    pending = Member(talk.client("p"), "gm-refused")
    pending.send_join()
    pending.joined()
    pending.instance_id = "static"
    pending.send_join()
    pending.joined()


@same_answers_from_plain_brokers
def test_requests_for_no_group(talk: Talk) -> None:
    client = talk.client("c")
    for version in range(6):
        names = ("consumer", "range") if version >= 5 else (None, None)
        client.ask(SyncGroupRequest("", 1, "m", None, *names), version, SyncGroupResponse)
        client.ask(SyncGroupRequest("gm-no", 1, "m", None, *names), version, SyncGroupResponse)
        identities = (MEMBER("m"), MEMBER("", "i"), MEMBER("", None)) if version >= 3 else ()
        for group in ("", "gm-no"):
            request = LeaveGroupRequest(group, "m" if version < 3 else "", identities)
            client.ask(request, version, LeaveGroupResponse)
    client.ask(SyncGroupRequest("gm-no", 1, "m"), 5, SyncGroupResponse)
    for version in range(5):
        client.ask(HeartbeatRequest("", 1, "m"), version, HeartbeatResponse)
        client.ask(HeartbeatRequest("gm-no", 1, "m"), version, HeartbeatResponse)


@same_answers_from_plain_brokers
def test_two_members_rebalance(talk: Talk) -> None:
    topic_of(talk, "gm-topic")
    coordinated(talk, "gm-two")
    first, second = (Member(talk.client(name), "gm-two", protocols=("range", "roundrobin")) for name in "ab")
    assert not first.join().error_code
    assert first.commit(1).topics[0].partitions[0].error_code == REBALANCE
    first.sync(first)
    first.commit(2)
    second.begin_join()
    settled(talk, "gm-two", "PreparingRebalance", 2)
    describe(talk, "gm-two")
    assert first.beat().error_code == REBALANCE
    assert first.sync().error_code == REBALANCE
    first.commit(3)
    first.send_join()
    assert not first.joined().error_code
    assert not second.joined().error_code
    assert (first.leads, second.leads, first.generation) == (True, False, 2)
    second.send_sync()
    settled(talk, "gm-two", "CompletingRebalance", 2)
    first.beat()
    first.sync(first, second)
    assert second.synced().assignment == b"for 1"
    describe(talk, "gm-two")
    second.send_join()  # nothing has changed, so the generation is the same
    second.joined()
    second.sync()
    second.beat(1)
    second.commit(4, generation=1)
    fetch(talk, "gm-two", None)
    second.protocols = ("roundrobin", "range")
    second.send_join()
    settled(talk, "gm-two", "PreparingRebalance", 2)
    second_again = Member(talk.client("c"), "gm-two", member_id=second.member_id, generation=2, protocol="range")
    second_again.beat()
    first.leave()
    assert not second.joined().error_code
    assert second.leads
    second.sync(second)
    second.leave()
    describe(talk, "gm-two")
    commit(talk, "gm-two", ("gm-topic", 0, 9))


@same_answers_from_plain_brokers
def test_members_vote_for_a_protocol(talk: Talk) -> None:
    """Names of one bucket of Java's hash table are left out: there the members' random ids decide."""
    for number, votes in enumerate(
        (
            (("range", "roundrobin"), ("roundrobin", "range")),
            (("cooperative-sticky", "range"), ("range", "cooperative-sticky")),
            (("sticky", "range", "y"), ("y", "sticky")),
            (("a", "b", "c", "d"), ("d", "c", "b", "a"), ("c", "d", "a", "b")),
            (("x1", "x2", "x3", "x4"), ("x4", "x2", "x3", "x1"), ("x3", "x2", "x1", "x4"), ("x2", "x1", "x3", "x4")),
        )
    ):
        group = f"gm-vote-{number}"
        coordinated(talk, group)
        members = [Member(talk.client(f"c{at}"), group, protocols=names) for at, names in enumerate(votes)]
        assert not members[0].join().error_code
        for at, member in enumerate(members[1:], 2):
            member.begin_join()
            settled(talk, group, "PreparingRebalance", at)
        members[0].send_join()
        for member in members:
            assert not member.joined().error_code


@same_answers_from_plain_brokers
def test_a_member_that_joins_in_the_middle_of_a_rebalance_starts_another(talk: Talk) -> None:
    coordinated(talk, "gm-middle")
    first, second, third = (Member(talk.client(name), "gm-middle") for name in "abc")
    first.join()
    first.sync(first)
    second.begin_join()
    settled(talk, "gm-middle", "PreparingRebalance", 2)
    first.join()
    second.joined()
    second.send_sync()
    settled(talk, "gm-middle", "CompletingRebalance", 2)
    third.begin_join()
    assert second.synced().error_code == REBALANCE
    settled(talk, "gm-middle", "PreparingRebalance", 3)
    second.send_join()
    settled(talk, "gm-middle", "PreparingRebalance", 3)
    first.join()
    second.joined()
    third.joined()
    assert (first.generation, third.generation) == (3, 3)
    third.metadata += b"more"
    third.send_join()
    settled(talk, "gm-middle", "PreparingRebalance", 3)
    second.leave()
    first.join()
    third.joined()
    describe(talk, "gm-middle")


@same_answers_from_plain_brokers
def test_offsets_of_topics_are_deleted_unless_members_subscribe_to_them(talk: Talk) -> None:
    """The coordinator reads the fields that subscriptions of all versions begin with."""
    topic_of(talk, "gm-topic")
    topic_of(talk, "gm-other")
    fields = SUBSCRIPTION[2:-4]  # without the owned partitions, which version 1 adds
    for version, rest in ((0, fields), (1, fields), (3, fields), (-1, fields), (99, fields), (1, b"\0"), (1, b"")):
        group = f"gm-subscribed-{version}-{len(rest)}"
        coordinated(talk, group)
        commit(talk, group, ("gm-topic", 0, 1), ("gm-other", 0, 1))
        member = Member(talk.client("a"), group, metadata=version.to_bytes(2, "big", signed=True) + rest)
        member.join()
        member.sync(member)
        delete_offsets(talk, group, {"gm-topic": (0,), "gm-other": (0,)})
        member.leave()


@same_answers_from_plain_brokers
def test_static_members_return(talk: Talk) -> None:
    for version in range(5, 10):
        group = f"gm-static-{version}"
        coordinated(talk, group)
        first = Member(talk.client("a"), group, version, "one")
        second = Member(talk.client("b"), group, version, "two")
        assert not first.join().error_code
        first.sync(first)
        second.begin_join()
        settled(talk, group, "PreparingRebalance", 2)
        first.join()
        second.joined()
        second.send_sync()
        settled(talk, group, "CompletingRebalance", 2)
        first.sync(first, second)
        second.synced()
        describe(talk, group)
        for member in (second, first):
            back = Member(talk.client("again"), group, version, member.instance_id, generation=2, protocol="range")
            assert not back.join().error_code
            assert back.generation == 2
            assert member.beat().error_code == FENCED
            member.sync()
            member.commit(1)
            member.leave()
            member.send_join()
            member.joined()
            back.sync()
            back.beat()
        describe(talk, group)
        identities = (MEMBER("", "one"), MEMBER("", "three"), MEMBER("stranger", "two"), MEMBER("stranger", None))
        talk.ask(LeaveGroupRequest(group, members=identities), 5, LeaveGroupResponse)
        settled(talk, group, "PreparingRebalance", 1)
        talk.ask(LeaveGroupRequest(group, members=(MEMBER("", "two"),)), 4, LeaveGroupResponse)
        describe(talk, group)


@same_answers_from_plain_brokers
def test_a_static_member_that_changes_the_protocol_rebalances(talk: Talk) -> None:
    coordinated(talk, "gm-change")
    member = Member(talk.client("a"), "gm-change", instance_id="one", protocols=("range", "roundrobin"))
    member.join()
    member.sync(member)
    back = Member(talk.client("a"), "gm-change", instance_id="one", protocols=("roundrobin", "range"))
    assert back.join().protocol_name == "roundrobin"
    assert back.generation == 2
    other = Member(talk.client("a"), "gm-change", instance_id="one", protocols=("roundrobin", "range"))
    other.join()  # before the old one has synced
    back.sync()
    other.sync(other)
    describe(talk, "gm-change")


@same_answers_from_plain_brokers
def test_groups_with_members_are_kept(talk: Talk) -> None:
    topic_of(talk, "gm-kept")
    for group, protocol_type in (("gm-kept-a", "consumer"), ("gm-kept-b", "connect")):
        coordinated(talk, group)
        member = Member(talk.client("a"), group, protocol_type=protocol_type)
        member.join()
        for state in ("CompletingRebalance", "Stable"):
            settled(talk, group, state, 1)
            talk.ask(DeleteGroupsRequest((group,)), 2, DeleteGroupsResponse)
            delete_offsets(talk, group, {"gm-topic": (0,), "gm-kept": (0, 7)})
            commit(talk, group, ("gm-kept", 0, 1))
            commit(talk, group, ("gm-kept", 0, 1), version=2)
            for version in range(2, 10):
                member.commit(version, version=version)
            describe(talk, group)
            for states in (("Stable",), ("completingrebalance ",), ("Empty",)):
                listed(talk, group, ListGroupsRequest(states))
            if state == "CompletingRebalance":
                member.sync(member)
        member.leave()
        delete_offsets(talk, group, {"gm-topic": (0,), "gm-kept": (0,)})
        talk.ask(DeleteGroupsRequest((group,)), 2, DeleteGroupsResponse)
        describe(talk, group)


@same_answers_from_secure_brokers
def test_members_without_rights(talk: Talk) -> None:
    coordinated(talk, "gm-secret")
    with talk.logged_in(USER, PASSWORDS[USER]):
        for version in range(10):
            join = JoinGroupRequest("gm-secret", 10_000, 10_000, "", None, "consumer", (PROTOCOL("range"),))
            talk.ask(join, version, JoinGroupResponse)
        for version in range(6):
            names = ("consumer", "range") if version >= 5 else (None, None)
            talk.ask(SyncGroupRequest("gm-secret", 1, "m", None, *names), version, SyncGroupResponse)
            talk.ask(SyncGroupRequest("gm-secret", 1, "m"), version, SyncGroupResponse)
            identities = (MEMBER("m"),) if version >= 3 else ()
            talk.ask(
                LeaveGroupRequest("gm-secret", "m" if version < 3 else "", identities), version, LeaveGroupResponse
            )
        for version in range(5):
            talk.ask(HeartbeatRequest("gm-secret", 1, "m"), version, HeartbeatResponse)


@same_answers_from_brokers_with_policies
def test_groups_of_two_members_at_most(talk: Talk) -> None:
    coordinated(talk, "gm-full")
    members = [Member(talk.client(name), "gm-full") for name in "abc"]
    for member in members:
        member.send_join()
        member.joined()
    for count, member in enumerate(members[:2], 1):
        member.send_join()
        settled(talk, "gm-full", "PreparingRebalance", count)
    members[2].send_join()
    members[2].joined()
    members[2].member_id = ""
    members[2].send_join()
    members[2].joined()
    for member in members[:2]:
        assert not member.joined().error_code
    for version in (0, 9):
        late = Member(talk.client("d"), "gm-full", version)
        late.send_join()
        late.joined()
    describe(talk, "gm-full")


@same_answers_from_brokers_with_policies
@pytest.mark.extended
def test_times_of_members(talk: Talk) -> None:
    """Sessions end without heartbeats, ids that no client uses are forgotten, and a rebalance waits so long."""
    coordinated(talk, "gm-time")
    first, second = (Member(talk.client(name), "gm-time") for name in "ab")
    first.send_join(session_ms=300)
    first.joined()
    time.sleep(0.8)
    first.send_join()
    assert first.joined().error_code == UNKNOWN_MEMBER
    first.member_id = ""
    first.begin_join()
    assert not first.joined().error_code
    first.sync(first)
    second.send_join(session_ms=60_000, rebalance_ms=1000)
    second.joined()
    second.send_join(session_ms=60_000, rebalance_ms=1000)
    settled(talk, "gm-time", "PreparingRebalance", 2)
    first.send_join(session_ms=400, rebalance_ms=1000)
    first.joined()
    second.joined()
    second.send_sync()  # and the first is silent from now on: its session ends, and the second joins alone
    assert second.synced().error_code == REBALANCE
    second.send_join(session_ms=60_000, rebalance_ms=500)
    assert not second.joined().error_code
    settled(talk, "gm-time", "CompletingRebalance", 1)
    settled(talk, "gm-time", "Empty", 0)  # it has not synced within its rebalance timeout
    describe(talk, "gm-time")
    third = Member(talk.client("c"), "gm-time", instance_id="one")
    third.send_join(session_ms=60_000, rebalance_ms=500)
    third.joined()
    third.sync(third)
    fourth = Member(talk.client("d"), "gm-time")
    fourth.begin_join()
    settled(talk, "gm-time", "PreparingRebalance", 2)
    time.sleep(0.1)
    third.beat()
    identities = (MEMBER(fourth.member_id),)
    talk.ask(LeaveGroupRequest("gm-time", members=identities), 5, LeaveGroupResponse)
    assert fourth.joined().error_code == UNKNOWN_MEMBER
    settled(talk, "gm-time", "PreparingRebalance", 1)
    describe(talk, "gm-time")
