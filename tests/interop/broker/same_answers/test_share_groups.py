"""Share groups (KIP-932): heartbeats, assignments, offsets and administration are answered as by Apache Kafka."""

from __future__ import annotations

import time
from dataclasses import replace as copied

import pytest
from msgspec.structs import replace
from tests.interop.broker.same_answers.consumers import Consumer, coordinated, described
from tests.interop.broker.same_answers.members import Member, listed
from tests.interop.broker.same_answers.scenario import (
    same_answers_from_brokers_with_policies,
    same_answers_from_plain_brokers,
)
from tests.interop.broker.same_answers.sharers import (
    Sharer,
    alter,
    delete,
    described_share,
    offsets_of,
    until_initialized,
)
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_consumer_groups import create, prompt, until
from tests.interop.broker.same_answers.test_transactions import (
    add_offsets,
    begin,
    commit_offsets,
    end,
    find_coordinator,
)

from kafkawire.protocol import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    ListGroupsRequest,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    ShareGroupHeartbeatRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)

pytestmark = pytest.mark.interop

ONE = ("sg-one",)
"""A topic with one partition; of others, the random ids of topics decide which member has which of the partitions."""


@same_answers_from_plain_brokers
def test_requests_that_are_not_valid(talk: Talk) -> None:
    coordinated(talk, "sg-invalid")
    good = ShareGroupHeartbeatRequest("sg-invalid", "m", 0, None, ("sg-topic",))
    for bad in (
        replace(good, group_id=""),
        replace(good, group_id=" "),
        replace(good, member_id=""),
        replace(good, member_id=" "),
        replace(good, member_id="m" * 37),
        replace(good, rack_id=""),
        replace(good, subscribed_topic_names=None),
        replace(good, subscribed_topic_names=()),
        replace(good, member_epoch=-2),
        replace(good, member_epoch=1),
        replace(good, member_epoch=-1),
    ):
        talk.tell(bad, 1)
    described_share(talk, "sg-invalid", "", "sg-unknown")
    alter(talk, "", ("sg-topic", {0: 0}))
    delete(talk, "", "sg-topic")
    delete(talk, "sg-unknown", "sg-topic")


@same_answers_from_plain_brokers
def test_members_come_share_and_go(talk: Talk) -> None:
    create(talk, "sg-one", 1)
    prompt(talk, "sg-life", "share")
    first, second, third = (Sharer(talk, "sg-life", name, ONE) for name in ("member-b", "member-a", "member-c"))
    first.join()
    until_initialized(talk, "sg-life", 1)
    described_share(talk, "sg-life")
    first.beat()
    first.beat()
    described_share(talk, "sg-life")
    second.join()
    described_share(talk, "sg-life")
    first.beat()
    described_share(talk, "sg-life")
    third.join()
    fourth = Sharer(talk, "sg-life", "member-d", ONE)
    fourth.join()
    for _ in range(2):
        for member in (first, second, third, fourth):
            member.beat()
    described_share(talk, "sg-life")
    third.join()
    first.leave()
    described_share(talk, "sg-life")
    for member in (second, third, fourth):
        member.beat()
    described_share(talk, "sg-life")
    listed(talk, "sg-life", ListGroupsRequest((), ("Share",)))
    listed(talk, "sg-life", ListGroupsRequest(("Stable",), ("share", "consumer")))
    talk.ask(DeleteGroupsRequest(("sg-life",)), 2, DeleteGroupsResponse)
    for member in (second, third, fourth):
        member.leave()
    fourth.leave()
    described_share(talk, "sg-life")
    talk.ask(DeleteGroupsRequest(("sg-life",)), 2, DeleteGroupsResponse)
    described_share(talk, "sg-life")
    offsets_of(talk, "sg-life")
    talk.ask(DeleteGroupsRequest(("sg-life",)), 2, DeleteGroupsResponse)


@same_answers_from_plain_brokers
def test_target_assignments_wait(talk: Talk) -> None:
    create(talk, "sg-topic", 3)
    prompt(talk, "sg-waits", "share", share_assignment_interval_ms="15000")
    first, second = (Sharer(talk, "sg-waits", name) for name in ("member-a", "member-b"))
    first.join()
    until_initialized(talk, "sg-waits", 3)
    second.join()
    first.beat()
    described_share(talk, "sg-waits")
    first.leave()
    second.leave()


@same_answers_from_plain_brokers
def test_epochs_fence(talk: Talk) -> None:
    create(talk, "sg-one", 1)
    prompt(talk, "sg-fenced", "share", share_heartbeat_interval_ms="7000")
    member, other = Sharer(talk, "sg-fenced", "member-a", ONE), Sharer(talk, "sg-fenced", "member-b", ONE)
    member.beat()
    member.join()
    until_initialized(talk, "sg-fenced", 1)
    other.epoch = 1
    other.beat()
    for epoch in (1, 2, 3, 7):
        copied(member, epoch=epoch).beat()
    before = copied(member)
    member.beat()
    other.join()
    member.beat()
    before.beat()
    copied(before, epoch=1).beat()
    copied(before, epoch=2).beat()
    copied(before, epoch=3).beat()
    copied(before, epoch=99).beat()
    member.join()
    member.send(replace(member.short(), rack_id="here"))
    described_share(talk, "sg-fenced")
    copied(other, member_id="stranger").leave()
    other.leave()
    other.leave()
    member.leave()


@same_answers_from_plain_brokers
def test_subscriptions_change(talk: Talk) -> None:
    create(talk, "sg-topic", 3)
    create(talk, "sg-other", 1)
    prompt(talk, "sg-changes", "share")
    first = Sharer(talk, "sg-changes", "member-a")
    second = Sharer(talk, "sg-changes", "member-b", topics=("sg-other", "sg-missing"))
    first.join()
    until_initialized(talk, "sg-changes", 3)
    second.join()
    until_initialized(talk, "sg-changes", 4)
    for _ in range(2):
        first.beat()
        second.beat()
    described_share(talk, "sg-changes")
    second.subscribe("sg-topic", "sg-other")
    for _ in range(2):
        first.beat()
        second.beat()
    described_share(talk, "sg-changes")
    first.subscribe("sg-missing")
    first.beat()
    second.beat()
    described_share(talk, "sg-changes")
    first.subscribe()
    second.subscribe("sg-topic")
    for _ in range(2):
        first.beat()
        second.beat()
    described_share(talk, "sg-changes")
    offsets_of(talk, "sg-changes")
    first.leave()
    second.leave()


@same_answers_from_plain_brokers
def test_topics_come_grow_and_go(talk: Talk) -> None:
    prompt(talk, "sg-topics", "share")
    member = Sharer(talk, "sg-topics", "member-a", topics=("sg-grows",))
    member.join()
    described_share(talk, "sg-topics")
    create(talk, "sg-grows", 2)
    time.sleep(0.2)
    member.beat()
    until_initialized(talk, "sg-topics", 2)
    member.beat()
    described_share(talk, "sg-topics")
    grown = CreatePartitionsRequest.CreatePartitionsTopic("sg-grows", 3, None)
    talk.ask(CreatePartitionsRequest((grown,), 10_000), 3, CreatePartitionsResponse)
    until(talk, "sg-grows", 3)
    time.sleep(0.2)
    member.beat()
    until_initialized(talk, "sg-topics", 3)
    member.beat()
    described_share(talk, "sg-topics")
    topic = DeleteTopicsRequest.DeleteTopicState("sg-grows")
    talk.ask(DeleteTopicsRequest((topic,), timeout_ms=10_000), 6, DeleteTopicsResponse)
    until(talk, "sg-grows", 0)
    until_initialized(talk, "sg-topics", 0)
    time.sleep(0.2)
    member.beat()
    member.beat()
    described_share(talk, "sg-topics")
    member.leave()


@same_answers_from_plain_brokers
def test_offsets_are_described_altered_and_deleted(talk: Talk) -> None:
    create(talk, "sg-topic", 3)
    create(talk, "sg-other", 1)
    prompt(talk, "sg-offsets", "share")
    offsets_of(talk, "sg-offsets")
    member = Sharer(talk, "sg-offsets", "member-a")
    member.join()
    until_initialized(talk, "sg-offsets", 3)
    for version in (0, 1):
        offsets_of(talk, "sg-offsets", ("sg-topic", (2, 0)), ("sg-missing", (0,)), ("sg-other", (0,)), version=version)
    alter(talk, "sg-offsets", ("sg-topic", {0: 0}))
    delete(talk, "sg-offsets", "sg-topic")
    member.leave()
    alter(talk, "sg-offsets", ("sg-topic", {0: 0, 5: 0}), ("sg-missing", {0: 0}), ("sg-other", {}))
    time.sleep(0.3)
    offsets_of(talk, "sg-offsets")
    alter(talk, "sg-offsets", ("sg-topic", {1: 0}), ("sg-other", {0: 0}))
    until_initialized(talk, "sg-offsets", 4)
    delete(talk, "sg-offsets", "sg-missing", "sg-topic")
    delete(talk, "sg-offsets", "sg-topic")
    delete(talk, "sg-offsets")
    offsets_of(talk, "sg-offsets")
    offsets_of(talk, "sg-offsets", ("sg-topic", (0,)), ("sg-other", (0,)))
    described_share(talk, "sg-offsets")
    alter(talk, "sg-offsets")
    talk.ask(DeleteGroupsRequest(("sg-offsets", "sg-unknown")), 2, DeleteGroupsResponse)
    offsets_of(talk, "sg-offsets", ("sg-other", (0,)))


@same_answers_from_plain_brokers
def test_a_group_begins_with_its_offsets(talk: Talk) -> None:
    create(talk, "sg-topic", 3)
    prompt(talk, "sg-begins", "share")
    alter(talk, "sg-begins", ("sg-missing", {0: 0}))
    described_share(talk, "sg-begins")
    alter(talk, "sg-begins", ("sg-topic", {0: 0}))
    until_initialized(talk, "sg-begins", 1)
    described_share(talk, "sg-begins")
    member = Sharer(talk, "sg-begins", "member-a")
    member.join()
    until_initialized(talk, "sg-begins", 3)
    member.beat()
    offsets_of(talk, "sg-begins")
    member.leave()
    delete(talk, "sg-begins", "sg-topic")
    talk.ask(DeleteGroupsRequest(("sg-begins",)), 2, DeleteGroupsResponse)


@same_answers_from_plain_brokers
def test_a_name_is_of_one_kind(talk: Talk) -> None:
    create(talk, "sg-topic", 3)
    for group in ("sg-shared", "sg-consumed"):
        prompt(talk, group, "share")
    share, consumer = (
        Sharer(talk, "sg-shared", "member-a"),
        Consumer(talk, "sg-consumed", "member-a", topics=("sg-topic",)),
    )
    share.join()
    consumer.join()
    until_initialized(talk, "sg-shared", 3)
    copied(consumer, group="sg-shared").join()
    copied(consumer, group="sg-shared", epoch=1).beat()
    other = Sharer(talk, "sg-consumed", "member-b")
    other.join()
    other.epoch = 1
    other.beat()
    other.leave()
    alter(talk, "sg-consumed", ("sg-topic", {0: 0}))
    delete(talk, "sg-consumed", "sg-topic")
    offsets_of(talk, "sg-consumed")
    described(talk, "sg-shared")
    described_share(talk, "sg-consumed", "sg-shared")
    for version in (5, 6):
        talk.ask(DescribeGroupsRequest(("sg-shared", "sg-consumed")), version, DescribeGroupsResponse)
    classic = Member(talk.client("classic"), "sg-shared")
    classic.join()
    talk.ask(SyncGroupRequest("sg-shared", 1, "member-a"), 5, SyncGroupResponse)
    talk.ask(HeartbeatRequest("sg-shared", 1, "member-a"), 4, HeartbeatResponse)
    left = LeaveGroupRequest.MemberIdentity("member-a")
    talk.ask(LeaveGroupRequest("sg-shared", members=(left,)), 5, LeaveGroupResponse)
    committed = copied(consumer, group="sg-shared")
    for version in (8, 9):
        committed.commit(3, version=version)
        copied(committed, member_id="", epoch=-1).commit(3, version=version)
    committed.fetch(member_id="member-a", epoch=1)
    find_coordinator(talk, "sg-transaction")
    producer = begin(talk, "sg-transaction")
    add_offsets(talk, "sg-transaction", producer, "sg-shared")
    for version in (2, 5):
        commit_offsets(talk, "sg-transaction", producer, "sg-shared", ("sg-topic", 0, 3), version=version)
    commit_offsets(talk, "sg-transaction", producer, "sg-shared", ("sg-topic", 0, 3), generation=1, member="member-a")
    end(talk, "sg-transaction", producer, committed=False, version=4)
    subscribed = OffsetDeleteRequest.OffsetDeleteRequestTopic(
        "sg-topic", (OffsetDeleteRequest.OffsetDeleteRequestPartition(0),)
    )
    talk.ask(OffsetDeleteRequest("sg-shared", (subscribed,)), 0, OffsetDeleteResponse)
    talk.ask(DeleteGroupsRequest(("sg-shared", "sg-consumed", "sg-none")), 2, DeleteGroupsResponse)
    share.leave()
    consumer.leave()
    classic.join()
    talk.ask(DeleteGroupsRequest(("sg-shared", "sg-consumed")), 2, DeleteGroupsResponse)


@same_answers_from_brokers_with_policies
def test_a_group_has_room_for_two_members(talk: Talk) -> None:
    prompt(talk, "sg-small", "share")
    first, second, third = (Sharer(talk, "sg-small", name) for name in ("member-a", "member-b", "member-c"))
    first.join()
    second.join()
    third.join()
    first.join()
    first.leave()
    third.join()
    second.leave()
    third.leave()


@same_answers_from_brokers_with_policies
def test_a_silent_member_is_removed(talk: Talk) -> None:
    prompt(talk, "sg-silent", "share")
    member = Sharer(talk, "sg-silent", "member-a")
    member.join()
    time.sleep(1.5)
    described_share(talk, "sg-silent")
    member.beat()
