"""Consumer groups (KIP-848): heartbeats, assignments, offsets and administration are answered as by Apache Kafka."""

from __future__ import annotations

import time
from dataclasses import replace as copied

import pytest
from msgspec.structs import replace
from tests.interop.broker.same_answers.consumers import Consumer, coordinated, described
from tests.interop.broker.same_answers.members import Member
from tests.interop.broker.same_answers.scenario import (
    same_answers_from_brokers_with_policies,
    same_answers_from_plain_brokers,
)
from tests.interop.broker.same_answers.talk import Talk

from kafkawire.protocol import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
)

pytestmark = pytest.mark.interop

GROUP_CONFIG = 32


def create(talk: Talk, name: str, partitions: int) -> None:
    """Create a topic, and wait until the broker has it."""
    topic = CreateTopicsRequest.CreatableTopic(name, partitions, 1)
    talk.ask(CreateTopicsRequest((topic,), 10_000), 7, CreateTopicsResponse)
    until(talk, name, partitions)


def until(talk: Talk, name: str, partitions: int) -> None:
    """Wait until the broker has a topic with a number of partitions; none if it has no such topic."""
    request = MetadataRequest((MetadataRequest.MetadataRequestTopic(name=name),), False)
    talk.ask_until(request, 12, MetadataResponse, lambda answer: len(answer.topics[0].partitions) == partitions)


def prompt(talk: Talk, group: str, kind: str = "consumer", **configs: str) -> None:
    """Let a group compute a target assignment whenever it has an epoch, with further configurations."""
    coordinated(talk, group)
    wanted = {
        f"{kind}.assignment.interval.ms": "0",
        **{name.replace("_", "."): each for name, each in configs.items()},
    }
    alter = IncrementalAlterConfigsRequest
    changes = tuple(alter.AlterableConfig(name, 0, value) for name, value in wanted.items())
    resource = alter.AlterConfigsResource(GROUP_CONFIG, group, changes)
    talk.ask(alter((resource,)), 1, IncrementalAlterConfigsResponse)
    asked = DescribeConfigsRequest((DescribeConfigsRequest.DescribeConfigsResource(GROUP_CONFIG, group, (*wanted,)),))
    talk.ask_until(
        asked,
        4,
        DescribeConfigsResponse,
        lambda answer: {each.name: each.value for each in answer.results[0].configs} == wanted,
    )
    time.sleep(0.2)  # the coordinator learns of it after the broker does


@same_answers_from_plain_brokers
def test_requests_that_are_not_valid(talk: Talk) -> None:
    coordinated(talk, "cg-invalid")
    good = ConsumerGroupHeartbeatRequest("cg-invalid", "m", 0, None, None, 1000, ("cg-topic",), None, None, ())
    for bad in (
        replace(good, group_id=""),
        replace(good, group_id=" "),
        replace(good, member_id=""),
        replace(good, instance_id=""),
        replace(good, rack_id=""),
        replace(good, rebalance_timeout_ms=-1),
        replace(good, topic_partitions=None),
        replace(good, topic_partitions=(ConsumerGroupHeartbeatRequest.TopicPartitions(),)),
        replace(good, subscribed_topic_names=None),
        replace(good, member_epoch=-2),
        replace(good, member_epoch=-3),
        replace(good, server_assignor=""),
        replace(good, member_epoch=1),
        replace(good, member_epoch=-1),
        replace(good, member_epoch=-2, instance_id="one"),
    ):
        talk.tell(bad, 1)
    talk.ask_for_codes(replace(good, server_assignor="none"), 1)
    for epoch in (1, -1):
        talk.tell(replace(good, member_id="", member_epoch=epoch, subscribed_topic_names=None), 0)
    for pattern in ("(", "(?=a)", "a{1001}", r"\1"):
        talk.ask_for_codes(replace(good, subscribed_topic_names=None, subscribed_topic_regex=pattern), 1)


@same_answers_from_plain_brokers
def test_members_come_share_and_go(talk: Talk) -> None:
    create(talk, "cg-topic", 4)
    prompt(talk, "cg-life")
    first, second, third = (Consumer(talk, "cg-life", name) for name in ("member-b", "member-a", "member-c"))
    first.join()
    described(talk, "cg-life")
    first.beat()
    second.join()
    described(talk, "cg-life")
    first.beat()
    described(talk, "cg-life")
    second.beat()
    first.beat()
    first.beat(reports=True)
    second.beat()
    described(talk, "cg-life")
    third.join()
    for _ in range(3):
        for member in (first, second, third):
            member.beat(reports=True)
    described(talk, "cg-life")
    third.send(third.full())
    first.leave()
    described(talk, "cg-life")
    for _ in range(2):
        for member in (first, second, third):
            member.beat(reports=True)
    second.leave()
    third.leave()
    described(talk, "cg-life")
    talk.ask(DeleteGroupsRequest(("cg-life",)), 2, DeleteGroupsResponse)
    described(talk, "cg-life")


@same_answers_from_plain_brokers
def test_target_assignments_wait(talk: Talk) -> None:
    """A second target assignment follows the first after a while (KIP-1263)."""
    create(talk, "cg-topic", 4)
    prompt(talk, "cg-waits", consumer_assignment_interval_ms="15000")
    first, second = (Consumer(talk, "cg-waits", name) for name in ("member-a", "member-b"))
    first.join()
    second.join()
    first.beat()
    described(talk, "cg-waits")


@same_answers_from_plain_brokers
def test_epochs_fence(talk: Talk) -> None:
    create(talk, "cg-topic", 4)
    prompt(talk, "cg-fenced")
    member, other = Consumer(talk, "cg-fenced", "member-a"), Consumer(talk, "cg-fenced", "member-b")
    member.beat()
    member.join()
    other.epoch = 1
    other.beat()
    for epoch in (1, 2, 3, 7):
        copied(member, epoch=epoch).beat()
    before = copied(member)
    other.join()
    member.beat()
    before.beat()
    before.beat(reports=True)
    member.beat(reports=True)
    before.beat()
    before.beat(reports=True)
    member.join()
    copied(other, member_id="stranger").leave()
    other.leave()
    other.leave()


@same_answers_from_plain_brokers
def test_static_members_come_back(talk: Talk) -> None:
    create(talk, "cg-topic", 4)
    prompt(talk, "cg-static")
    one = Consumer(talk, "cg-static", "member-a", "one")
    two = Consumer(talk, "cg-static", "member-b", "two")
    one.join()
    two.join()
    one.beat(reports=True)
    one.beat(reports=True)
    two.beat(reports=True)
    Consumer(talk, "cg-static", "member-c", "one").join()
    copied(one).join()
    copied(one, member_id="member-c").beat()
    copied(one, instance_id="unknown").beat()
    copied(one, instance_id="unknown").leave(-2)
    copied(one, member_id="member-c").leave(-2)
    one.leave(-2)
    described(talk, "cg-static")
    two.beat()
    back = Consumer(talk, "cg-static", "member-d", "one")
    back.join()
    described(talk, "cg-static")
    two.beat(reports=True)
    one.beat()
    back.leave(-1)
    two.beat(reports=True)
    described(talk, "cg-static")


@same_answers_from_plain_brokers
def test_subscriptions_and_assignors_change(talk: Talk) -> None:
    create(talk, "cg-topic", 4)
    create(talk, "cg-other", 3)
    prompt(talk, "cg-changes")
    first = Consumer(talk, "cg-changes", "member-a", assignor="range")
    second = Consumer(talk, "cg-changes", "member-b", topics=("cg-other", "cg-missing"))
    first.join()
    second.join()
    described(talk, "cg-changes")
    second.send(replace(second.short(), subscribed_topic_names=("cg-topic", "cg-other")))
    for _ in range(3):
        for member in (first, second):
            member.beat(reports=True)
    described(talk, "cg-changes")
    first.send(replace(first.short(), subscribed_topic_names=()))
    first.beat(reports=True)
    second.beat(reports=True)
    first.send(replace(first.short(), server_assignor="uniform", subscribed_topic_names=("cg-topic",), rack_id="here"))
    for _ in range(3):
        for member in (first, second):
            member.beat(reports=True)
    described(talk, "cg-changes")


@same_answers_from_plain_brokers
def test_topics_change(talk: Talk) -> None:
    prompt(talk, "cg-topics")
    member = Consumer(talk, "cg-topics", "member-a", topics=("cg-grows",))
    member.join()
    create(talk, "cg-grows", 2)
    time.sleep(0.2)
    member.beat(reports=True)
    described(talk, "cg-topics")
    grown = CreatePartitionsRequest.CreatePartitionsTopic("cg-grows", 3, None)
    talk.ask(CreatePartitionsRequest((grown,), 10_000), 3, CreatePartitionsResponse)
    until(talk, "cg-grows", 3)
    time.sleep(0.2)
    member.beat()
    described(talk, "cg-topics")
    topic = DeleteTopicsRequest.DeleteTopicState("cg-grows")
    talk.ask(DeleteTopicsRequest((topic,), timeout_ms=10_000), 6, DeleteTopicsResponse)
    until(talk, "cg-grows", 0)
    time.sleep(0.2)
    member.beat()
    member.beat(reports=True)
    member.owned = {}
    member.beat(reports=True)
    described(talk, "cg-topics")


@same_answers_from_plain_brokers
def test_regular_expressions_subscribe(talk: Talk) -> None:
    create(talk, "cg-re-a", 2)
    create(talk, "cg-re-b", 2)
    prompt(talk, "cg-regex")
    # With "uniform", which member keeps which topic follows from the ids of the topics, which are random.
    member = Consumer(talk, "cg-regex", "member-a", topics=None, regex="cg-re-[ab]", assignor="range")
    member.join()
    time.sleep(1.0)
    member.beat(reports=True)
    described(talk, "cg-regex")
    other = Consumer(talk, "cg-regex", "member-b", topics=("cg-topic",), regex="cg-re-[ab]", assignor="range")
    other.join()
    for _ in range(3):
        member.beat(reports=True)
        other.beat(reports=True)
    described(talk, "cg-regex")
    member.send(replace(member.short(), subscribed_topic_regex=""))
    for _ in range(3):
        member.beat(reports=True)
        other.beat(reports=True)
    described(talk, "cg-regex")
    other.leave()
    described(talk, "cg-regex")


@same_answers_from_plain_brokers
def test_offsets_need_the_epoch(talk: Talk) -> None:
    create(talk, "cg-topic", 4)
    prompt(talk, "cg-offsets")
    member = Consumer(talk, "cg-offsets", "member-a")
    member.join()
    member.commit(1)
    member.commit(2, version=10)
    member.commit(3, epoch=1)
    member.commit(4, epoch=9)
    member.commit(5, epoch=-1)
    member.commit(6, version=8)
    copied(member, member_id="stranger").commit(7)
    copied(member, member_id="", epoch=-1).commit(8)
    refused = (("member-a", 9), ("stranger", 1), ("", -1), (None, 0), (None, 1))
    for who, epoch in (("member-a", member.epoch), (None, -1), *refused):
        member.fetch(member_id=who, epoch=epoch)
    subscribed = OffsetDeleteRequest.OffsetDeleteRequestTopic(
        "cg-topic", (OffsetDeleteRequest.OffsetDeleteRequestPartition(0),)
    )
    talk.ask(OffsetDeleteRequest("cg-offsets", (subscribed,)), 0, OffsetDeleteResponse)
    other = Consumer(talk, "cg-offsets", "member-b")
    other.join()
    member.beat()
    member.beat(reports=True)
    member.commit(9, epoch=2)
    other.commit(10, epoch=3)
    member.leave()
    other.leave()
    copied(member, member_id="", epoch=-1).commit(11)
    for who, epoch in (("member-a", 2), (None, -1), (None, 0)):
        member.fetch(member_id=who, epoch=epoch)
    talk.ask(OffsetDeleteRequest("cg-offsets", (subscribed,)), 0, OffsetDeleteResponse)


@same_answers_from_plain_brokers
def test_administrators_see_and_remove(talk: Talk) -> None:
    create(talk, "cg-topic", 4)
    prompt(talk, "cg-admin")
    member, static = Consumer(talk, "cg-admin", "member-a"), Consumer(talk, "cg-admin", "member-b", "one")
    member.join()
    static.join()
    for version in (5, 6):
        talk.ask(DescribeGroupsRequest(("cg-admin",)), version, DescribeGroupsResponse)
    talk.ask(ConsumerGroupDescribeRequest(("", "cg-none")), 1, ConsumerGroupDescribeResponse)
    talk.ask(ConsumerGroupDescribeRequest(("cg-admin",), True), 0, ConsumerGroupDescribeResponse)
    talk.ask(DeleteGroupsRequest(("cg-admin",)), 2, DeleteGroupsResponse)
    identity = LeaveGroupRequest.MemberIdentity
    leaving = (identity("stranger"), identity("", "one"), identity("member-a", "two"), identity("member-a"))
    talk.ask(LeaveGroupRequest("cg-admin", members=leaving), 5, LeaveGroupResponse)
    described(talk, "cg-admin")
    talk.ask(DeleteGroupsRequest(("cg-admin",)), 2, DeleteGroupsResponse)


@same_answers_from_brokers_with_policies
@pytest.mark.extended
def test_where_migration_is_disabled_only_empty_groups_change_their_kind(talk: Talk) -> None:
    """An empty group becomes one of the other kind. Nothing is assigned: Kafka's coordinator sees a new topic late."""
    create(talk, "cg-topic", 4)
    coordinated(talk, "cg-mixed")
    consumer = Consumer(talk, "cg-mixed", "member-a", topics=("none",))
    consumer.join()
    classic = Member(talk.client("classic"), "cg-mixed")
    classic.join()
    classic.beat()
    classic.leave()
    consumer.commit(5)
    consumer.leave()
    classic.join()
    classic.sync(classic)
    consumer.join()
    consumer.epoch = 1
    consumer.beat()
    described(talk, "cg-mixed")
    consumer.fetch(member_id=None, epoch=-1)
    classic.leave()
    consumer.join()
    described(talk, "cg-mixed")
    consumer.fetch(member_id=None, epoch=-1)
    for name in ("member-b", "member-c"):
        Consumer(talk, "cg-mixed", name, topics=("none",)).join()
    consumer.join()
