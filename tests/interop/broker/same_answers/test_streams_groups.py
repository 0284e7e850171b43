"""Streams groups (KIP-1071): heartbeats, assignments, internal topics and administration as with Apache Kafka."""

from __future__ import annotations

import random
import time
from dataclasses import replace as copied

import pytest
from msgspec.structs import replace
from tests.interop.broker.same_answers.consumers import coordinated
from tests.interop.broker.same_answers.members import listed
from tests.interop.broker.same_answers.scenario import (
    same_answers_from_brokers_with_policies,
    same_answers_from_plain_brokers,
)
from tests.interop.broker.same_answers.streams_members import (
    Endpoint,
    KeyValue,
    Streamer,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
    counts,
    create,
    described_streams,
    reads,
    ready,
)
from tests.interop.broker.same_answers.talk import Talk

from kafkawire.protocol import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    ListGroupsRequest,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

pytestmark = pytest.mark.interop

READ = ("st-topic",)
READS = reads(*READ)


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
