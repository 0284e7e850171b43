"""The topologies of streams groups (KIP-1071), their internal topics and rights, as with Apache Kafka."""

from __future__ import annotations

import time
from dataclasses import replace as copied

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import (
    same_answers_from_brokers_with_policies,
    same_answers_from_plain_brokers,
    same_answers_from_secure_brokers,
)
from tests.interop.broker.same_answers.streams_members import (
    A_MOMENT,
    KeyValue,
    Streamer,
    Subtopology,
    TopicInfo,
    Topology,
    counts,
    create,
    described_streams,
    reads,
    ready,
)
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_consumer_groups import until
from tests.interop.broker.same_answers.test_quotas import MUTATION, delete, quotas, topic
from tests.interop.broker.same_answers.test_topic_rights import allow, prefixed

from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    StreamsGroupHeartbeatRequest,
)

pytestmark = pytest.mark.interop


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
def test_internal_topics_count_for_the_quota_of_the_client(talk: Talk) -> None:
    """KIP-599: the heartbeat is answered at once, and says what the quota has refused."""
    create(talk, "st-limited", 3)
    ready(talk, "st-limited")
    logs = tuple(TopicInfo(f"st-limited-{name}", 0, 0) for name in ("a", "b"))
    topology = Topology(0, (Subtopology("0", ("st-limited",), state_changelog_topics=logs),))
    member = Streamer(talk, "st-limited", "member-a", topology)
    client_id = "st-limited-client"  # another scenario may have overdrawn the tokens of the usual one
    with talk.called(client_id), quotas(talk, ([("client-id", client_id)], [(MUTATION, 1.0)])):
        topic(talk, "st-burst", 9)  # 2 of 11 are left: the second topic is refused
        member.join()
        time.sleep(A_MOMENT)
        member.beat()
        member.beat()
        described_streams(talk, "st-limited")
        member.leave()
    delete(talk, "st-burst")


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
