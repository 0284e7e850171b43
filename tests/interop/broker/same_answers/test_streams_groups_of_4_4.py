"""Streams groups of Apache Kafka 4.4, at a broker of that release and at an embedded one that answers as one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import pytest
from msgspec.structs import replace
from tests.interop.broker.same_answers import test_streams_groups as groups, test_streams_topologies as topologies
from tests.interop.broker.same_answers.scenario import Pair, same_answers_from_brokers_of_4_4, scenario_of
from tests.interop.broker.same_answers.streams_members import (
    Endpoint,
    Streamer,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
    counts,
    create,
    reads,
    ready,
)
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_consumer_groups import GROUP_CONFIG

from kafkawire.protocol import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

pytestmark = [pytest.mark.interop, pytest.mark.extended]

TaskOffset = StreamsGroupHeartbeatRequest.TaskOffset

AS_BEFORE: Final[Sequence[Callable[[Pair], None]]] = (
    groups.test_members_come_and_go,
    groups.test_a_group_waits_for_members_before_its_first_assignment,
    groups.test_the_only_member_of_a_new_group_gets_its_tasks_after_the_delay,
    groups.test_target_assignments_wait,
    groups.test_epochs_fence,
    groups.test_standby_tasks,
    groups.test_members_of_one_process,
    groups.test_an_application_shuts_down,
    groups.test_instances_find_each_other,
    groups.test_random_courses,
    topologies.test_topologies_do_not_change,
    topologies.test_internal_topics_are_made,
    topologies.test_topics_with_wrong_partition_counts,
    topologies.test_topics_grow,
)
"""Tests at brokers of 4.3, of which those of 4.4 answer some requests otherwise."""


@pytest.mark.parametrize("test", AS_BEFORE, ids=lambda test: test.__name__.removeprefix("test_"))
def test_what_happens_at_brokers_of_4_3_happens_alike(later_pair: Pair, test: Callable[[Pair], None]) -> None:
    later_pair.compare(scenario_of(test))


def described(talk: Talk, group: str, *, topology: bool = False) -> None:
    request = StreamsGroupDescribeRequest((group, "none", ""), False, topology)
    talk.ask(request, 1, StreamsGroupDescribeResponse)


def sent(member: Streamer, request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse:
    answer = member.talk.ask(request, 1, StreamsGroupHeartbeatResponse)
    member.take(answer)
    return answer


def begin(member: Streamer) -> None:
    """Let a group begin: it does not remember partition counts of the heartbeat that makes it."""
    member.join()
    member.leave()


@same_answers_from_brokers_of_4_4
def test_heartbeats_have_offsets_of_tasks(talk: Talk) -> None:
    create(talk, "later-topic", 3)
    create(talk, "later-log", 3)
    ready(talk, "later-offsets")
    member = Streamer(talk, "later-offsets", "member-a", counts("later-topic", "later-log"))
    begin(member)
    offsets = (TaskOffset("0", 2, 7), TaskOffset("0", 1, -3), TaskOffset("another", 5, 1 << 40))
    sent(member, replace(member.joining(), task_offsets=offsets))
    described(talk, "later-offsets")
    sent(member, replace(member.short(), task_offsets=offsets[:2], task_end_offsets=offsets[1:]))
    described(talk, "later-offsets")
    for request in (
        replace(member.short(), task_offsets=(*offsets, TaskOffset("0", 1, 4))),
        replace(member.short(), task_end_offsets=(*offsets, TaskOffset("0", 1, 4))),
        replace(member.short(), task_end_offsets=()),
        replace(member.reporting(), warmup_tasks=(TaskIds("0", (1,)),)),
        replace(member.reporting(), warmup_tasks=(TaskIds("0", (3,)),)),
        replace(member.reporting(), warmup_tasks=(TaskIds("1", (0,)),)),
        replace(member.short(), warmup_tasks=(TaskIds("1", (0,)),)),
    ):
        sent(member, request)
        described(talk, "later-offsets")
    member.leave()
    described(talk, "later-offsets")
    member.join()
    described(talk, "later-offsets", topology=True)
    member.leave()


@same_answers_from_brokers_of_4_4
def test_no_broker_without_a_plugin_keeps_descriptions_of_topologies(talk: Talk) -> None:
    create(talk, "later-topic", 3)
    ready(talk, "later-described")
    member = Streamer(talk, "later-described", "member-a", reads("later-topic"))
    sent(member, member.joining())
    update = StreamsGroupTopologyDescriptionUpdateRequest
    node = update.TopologyDescriptionNode("source", 1, ("later-topic",))
    description = update.TopologyDescription((update.TopologyDescriptionSubtopology("0", (node,)),))
    for request in (
        update("later-described", "member-a", 0, description),
        update("later-described", "", 9, description),
        update("none", "member-a"),
        update(),
    ):
        talk.ask(request, 0, StreamsGroupTopologyDescriptionUpdateResponse)
    described(talk, "later-described", topology=True)
    member.leave()
    described(talk, "later-described", topology=True)


@same_answers_from_brokers_of_4_4
def test_a_member_of_a_full_group_may_join_again(talk: Talk) -> None:
    create(talk, "later-topic", 3)
    ready(talk, "later-full")
    members = [Streamer(talk, "later-full", f"member-{name}", reads("later-topic")) for name in "abcd"]
    for member in (*members, members[1]):
        member.join()
    members[0].leave()
    members[3].join()
    described(talk, "later-full")
    for member in members[1:]:
        member.leave()


@same_answers_from_brokers_of_4_4
def test_the_target_assignment_ends_with_the_last_member(talk: Talk) -> None:
    create(talk, "later-topic", 3)
    ready(talk, "later-left", streams_assignment_interval_ms="15000")
    for name in "ab":
        one, two = (Streamer(talk, "later-left", f"member-{each}", reads("later-topic")) for each in (name, "c"))
        one.join()
        two.join()
        one.leave()
        one.join()
        one.leave()
        described(talk, "later-left")
        two.leave()
        described(talk, "later-left")


@same_answers_from_brokers_of_4_4
def test_endpoints_change_when_members_join_again(talk: Talk) -> None:
    create(talk, "later-topic", 3)
    create(talk, "later-small", 1)
    ready(talk, "later-endpoints")
    topology = Topology(0, (Subtopology("0", ("later-topic", "later-small")),))
    one, two = (
        Streamer(talk, "later-endpoints", f"member-{name}", topology, endpoint=Endpoint(name, 80)) for name in "ab"
    )
    for endpoint in (Endpoint("a", 80), None, None, Endpoint("a", 80), Endpoint("a", 81)):
        one.endpoint = endpoint
        one.join()
        one.beat(reports=True)
    two.join()
    for _ in range(3):
        one.beat(reports=True)
        two.beat(reports=True)
    sent(two, replace(two.short(), user_endpoint=Endpoint("b", 82)))
    one.beat()
    described(talk, "later-endpoints")
    one.leave()
    two.leave()


@same_answers_from_brokers_of_4_4
def test_random_courses_with_copies_of_tasks(talk: Talk) -> None:
    create(talk, "later-random", 4)
    create(talk, "later-random-log", 4)
    chance = random.Random(44)
    topology = Topology(
        0, (Subtopology("0", ("later-random",), state_changelog_topics=(TopicInfo("later-random-log"),)),)
    )
    for round_ in range(4):
        group = f"later-random-{round_}"
        ready(talk, group, streams_num_standby_replicas=str(chance.randint(1, 2)))
        members = [Streamer(talk, group, f"member-{name}", topology, chance.choice(("one", "two"))) for name in "abc"]
        begin(members[0])
        for _ in range(30):
            member = chance.choice(members)
            step = chance.random()
            if step < 0.15:
                sent(member, member.joining())
            elif step < 0.25:
                member.leave()
            else:
                offsets = tuple(TaskOffset("0", at, chance.randint(0, 2)) for at in range(4) if chance.random() < 0.5)
                sent(member, replace(member.reporting(), task_offsets=offsets))
        described(talk, group)


@contextmanager
def talks(pair: Pair) -> Iterator[tuple[Talk, Talk]]:
    """With Apache Kafka and with the embedded broker, whose answers differ."""
    both = Talk(pair.kafka), Talk(pair.embedded)
    try:
        yield both
    finally:
        for talk in both:
            talk.close()


def test_streams_static_members_are_refused(later_pair: Pair) -> None:
    """The deviation ``streams-static-members``."""

    def answer(talk: Talk) -> tuple[int, str | None]:
        create(talk, "later-topic", 3)
        ready(talk, "later-static")
        member = Streamer(talk, "later-static", "member-a", reads("later-topic"))
        joined = sent(member, replace(member.joining(), instance_id="instance"))
        return joined.error_code, joined.error_message

    with talks(later_pair) as both:
        kafkas, ours = map(answer, both)
    assert kafkas == (0, None)
    assert ours == (ErrorCode.INVALID_REQUEST, "Static membership is not yet supported.")


def test_streams_of_4_4_have_the_defaults_of_its_brokers(later_pair: Pair) -> None:
    """The deviation ``streams-of-4-4``."""
    alter = IncrementalAlterConfigsRequest
    changes = {
        "streams.acceptable.recovery.lag": "20000",
        "streams.assignor.name": "sticky",
        "streams.num.warmup.replicas": "3",
        "streams.rack.aware.assignment.tags": "zone",
        "streams.task.offset.interval.ms": "30000",
    }

    def errors(talk: Talk) -> list[int]:
        found = []
        for name, value in changes.items():
            resource = alter.AlterConfigsResource(
                GROUP_CONFIG, "later-configs", (alter.AlterableConfig(name, 0, value),)
            )
            answer = talk.learn(alter((resource,)), 1, IncrementalAlterConfigsResponse)
            found.append(answer.responses[0].error_code)
        return found

    with talks(later_pair) as both:
        kafkas, ours = map(errors, both)
    assert kafkas == [0] * len(changes)
    assert ours == [ErrorCode.INVALID_CONFIG] * len(changes)
