"""Streams groups (KIP-1071): heartbeats, assignments, internal topics and administration as with Apache Kafka."""

from __future__ import annotations

import random
import time
from dataclasses import replace as copied

import pytest
from msgspec.structs import replace
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.consumers import Consumer, coordinated, described
from tests.interop.broker.same_answers.members import Member, listed
from tests.interop.broker.same_answers.scenario import (
    same_answers_from_brokers_with_policies,
    same_answers_from_plain_brokers,
    same_answers_from_secure_brokers,
)
from tests.interop.broker.same_answers.sharers import Sharer, described_share
from tests.interop.broker.same_answers.streams_members import (
    Endpoint,
    KeyValue,
    Streamer,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
    counts,
    described_streams,
    reads,
)
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_consumer_groups import create as begin_creation, prompt, until
from tests.interop.broker.same_answers.test_topic_rights import allow, prefixed
from tests.interop.broker.same_answers.test_transactions import (
    add_offsets,
    begin,
    commit_offsets,
    end,
    find_coordinator,
)

from kafkawire.model.acls.bindings import AclOperation, ResourceType
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
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)

pytestmark = pytest.mark.interop

READ = ("st-topic",)
READS = reads(*READ)
A_MOMENT = 0.3
"""After which Kafka's coordinator has seen a change of topics or configurations."""


def create(talk: Talk, name: str, partitions: int) -> None:
    """Create a topic, and wait until the coordinator has seen it."""
    begin_creation(talk, name, partitions)
    time.sleep(A_MOMENT)


def ready(talk: Talk, group: str, **configs: str) -> None:
    """Let a group assign tasks whenever it has an epoch."""
    prompt(talk, group, "streams", **{"streams_initial_rebalance_delay_ms": "0", **configs})


@same_answers_from_plain_brokers
def test_requests_that_are_not_valid(talk: Talk) -> None:
    coordinated(talk, "st-invalid")
    create(talk, "st-topic", 3)
    good = Streamer(talk, "st-invalid", "m", READS).joining()
    tasks, regex = (TaskIds("0", (0,)),), replace(READS, subtopologies=(Subtopology("0", (), ("a.*",)),))
    counted = Topology(0, (Subtopology("0", ("st-topic",), state_changelog_topics=(TopicInfo("st-log", 3),)),))
    offsets = (StreamsGroupHeartbeatRequest.TaskOffset("0", 0, 1),)
    for bad in (
        replace(good, group_id=""),
        replace(good, group_id=" "),
        replace(good, member_id=""),
        replace(good, member_id=" "),
        replace(good, rack_id=""),
        replace(good, instance_id=""),
        replace(good, instance_id="i"),
        replace(good, rebalance_timeout_ms=-1),
        replace(good, topology=None),
        replace(good, topology=regex),
        replace(good, topology=counted),
        replace(good, topology=reads("__consumer_offsets", "st-topic", "__transaction_state")),
        replace(good, topology=reads("st topic", "st-topic", ".")),
        replace(good, topology=Topology(0, (*READS.subtopologies, *READS.subtopologies))),
        replace(good, active_tasks=None),
        replace(good, active_tasks=tasks),
        replace(good, standby_tasks=None),
        replace(good, standby_tasks=tasks),
        replace(good, warmup_tasks=None),
        replace(good, warmup_tasks=tasks),
        replace(good, task_offsets=()),
        replace(good, task_offsets=offsets),
        replace(good, task_end_offsets=()),
        replace(good, client_tags=(KeyValue("a", "1"), KeyValue("a", "2"))),
        replace(good, member_epoch=1),
        replace(good, member_epoch=1, topology=None),
        replace(good, member_epoch=-1, topology=None),
        replace(good, member_epoch=-2, topology=None),
        replace(good, member_epoch=-2, topology=None, instance_id="i"),
        replace(good, member_epoch=-3, topology=None),
        replace(good, member_epoch=1, topology=None, active_tasks=None),
        replace(good, member_epoch=1, topology=None, warmup_tasks=None),
    ):
        talk.tell(bad, 0)
    described_streams(talk, "st-invalid", "", "st-unknown")


@same_answers_from_plain_brokers
def test_members_come_and_go(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    ready(talk, "st-life")
    first, second, third = (Streamer(talk, "st-life", name, READS) for name in ("member-b", "member-a", "member-c"))
    first.join()
    described_streams(talk, "st-life")
    first.beat(reports=True)
    first.beat()
    described_streams(talk, "st-life")
    second.join()
    described_streams(talk, "st-life")
    first.beat()
    described_streams(talk, "st-life")
    second.beat()
    first.beat()
    first.beat(reports=True)
    described_streams(talk, "st-life")
    second.beat()
    described_streams(talk, "st-life")
    third.join()
    for _ in range(3):
        for member in (first, second, third):
            member.beat(reports=True)
    described_streams(talk, "st-life")
    third.join()
    first.leave()
    described_streams(talk, "st-life")
    for _ in range(2):
        for member in (second, third):
            member.beat(reports=True)
    described_streams(talk, "st-life")
    listed(talk, "st-life", ListGroupsRequest((), ("Streams",)))
    listed(talk, "st-life", ListGroupsRequest(("Stable",), ("streams", "consumer")))
    talk.ask(DeleteGroupsRequest(("st-life",)), 2, DeleteGroupsResponse)
    for member in (second, third):
        member.leave()
    third.leave()
    described_streams(talk, "st-life")
    listed(talk, "st-life", ListGroupsRequest(("Empty",), ("streams",)))
    first.join()
    described_streams(talk, "st-life")
    first.leave()
    talk.ask(DeleteGroupsRequest(("st-life",)), 2, DeleteGroupsResponse)
    described_streams(talk, "st-life")
    talk.ask(DeleteGroupsRequest(("st-life",)), 2, DeleteGroupsResponse)


@same_answers_from_plain_brokers
def test_a_group_waits_for_members_before_its_first_assignment(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    ready(talk, "st-delayed", streams_initial_rebalance_delay_ms="1500")
    first, second = (Streamer(talk, "st-delayed", name, READS) for name in ("member-a", "member-b"))
    first.join()
    second.join()
    described_streams(talk, "st-delayed")
    first.beat()
    time.sleep(2)
    described_streams(talk, "st-delayed")
    for _ in range(2):
        for member in (first, second):
            member.beat(reports=True)
    described_streams(talk, "st-delayed")
    first.leave()
    second.leave()
    first.join()
    time.sleep(2)
    described_streams(talk, "st-delayed")
    first.beat()
    first.leave()


@same_answers_from_plain_brokers
def test_the_only_member_of_a_new_group_gets_its_tasks_after_the_delay(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    ready(talk, "st-alone", streams_initial_rebalance_delay_ms="1000")
    member = Streamer(talk, "st-alone", "member-a", READS)
    member.join()
    time.sleep(1.5)
    described_streams(talk, "st-alone")
    member.beat()
    described_streams(talk, "st-alone")
    member.leave()


@same_answers_from_plain_brokers
def test_target_assignments_wait(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    ready(talk, "st-waits", streams_assignment_interval_ms="15000")
    first, second = (Streamer(talk, "st-waits", name, READS) for name in ("member-a", "member-b"))
    first.join()
    second.join()
    first.beat()
    described_streams(talk, "st-waits")
    first.leave()
    second.leave()


@same_answers_from_plain_brokers
def test_epochs_fence(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    ready(talk, "st-fenced", streams_heartbeat_interval_ms="7000")
    member, other = (Streamer(talk, "st-fenced", name, READS) for name in ("member-a", "member-b"))
    member.beat()
    copied(member, epoch=1).beat()
    member.join()
    copied(other, epoch=1).beat()
    other.join()
    before = copied(member)
    member.beat(reports=True)
    for epoch in (1, 2, 3, 4, 99):
        copied(before, epoch=epoch).beat()
        copied(before, epoch=epoch).beat(reports=True)
    member.beat()
    member.active = {"0": (0,), "1": (7,)}
    member.beat(reports=True)
    member.active = {"0": (9,)}
    member.beat(reports=True)
    member.join()
    member.send(replace(member.short(), rack_id="here", client_tags=(KeyValue("b", "2"), KeyValue("a", "1"))))
    described_streams(talk, "st-fenced")
    copied(other, member_id="stranger").leave()
    other.leave()
    other.leave()
    member.leave()


@same_answers_from_plain_brokers
def test_topologies_do_not_change(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    ready(talk, "st-topology")
    first = Streamer(talk, "st-topology", "member-a", reads("st-topic", epoch=3))
    first.join()
    for topology in (
        reads("st-topic", epoch=4),
        reads("st-topic", "st-other", epoch=3),
        reads("st-topic", "st-other", epoch=2),
        reads("st-topic", epoch=3),
    ):
        other = Streamer(talk, "st-topology", "member-b", topology)
        other.join()
        other.beat(reports=True)
        described_streams(talk, "st-topology")
    first.beat()
    for name in ("member-a", "member-b"):
        copied(first, member_id=name).leave()


@same_answers_from_plain_brokers
def test_internal_topics_are_made(talk: Talk) -> None:
    ready(talk, "st-internal")
    repartition = TopicInfo("st-internal-repartition", 0, 1, (KeyValue("cleanup.policy", "delete"),))
    topology = Topology(
        0,
        (
            Subtopology("0", ("st-missing",), repartition_sink_topics=("st-internal-repartition",)),
            Subtopology(
                "1",
                ("st-other",),
                state_changelog_topics=(TopicInfo("st-changes", 0, 0, (KeyValue("cleanup.policy", "compact"),)),),
                repartition_source_topics=(repartition,),
                copartition_groups=(StreamsGroupHeartbeatRequest.CopartitionGroup((0,), (), (0,)),),
            ),
        ),
    )
    member = Streamer(talk, "st-internal", "member-a", topology)
    member.join()
    described_streams(talk, "st-internal")
    member.beat()
    create(talk, "st-missing", 2)
    member.beat()
    create(talk, "st-other", 3)
    member.beat()
    until(talk, "st-internal-repartition", 3)
    until(talk, "st-changes", 3)
    time.sleep(A_MOMENT)
    member.beat()
    described_streams(talk, "st-internal")
    member.beat(reports=True)
    described_streams(talk, "st-internal")
    member.leave()
    described_streams(talk, "st-internal")


@same_answers_from_plain_brokers
def test_topics_with_wrong_partition_counts(talk: Talk) -> None:
    ready(talk, "st-wrong")
    create(talk, "st-two", 2)
    create(talk, "st-topic", 3)
    copartitioned = (StreamsGroupHeartbeatRequest.CopartitionGroup((0, 1)),)
    member = Streamer(
        talk,
        "st-wrong",
        "member-a",
        Topology(0, (Subtopology("0", ("st-two", "st-topic"), copartition_groups=copartitioned),)),
    )
    member.join()
    member.beat()
    described_streams(talk, "st-wrong")
    grown = CreatePartitionsRequest.CreatePartitionsTopic("st-two", 3, None)
    talk.ask(CreatePartitionsRequest((grown,), 10_000), 3, CreatePartitionsResponse)
    until(talk, "st-two", 3)
    time.sleep(A_MOMENT)
    member.beat()
    described_streams(talk, "st-wrong")
    talk.ask(
        DeleteTopicsRequest((DeleteTopicsRequest.DeleteTopicState("st-two"),), timeout_ms=10_000),
        6,
        DeleteTopicsResponse,
    )
    until(talk, "st-two", 0)
    time.sleep(A_MOMENT)
    member.beat()
    member.beat(reports=True)
    described_streams(talk, "st-wrong")
    member.leave()


@same_answers_from_plain_brokers
def test_topics_grow(talk: Talk) -> None:
    ready(talk, "st-grow")
    create(talk, "st-growing", 1)
    member, other = (Streamer(talk, "st-grow", name, reads("st-growing")) for name in ("member-a", "member-b"))
    member.join()
    other.join()
    grown = CreatePartitionsRequest.CreatePartitionsTopic("st-growing", 4, None)
    talk.ask(CreatePartitionsRequest((grown,), 10_000), 3, CreatePartitionsResponse)
    until(talk, "st-growing", 4)
    time.sleep(A_MOMENT)
    for _ in range(3):
        member.beat(reports=True)
        other.beat(reports=True)
    described_streams(talk, "st-grow")
    member.leave()
    other.leave()


@same_answers_from_plain_brokers
def test_standby_tasks(talk: Talk) -> None:
    ready(talk, "st-standby", streams_num_standby_replicas="1")
    create(talk, "st-topic", 3)
    create(talk, "st-standby-log", 3)
    topology = counts("st-topic", "st-standby-log")
    members = [Streamer(talk, "st-standby", f"member-{name}", topology) for name in "abc"]
    for member in members:
        member.join()
    for _ in range(4):
        for member in members:
            member.beat(reports=True)
    described_streams(talk, "st-standby")
    ready(talk, "st-standby", streams_num_standby_replicas="2")
    for _ in range(3):
        for member in members:
            member.beat(reports=True)
    described_streams(talk, "st-standby")
    members[0].leave()
    for _ in range(3):
        for member in members[1:]:
            member.beat(reports=True)
    described_streams(talk, "st-standby")
    for member in members[1:]:
        member.leave()


@same_answers_from_plain_brokers
def test_members_of_one_process(talk: Talk) -> None:
    ready(talk, "st-process", streams_num_standby_replicas="1")
    create(talk, "st-topic", 3)
    create(talk, "st-process-log", 3)
    topology = counts("st-topic", "st-process-log")
    members = [
        Streamer(talk, "st-process", f"member-{name}", topology, process=process)
        for name, process in (("a", "one"), ("b", "one"), ("c", "two"))
    ]
    for member in members:
        member.join()
        member.beat(reports=True)
    for _ in range(4):
        for member in members:
            member.beat(reports=True)
    described_streams(talk, "st-process")
    members[2].leave()
    for _ in range(3):
        for member in members[:2]:
            member.beat(reports=True)
    described_streams(talk, "st-process")
    for member in members[:2]:
        member.leave()


@same_answers_from_plain_brokers
def test_an_application_shuts_down(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    ready(talk, "st-shutdown")
    first, second = (Streamer(talk, "st-shutdown", name, READS) for name in ("member-a", "member-b"))
    first.send(replace(first.joining(), shutdown_application=True))
    first.beat()
    second.join()
    second.send(replace(second.short(), shutdown_application=True))
    first.send(replace(first.short(), shutdown_application=True))
    first.beat()
    talk.ask(replace(first.short(), member_epoch=-1, shutdown_application=True), 0, StreamsGroupHeartbeatResponse)
    second.beat()
    second.leave()
    first.join()
    first.beat()
    second.join()
    talk.ask(replace(second.short(), member_epoch=-1, shutdown_application=True), 0, StreamsGroupHeartbeatResponse)
    first.beat()
    first.leave()


@same_answers_from_plain_brokers
def test_instances_find_each_other(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    create(talk, "st-found-log", 3)
    ready(talk, "st-found", streams_num_standby_replicas="1")
    topology = counts("st-topic", "st-found-log")
    first = Streamer(talk, "st-found", "member-a", topology, endpoint=Endpoint("one", 80))
    second = Streamer(talk, "st-found", "member-b", topology, endpoint=Endpoint("two", 8080))
    third = Streamer(talk, "st-found", "member-c", topology)
    first.join()
    first.beat()
    first.beat()
    second.join()
    third.join()
    for _ in range(4):
        for member in (first, second, third):
            member.beat(reports=True)
    described_streams(talk, "st-found")
    second.leave()
    for _ in range(2):
        for member in (first, third):
            member.beat(reports=True)
    first.leave()
    third.leave()
    nowhere = Streamer(talk, "st-nowhere", "member-a", reads("st-nowhere"), endpoint=Endpoint("one", 80))
    nowhere.join()
    described_streams(talk, "st-nowhere")


@same_answers_from_plain_brokers
def test_members_commit(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    create(talk, "st-other", 3)
    ready(talk, "st-commits")
    member, other = (Streamer(talk, "st-commits", name, READS) for name in ("member-a", "member-b"))
    member.join()
    member.beat(reports=True)
    other.join()
    for _ in range(2):
        for each in (member, other):
            each.beat(reports=True)

    def commit(member_id: str, epoch: int, *partitions: int, topic: str = "st-topic", version: int = 9) -> None:
        one = OffsetCommitRequest.OffsetCommitRequestPartition
        asked = tuple(one(each, 5, committed_metadata="") for each in partitions)
        topics = (OffsetCommitRequest.OffsetCommitRequestTopic(topic, partitions=asked),)
        talk.ask(OffsetCommitRequest("st-commits", epoch, member_id, topics=topics), version, OffsetCommitResponse)

    for epoch in range(-1, 7):
        for partition in range(3):
            commit("member-a", epoch, partition)
            commit("member-b", epoch, partition)
    commit("member-a", member.epoch - 1, 0, topic="st-other")
    commit("member-a", member.epoch, 0, topic="st-other")
    commit("stranger", 1, 0)
    commit("", -1, 0)
    commit("member-a", member.epoch, 0, version=8)
    fetched = Consumer(talk, "st-commits", "member-a", topics=("st-topic",))
    for asked, epoch in (("member-a", member.epoch), ("member-a", 1), ("stranger", 1), (None, -1), ("", -1)):
        fetched.fetch(member_id=asked, epoch=epoch)
    find_coordinator(talk, "st-transaction")
    producer = begin(talk, "st-transaction")
    add_offsets(talk, "st-transaction", producer, "st-commits")
    for generation, name in ((-1, ""), (member.epoch, "member-a"), (1, "member-a"), (1, "stranger"), (99, "member-a")):
        commit_offsets(
            talk, "st-transaction", producer, "st-commits", ("st-topic", 0, 3), generation=generation, member=name
        )
    end(talk, "st-transaction", producer, committed=True, version=4)

    def delete(*names: str) -> None:
        partition = OffsetDeleteRequest.OffsetDeleteRequestPartition(0)
        topics = tuple(OffsetDeleteRequest.OffsetDeleteRequestTopic(name, (partition,)) for name in names)
        talk.ask(OffsetDeleteRequest("st-commits", topics), 0, OffsetDeleteResponse)

    delete("st-topic", "st-other")
    member.leave()
    other.leave()
    commit("", -1, 0)
    commit("stranger", 1, 0)
    delete("st-topic")
    talk.ask(DeleteGroupsRequest(("st-commits",)), 2, DeleteGroupsResponse)


@same_answers_from_plain_brokers
def test_a_name_is_of_one_kind(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    for group in ("st-streams", "st-consumed", "st-shared", "st-classic"):
        ready(talk, group)
    streams = Streamer(talk, "st-streams", "member-a", READS)
    consumer = Consumer(talk, "st-consumed", "member-a", topics=("st-topic",))
    share = Sharer(talk, "st-shared", "member-a", topics=("st-topic",))
    classic = Member(talk.client("classic"), "st-classic")
    for each in (streams, consumer, share, classic):
        each.join()
    classic.sync(classic)
    copied(consumer, group="st-streams").join()
    copied(consumer, group="st-streams", epoch=1).beat()
    copied(consumer, group="st-streams").leave()
    copied(share, group="st-streams").join()
    copied(share, group="st-streams", epoch=1).beat()
    for group in ("st-consumed", "st-shared", "st-classic"):
        other = copied(streams, group=group)
        other.join()
        other.epoch = 1
        other.beat()
        other.leave()
    described(talk, "st-streams")
    described_share(talk, "st-streams")
    described_streams(talk, "st-consumed", "st-shared", "st-classic")
    for version in (5, 6):
        talk.ask(DescribeGroupsRequest(("st-streams",)), version, DescribeGroupsResponse)
    stranger = Member(talk.client("stranger"), "st-streams")
    stranger.join()
    talk.ask(SyncGroupRequest("st-streams", 1, "member-a", None, "consumer", "range"), 5, SyncGroupResponse)
    talk.ask(HeartbeatRequest("st-streams", 1, "member-a"), 4, HeartbeatResponse)
    left = LeaveGroupRequest.MemberIdentity("member-a")
    talk.ask(LeaveGroupRequest("st-streams", members=(left,)), 5, LeaveGroupResponse)
    for each in (streams, consumer, share, classic):
        each.leave()
    for group in ("st-consumed", "st-shared", "st-classic"):
        copied(streams, group=group).join()
    described_streams(talk, "st-classic")
    copied(consumer, group="st-streams").join()
    copied(share, group="st-streams").join()
    stranger.join()
    talk.ask(DeleteGroupsRequest(("st-streams", "st-consumed", "st-shared", "st-classic")), 2, DeleteGroupsResponse)
    copied(streams, group="st-classic").leave()


@same_answers_from_plain_brokers
def test_commits_stay_when_a_streams_group_begins(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    ready(talk, "st-kept")
    Consumer(talk, "st-kept", "", topics=("st-topic",), epoch=-1).commit(7)
    member = Streamer(talk, "st-kept", "member-a", READS)
    member.join()
    Consumer(talk, "st-kept", "", topics=("st-topic",)).fetch(member_id=None, epoch=-1)
    member.leave()
    talk.ask(DeleteGroupsRequest(("st-kept",)), 2, DeleteGroupsResponse)


@same_answers_from_brokers_with_policies
def test_a_group_has_room_for_two_members(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    ready(talk, "st-small")
    first, second, third = (Streamer(talk, "st-small", name, READS) for name in ("member-a", "member-b", "member-c"))
    first.join()
    second.join()
    third.join()
    first.join()
    first.leave()
    third.join()
    second.leave()
    third.leave()


@same_answers_from_brokers_with_policies
def test_members_that_are_silent_or_keep_tasks_are_removed(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    ready(talk, "st-silent")
    member = Streamer(talk, "st-silent", "member-a", READS)
    member.join()
    time.sleep(1.5)
    described_streams(talk, "st-silent")
    member.beat()
    member.send(replace(member.joining(), rebalance_timeout_ms=700))
    other = Streamer(talk, "st-silent", "member-b", READS)
    other.join()
    member.beat()
    time.sleep(0.5)
    member.beat()
    other.beat()
    time.sleep(0.5)
    member.beat()
    other.beat()
    described_streams(talk, "st-silent")
    other.leave()


@same_answers_from_brokers_with_policies
def test_internal_topics_that_cannot_be_made(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    ready(talk, "st-policy")
    logs = ("forbidden-log", "misconfigured-log", "broken-log", "st-policy-log")
    changelogs = tuple(TopicInfo(name, 0, 0, (KeyValue("cleanup.policy", "compact"),)) for name in logs)
    topology = Topology(0, (Subtopology("0", ("st-topic",), state_changelog_topics=changelogs),))
    member = Streamer(talk, "st-policy", "member-a", topology)
    member.join()
    until(talk, "st-policy-log", 3)
    time.sleep(A_MOMENT)
    member.beat()
    member.beat()
    described_streams(talk, "st-policy")
    member.leave()


@same_answers_from_secure_brokers
def test_rights_of_topologies(talk: Talk) -> None:
    create(talk, "sr-topic", 3)
    ready(talk, "sr-group")
    ready(talk, "sr-other")
    topology = counts("sr-topic", "sr-log")
    member = Streamer(talk, "sr-group", "member-a", topology)
    for rights in (
        (),
        ((prefixed("sr-topic"), AclOperation.DESCRIBE),),
        ((prefixed("sr-log"), AclOperation.DESCRIBE),),
        ((prefixed("sr-log"), AclOperation.CREATE),),
    ):
        allow(talk, ((ResourceType.GROUP, "sr-group", 3), AclOperation.READ), *rights)
        with talk.logged_in(USER, PASSWORDS[USER]):
            described_streams(talk, "sr-group", "sr-other")
            member.join()
    until(talk, "sr-log", 3)
    time.sleep(A_MOMENT)
    with talk.logged_in(USER, PASSWORDS[USER]):
        member.beat()
        described_streams(talk, "sr-group")
    described_streams(talk, "sr-group")
    member.leave()


@same_answers_from_plain_brokers
def test_random_courses(talk: Talk) -> None:
    create(talk, "st-topic", 3)
    create(talk, "st-random", 5)
    for seed in range(8):
        random_course(talk, f"st-random-{seed}", random.Random(seed))


def random_course(talk: Talk, group: str, chance: random.Random) -> None:
    """Members of some processes come, live, give up tasks at once, later or never, and go."""
    create(talk, f"{group}-log", 5)
    ready(talk, group, streams_num_standby_replicas=str(chance.randrange(3)))
    stateful = TopicInfo(f"{group}-log")
    subtopologies = (Subtopology("0", ("st-random",), state_changelog_topics=(stateful,)), Subtopology("1", READ))
    endpoints = (None, Endpoint("one", 1), Endpoint("two", 2))
    members = [
        Streamer(
            talk, group, f"m{number}", Topology(0, subtopologies), f"p{chance.randrange(4)}", chance.choice(endpoints)
        )
        for number in range(6)
    ]
    for _ in range(60):
        member = chance.choice(members)
        match chance.randrange(12):
            case 0 | 1:
                member.join()
            case 2:
                member.leave()
            case 3:
                copied(member, epoch=max(member.epoch + chance.choice((-1, 1)), 1)).beat(reports=True)
            case 4 | 5:
                member.beat()
            case 6:
                member.send(replace(member.short(), process_id=f"p{chance.randrange(4)}"))
            case _:
                member.beat(reports=True)
    described_streams(talk, group)
    for member in members:
        member.leave()
    talk.ask(DeleteGroupsRequest((group,)), 2, DeleteGroupsResponse)
