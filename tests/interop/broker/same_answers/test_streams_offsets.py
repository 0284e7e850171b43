"""Offsets of streams groups (KIP-1071), and names that groups of other kinds have, as with Apache Kafka."""

from __future__ import annotations

from dataclasses import replace as copied

import pytest
from tests.interop.broker.same_answers.consumers import Consumer, described
from tests.interop.broker.same_answers.members import Member
from tests.interop.broker.same_answers.scenario import (
    same_answers_from_plain_brokers,
)
from tests.interop.broker.same_answers.sharers import Sharer, described_share
from tests.interop.broker.same_answers.streams_members import (
    Streamer,
    create,
    described_streams,
    reads,
    ready,
)
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_transactions import (
    add_offsets,
    begin,
    commit_offsets,
    end,
    find_coordinator,
)

from kafkawire.protocol import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)

pytestmark = pytest.mark.interop

READ = ("st-topic",)
READS = reads(*READ)


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
    for epoch in (1, member.epoch - 1, member.epoch):
        for partitions in ((0, 99), (2, 99), (0, 1, 2, 99), (99,)):
            commit("member-a", epoch, *partitions)
        commit("member-a", epoch, 0, topic="st-none")
    commit("stranger", 1, 0)
    commit("", -1, 0)
    commit("member-a", member.epoch, 0, version=8)
    fetched = Consumer(talk, "st-commits", "member-a", topics=("st-topic",))
    for asked, epoch in (
        ("member-a", member.epoch),
        ("member-a", 1),
        ("stranger", 1),
        (None, -1),
        ("", -1),
        (None, 0),
        (None, 1),
        ("member-a", -1),
    ):
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
