"""Members with the classic and with the consumer protocol in one group (KIP-848): both brokers answer alike."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pytest
from tests.interop.broker.same_answers.consumers import Consumer, coordinated, described
from tests.interop.broker.same_answers.members import Member, listed, settled
from tests.interop.broker.same_answers.scenario import (
    same_answers_from_brokers_with_policies,
    same_answers_from_plain_brokers,
    same_answers_from_upgrading_brokers,
)
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_consumer_groups import create, prompt

from kafkawire.protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
)
from kafkawire.records.consumer_protocol import decode_assignment, encode_assignment, encode_subscription

pytestmark = [pytest.mark.interop, pytest.mark.extended]

REBALANCE, UNKNOWN_MEMBER, ILLEGAL_GENERATION, INCONSISTENT, NOT_FOUND = 27, 25, 22, 23, 69
TOPIC = "cg-topic"


def subscription(owned: Iterable[int] = (), *topics: str, rack: str | None = None) -> bytes:
    """What a consumer subscribes to, and what it owns of the topic."""
    owns = (ConsumerProtocolSubscription.TopicPartition(TOPIC, tuple(owned)),) if owned else ()
    return encode_subscription(ConsumerProtocolSubscription(topics or (TOPIC,), None, owns, rack_id=rack), 3)


def share(*partitions: int, user_data: bytes | None = None) -> bytes:
    """What a leader assigns."""
    owned = (ConsumerProtocolAssignment.TopicPartition(TOPIC, partitions),)
    return encode_assignment(ConsumerProtocolAssignment(owned, user_data), 3)


def classic(talk: Talk, group: str, client: str = "c", instance_id: str | None = None, member_id: str = "") -> Member:
    return Member(talk.client(client), group, instance_id=instance_id, metadata=subscription(), member_id=member_id)


def stable(talk: Talk, group: str, *partitions: int, instance_id: str | None = None) -> Member:
    """The only member of a classic group, with partitions."""
    member = classic(talk, group, instance_id=instance_id)
    member.share = share(*partitions)
    assert not member.join().error_code
    assert not member.sync(member).error_code
    settled(talk, group, "Stable", 1)
    return member


def rejoin(member: Member) -> tuple[int, ...]:
    """Join again with what it owns, and take what it gets."""
    assert not member.join().error_code
    answer = member.sync()
    assert not answer.error_code
    assignment, _ = decode_assignment(answer.assignment)
    owned = tuple(sorted(partition for topic in assignment.assigned_partitions for partition in topic.partitions))
    member.metadata = subscription(owned)
    return owned


def seen(talk: Talk, group: str) -> None:
    """The group as administrators see it."""
    described(talk, group)
    listed(talk, group)
    for version in (5, 6):
        talk.ask(DescribeGroupsRequest((group,)), version, DescribeGroupsResponse)


@same_answers_from_plain_brokers
def test_a_classic_group_is_upgraded_and_downgraded(talk: Talk) -> None:
    create(talk, TOPIC, 4)
    group = "mixed-life"
    prompt(talk, group)
    old = stable(talk, group, 0, 1, 2, 3)
    old.commit(5)
    new = Consumer(talk, group, "member-b")
    new.join()
    seen(talk, group)
    new.fetch(member_id=None, epoch=-1)
    assert old.beat().error_code == REBALANCE
    assert old.sync().error_code == REBALANCE
    old.commit(6)
    old.metadata = subscription((0, 1, 2, 3))
    kept = rejoin(old)
    assert len(kept) == 2
    new.beat()
    assert not new.owned
    seen(talk, group)
    assert old.beat().error_code == REBALANCE
    assert rejoin(old) == kept
    old.beat()
    new.beat(reports=True)
    assert sum(map(len, new.owned.values())) == 2
    old.beat()
    seen(talk, group)
    old.commit(7)
    old.commit(8, generation=1)
    old.commit(9, version=8)
    old.beat(1)
    new.commit(10)
    new.leave()
    settled(talk, group, "PreparingRebalance", 1)
    seen(talk, group)
    assert old.beat().error_code == REBALANCE
    assert not old.join().error_code
    assert old.leads
    old.share = share(0, 1, 2, 3)
    old.sync(old)
    seen(talk, group)
    old.leave()
    seen(talk, group)


@same_answers_from_plain_brokers
def test_classic_members_join_consumer_groups(talk: Talk) -> None:
    create(talk, TOPIC, 4)
    group = "mixed-join"
    prompt(talk, group)
    new = Consumer(talk, group, "member-a")
    new.join()
    old = classic(talk, group)
    old.beat()
    old.sync()
    old.send_join()
    assert old.joined().member_id
    old.member_id = "old-a"
    for version in range(10):
        old.version = version
        assert not old.join().error_code
        old.beat()
        old.sync()
        old.sync()
    described(talk, group)
    new.beat(reports=True)
    old.beat()
    rejoin(old)
    seen(talk, group)
    old.beat(old.generation + 1)
    old.send_sync(protocol_type="connect")
    old.synced()
    old.send_sync(protocol="roundrobin")
    old.synced()
    as_consumer = Member(talk.client("c"), group, member_id="member-a", generation=new.epoch, protocol="range")
    as_consumer.beat()
    as_consumer.sync()
    stranger = Member(talk.client("c"), group, member_id="stranger", generation=2, protocol="range")
    stranger.beat()
    stranger.sync()
    stranger.leave()
    identity = LeaveGroupRequest.MemberIdentity
    leaving = (identity("stranger"), identity("", "one"), identity("old-a"), identity(""))
    talk.ask(LeaveGroupRequest(group, members=leaving), 5, LeaveGroupResponse)
    seen(talk, group)


@same_answers_from_plain_brokers
def test_joins_that_are_refused(talk: Talk) -> None:
    create(talk, TOPIC, 4)
    group = "mixed-refused"
    prompt(talk, group)
    Consumer(talk, group, "member-a").join()
    for protocols, protocol_type, metadata, session_ms in (
        (("range",), "connect", subscription(), 10_000),
        ((), "consumer", subscription(), 10_000),
        (("range",), "consumer", b"", 10_000),
        (("range",), "consumer", b"\0", 10_000),
        (("range",), "consumer", b"\xff\xff", 10_000),
        (("range",), "consumer", b"\0\1\0\0\0\7", 10_000),
        (("range",), "consumer", subscription(), 10),
    ):
        for member_id in ("", "old"):
            member = classic(talk, group, member_id=member_id)
            member.protocols, member.protocol_type, member.metadata = protocols, protocol_type, metadata
            member.send_join(session_ms)
            member.joined()
    first = classic(talk, group, member_id="old-a")
    first.protocols = ("range", "roundrobin")
    assert not first.join().error_code
    second = classic(talk, group, member_id="old-b")
    second.protocols = ("sticky",)
    assert second.join().error_code == INCONSISTENT
    second.protocols = ("sticky", "roundrobin")
    assert not second.join().error_code
    first.protocols = ("range",)
    assert first.join().error_code == INCONSISTENT
    described(talk, group)


@same_answers_from_plain_brokers
def test_groups_that_cannot_be_upgraded(talk: Talk) -> None:
    create(talk, TOPIC, 4)
    connect = Member(talk.client("c"), "mixed-connect", protocol_type="connect")
    prompt(talk, "mixed-connect")
    connect.join()
    Consumer(talk, "mixed-connect", "member-a").join()
    connect.beat()
    for number, (metadata, shared) in enumerate(
        (
            (subscription(), b"\0"),
            (subscription(), share(0, user_data=b"mine")),
            (b"\0", share(0)),
            (b"\xff\xff", share(0)),
        )
    ):
        group = f"mixed-not-{number}"
        prompt(talk, group)
        member = classic(talk, group)
        member.metadata, member.share = metadata, shared
        member.join()
        member.sync(member)
        Consumer(talk, group, "member-a").join()
        member.beat()
        talk.ask(DescribeGroupsRequest((group,)), 6, DescribeGroupsResponse)


@same_answers_from_plain_brokers
def test_static_members_change_their_protocol(talk: Talk) -> None:
    create(talk, TOPIC, 4)
    group = "mixed-static"
    prompt(talk, group)
    old = stable(talk, group, 0, 1, 2, 3, instance_id="one")
    new = Consumer(talk, group, "member-a", instance_id="one")
    new.join()
    seen(talk, group)
    old.beat()
    old.sync()
    old.commit(1)
    old.leave()
    new.beat(reports=True)
    back = classic(talk, group, instance_id="one")
    assert not back.join().error_code  # the only member: the group is a classic one again
    back.beat()
    back.sync()
    seen(talk, group)
    new.beat()
    other = Consumer(talk, group, "member-b", instance_id="two")
    other.join()
    back.beat()
    rejoin(back)
    other.beat()
    seen(talk, group)
    other.leave(-2)
    seen(talk, group)
    returned = classic(talk, group, "d", instance_id="two")
    returned.join()
    returned.beat()
    talk.ask(DescribeGroupsRequest((group,)), 6, DescribeGroupsResponse)


@same_answers_from_plain_brokers
def test_in_place_of_a_static_member_without_an_assignment_a_consumer_has_none_either(talk: Talk) -> None:
    """Its subscription is the one before, so nothing is assigned until something changes."""
    create(talk, TOPIC, 4)
    create(talk, "mixed-other", 1)
    group = "mixed-unassigned"
    prompt(talk, group)
    old = classic(talk, group, instance_id="one")
    assert not old.join().error_code
    new = Consumer(talk, group, "member-a", instance_id="one")
    new.join()
    seen(talk, group)
    for _ in range(3):
        time.sleep(0.3)
        new.beat(reports=True)
    assert not new.owned
    seen(talk, group)
    new.topics = (TOPIC, "mixed-other")
    new.send(new.full())
    assert new.owned
    seen(talk, group)


@same_answers_from_plain_brokers
def test_members_that_wait_in_a_classic_group_join_again(talk: Talk) -> None:
    create(talk, TOPIC, 4)
    group = "mixed-wait"
    prompt(talk, group)
    first = stable(talk, group, 0, 1)
    second = classic(talk, group, "d")
    second.metadata = subscription((), "none")  # else the members' random ids decide who gets which partition
    second.begin_join()
    settled(talk, group, "PreparingRebalance", 2)
    Consumer(talk, group, "member-a").join()
    assert second.joined().error_code == REBALANCE
    seen(talk, group)
    first.beat()
    second.generation = 1
    second.beat()
    group = "mixed-wait-sync"  # without a topic, for the same reason
    prompt(talk, group)
    first, second = (classic(talk, group, client) for client in "cd")
    first.metadata = second.metadata = subscription((), "none")
    first.share = share()
    first.join()
    first.sync(first)
    second.begin_join()
    settled(talk, group, "PreparingRebalance", 2)
    first.join()
    second.joined()
    second.send_sync()
    time.sleep(0.3)
    Consumer(talk, group, "member-a", topics=("none",)).join()
    assert second.synced().error_code == REBALANCE
    assert first.sync(first).error_code == REBALANCE
    described(talk, group)


@same_answers_from_plain_brokers
def test_only_classic_members_are_left(talk: Talk) -> None:
    create(talk, TOPIC, 4)
    group = "mixed-left"
    prompt(talk, group)
    new, other = (Consumer(talk, group, name) for name in ("member-a", "member-b"))
    new.join()
    other.join()
    first, second = (classic(talk, group, member_id=name) for name in ("old-a", "old-b"))
    for member in (first, second):
        member.protocols = ("range", "cooperative-sticky")
        assert not member.join().error_code
        member.sync()
    identity = LeaveGroupRequest.MemberIdentity
    new.leave()
    seen(talk, group)
    leaving = (identity("member-b"), identity("old-b"))
    talk.ask(LeaveGroupRequest(group, members=leaving), 5, LeaveGroupResponse)
    settled(talk, group, "PreparingRebalance", 1)
    seen(talk, group)
    first.beat()
    other.beat()
    Consumer(talk, group, "member-c").join()
    seen(talk, group)


@same_answers_from_upgrading_brokers
def test_a_group_whose_members_have_never_had_a_generation_is_not_upgraded(talk: Talk) -> None:
    coordinated(talk, "mixed-first")
    first = classic(talk, "mixed-first")
    first.begin_join()
    settled(talk, "mixed-first", "PreparingRebalance", 1)
    Consumer(talk, "mixed-first", "member-a").join()
    assert first.joined().error_code == REBALANCE
    first.beat()
    described(talk, "mixed-first")
    settled(talk, "mixed-first", "Empty", 0)


@same_answers_from_upgrading_brokers
def test_where_there_is_only_an_upgrade_consumer_groups_stay(talk: Talk) -> None:
    create(talk, TOPIC, 4)
    coordinated(talk, "mixed-up")
    old = stable(talk, "mixed-up", 0, 1, 2, 3)
    new = Consumer(talk, "mixed-up", "member-a")
    new.join()
    Consumer(talk, "mixed-up", "member-b").join()
    classic(talk, "mixed-up", "d", member_id="old-b").join()
    old.beat()
    new.leave()
    seen(talk, "mixed-up")
    old.beat()
    old.metadata = subscription((0, 1, 2, 3))
    rejoin(old)
    old.beat()
    seen(talk, "mixed-up")
    old.leave()
    seen(talk, "mixed-up")
    coordinated(talk, "mixed-full")
    members = [classic(talk, "mixed-full", client) for client in "cde"]
    for member in members:
        member.begin_join()
    for member in members:
        assert not member.joined().error_code
    Consumer(talk, "mixed-full", "member-a").join()


@same_answers_from_brokers_with_policies
def test_where_migration_is_disabled_members_do_not_mix(talk: Talk) -> None:
    coordinated(talk, "mixed-disabled")
    Consumer(talk, "mixed-disabled", "member-a", topics=("none",)).join()
    for member_id in ("", "old"):
        member = classic(talk, "mixed-disabled", member_id=member_id)
        assert member.join().error_code == INCONSISTENT
    coordinated(talk, "mixed-old")
    old = stable(talk, "mixed-old", 0, 1)
    assert Consumer(talk, "mixed-old", "member-a").join().error_code == NOT_FOUND
    old.beat()
    seen(talk, "mixed-old")
