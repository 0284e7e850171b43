"""Topics: every kind of rejection, in the order of the checks (B5), and the topics that are created."""

from __future__ import annotations

import pytest
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers
from tests.interop.broker.same_answers.talk import Talk

from kafkawire.layout import Uuid
from kafkawire.protocol import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeTopicPartitionsRequest,
    MetadataRequest,
    MetadataResponse,
)

pytestmark = pytest.mark.interop

Topic = CreateTopicsRequest.CreatableTopic
Config = CreateTopicsRequest.CreatableTopicConfig
Assigned = CreateTopicsRequest.CreatableReplicaAssignment


def create(talk: Talk, *topics: Topic, version: int = 7, validate_only: bool = False) -> CreateTopicsResponse:
    return talk.ask(CreateTopicsRequest(topics, 30_000, validate_only), version, CreateTopicsResponse)


def settled(talk: Talk, *names: str) -> MetadataResponse:
    """Wait until topics are there."""
    asked = tuple(MetadataRequest.MetadataRequestTopic(name=name) for name in names)
    request = MetadataRequest(asked, allow_auto_topic_creation=False)
    return talk.ask_until(
        request, 12, MetadataResponse, lambda answer: not any(topic.error_code for topic in answer.topics)
    )


@same_answers_from_plain_brokers
def test_topics_are_created_at_every_version(talk: Talk) -> None:
    for version in range(2, 8):
        create(talk, Topic(f"version-{version}", 2, 1), version=version)


@same_answers_from_plain_brokers
def test_defaults_are_those_of_the_broker(talk: Talk) -> None:
    create(talk, Topic("defaults", -1, -1), Topic("default-partitions", -1, 1), Topic("default-factor", 2, -1))
    create(talk, Topic("old-defaults", -1, -1), version=3)


@same_answers_from_plain_brokers
def test_names_of_new_topics_are_checked(talk: Talk) -> None:
    """B5."""
    names = ("", ".", "..", "a b", "ä", "x" * 249, "x" * 250, "a/b", "__cluster_metadata", "__consumer_offsets2")
    create(talk, *(Topic(name, 1, 1) for name in names), validate_only=True)


@same_answers_from_plain_brokers
def test_a_name_that_occurs_twice_is_refused(talk: Talk) -> None:
    """B5."""
    create(talk, Topic("twice", 1, 1), Topic("once", 1, 1), Topic("twice", 2, 1), Topic("twice", 0, 0))
    create(talk, Topic("__cluster_metadata", 1, 1), Topic("__cluster_metadata", 1, 1), Topic("a b", 1, 1))


@same_answers_from_plain_brokers
def test_a_name_collides_with_existing_topics_only(talk: Talk) -> None:
    """B5."""
    create(talk, Topic("coll.ision", 1, 1))
    create(talk, Topic("coll_ision", 1, 1), Topic("coll.ision", 0, 0), Topic("co.x", 1, 1), Topic("co_x", 1, 1))


@same_answers_from_plain_brokers
def test_configs_of_new_topics_are_checked(talk: Talk) -> None:
    """B5."""
    configs = (
        (Config("retention.ms", None),),
        (Config("retention.ms", None), Config("no.such", None), Config("x", "y")),
        (Config("no.such", "1"),),
        (Config("retention.ms", "abc"),),
        (Config("retention.ms", ""),),
        (Config("retention.ms", " 5 "),),
        (Config("retention.ms", "-2"),),
        (Config("retention.ms", "5"), Config("retention.ms", "6")),
        (Config("cleanup.policy", ""),),
        (Config("cleanup.policy", "compact , delete"),),
        (Config("cleanup.policy", "compact,compact"),),
        (Config("cleanup.policy", "nope"),),
        (Config("min.insync.replicas", "5"),),
        (Config("min.insync.replicas", "0"),),
        (Config("min.cleanable.dirty.ratio", "1e-3"),),
        (Config("min.cleanable.dirty.ratio", "1.5"),),
        (Config("preallocate", "TRUE"),),
        (Config("preallocate", "yes"),),
        (Config("compression.type", "brotli"),),
        (Config("compression.gzip.level", "0"),),
        (Config("leader.replication.throttled.replicas", "0:1,x"),),
        (Config("leader.replication.throttled.replicas", "*"),),
        (Config("min.compaction.lag.ms", "5"), Config("max.compaction.lag.ms", "3")),
        (Config("remote.storage.enable", "true"),),
        (Config("segment.bytes", "10"),),
    )
    for number, given in enumerate(configs):
        create(talk, Topic(f"configs-{number}", 1, 1, (), given), Topic(f"beside-{number}", 1, 1), validate_only=True)
        create(talk, Topic(f"configs-{number}", 1, 1, (), given))


@same_answers_from_plain_brokers
def test_replica_assignments_of_new_topics_are_checked(talk: Talk) -> None:
    """B5."""

    def assigned(*partitions: tuple[int, tuple[int, ...]]) -> tuple[Assigned, ...]:
        return tuple(Assigned(partition, brokers) for partition, brokers in partitions)

    good = assigned((0, (1,)))
    create(
        talk,
        Topic("assigned", -1, -1, good),
        Topic("assigned-two", -1, -1, assigned((1, (1,)), (0, (1,)))),
        Topic("with-partitions", 1, -1, good),
        Topic("with-factor", -1, 1, good),
        Topic("with-both", 1, 1, good),
        Topic("with-zero", 0, 0, good),
        Topic("gap", -1, -1, assigned((0, (1,)), (2, (1,)))),
        Topic("negative", -1, -1, assigned((-1, (1,)))),
        Topic("partition-twice", -1, -1, assigned((0, (1,)), (0, (1,)))),
        Topic("nobody", -1, -1, assigned((0, ()))),
        Topic("unknown-broker", -1, -1, assigned((0, (9,)))),
        Topic("broker-twice", -1, -1, assigned((0, (1, 1)))),
        Topic("two-brokers", -1, -1, assigned((0, (1, 2)))),
        Topic("uneven", -1, -1, assigned((0, (1,)), (1, (1, 1)))),
    )


@same_answers_from_plain_brokers
def test_numbers_of_partitions_and_replicas_are_checked(talk: Talk) -> None:
    """B5."""
    numbers = ((0, 0), (0, 1), (1, 0), (-2, 1), (1, -2), (-2, -2), (1, 2), (0, 2), (3, 30), (-1, 2))
    create(talk, *(Topic(f"numbers-{at}", *pair) for at, pair in enumerate(numbers)))


@same_answers_from_plain_brokers
def test_the_first_failing_check_is_reported(talk: Talk) -> None:
    """B5."""
    create(talk, Topic("order.exists", 1, 1))
    bad_config, null_config = (Config("no.such", "y"),), (Config("retention.ms", None),)
    bad_place = (Assigned(3, (9,)),)
    create(
        talk,
        Topic("order.exists", 0, 0, bad_place, bad_config),
        Topic("order_exists", 0, 0, bad_place, bad_config),
        Topic("a b", 0, 0, bad_place, null_config),
        Topic("order-null", 0, 0, bad_place, null_config + bad_config),
        Topic("order-config", 0, 0, bad_place, bad_config),
        Topic("order-place", 0, 0, bad_place),
        Topic("order-factor", 0, 0),
        Topic("order-partitions", 0, 2),
        Topic("order-good", 1, 1),
    )


@same_answers_from_plain_brokers
def test_validate_only_creates_nothing(talk: Talk) -> None:
    """B7."""
    create(talk, Topic("validated", 3, 1, (), (Config("retention.ms", "5"),)), validate_only=True)
    create(talk, Topic("validated", 3, 1), validate_only=True, version=2)
    create(talk, Topic("validated", 3, 1))


@same_answers_from_plain_brokers
def test_too_many_partitions(talk: Talk) -> None:
    create(talk, Topic("many", 10_001, 1), Topic("few", 1, 1), Topic("a b", 1, 1))
    create(talk, Topic("half", 6_000, 1), Topic("other-half", 4_001, 1))
    create(talk, Topic("dup", 1, 1), Topic("dup", 1, 1), Topic("many", 10_001, 1))
    create(talk, Topic("exactly", 10_000, 1), Topic("a b", 1, 1))
    create(talk, Topic("exactly", 10_000, 1), validate_only=True)
    create(talk, Topic("many-refused", 10_001, 0))


@same_answers_from_plain_brokers
def test_no_time_and_no_topics(talk: Talk) -> None:
    for timeout in (0, -1):
        request = CreateTopicsRequest((Topic("no-time", 1, 1), Topic("a b", 1, 1)), timeout)
        talk.ask(request, 7, CreateTopicsResponse)
        states = tuple(map(DeleteTopicsRequest.DeleteTopicState, ("no-such", "a b", "no-such")))
        talk.ask(DeleteTopicsRequest(states, (), timeout), 6, DeleteTopicsResponse)
        talk.ask(DeleteTopicsRequest((), ("no-such", "a b"), timeout), 5, DeleteTopicsResponse)
        by_id = DeleteTopicsRequest.DeleteTopicState(None, Uuid.random())
        talk.ask(DeleteTopicsRequest((by_id,), (), timeout), 6, DeleteTopicsResponse)
        grown = CreatePartitionsRequest.CreatePartitionsTopic("no-such", 2)
        talk.ask(CreatePartitionsRequest((grown,), timeout), 3, CreatePartitionsResponse)
    create(talk)
    talk.ask(DeleteTopicsRequest((), (), 30_000), 6, DeleteTopicsResponse)
    talk.ask(CreatePartitionsRequest((), 30_000), 3, CreatePartitionsResponse)


@same_answers_from_plain_brokers
def test_partitions_are_added(talk: Talk) -> None:
    grown = CreatePartitionsRequest.CreatePartitionsTopic
    placed = CreatePartitionsRequest.CreatePartitionsAssignment
    create(talk, Topic("grow", 2, 1), Topic("grow-more", 1, 1))
    settled(talk, "grow", "grow-more")
    requests = (
        (grown("grow", 2), grown("no-such", 5), grown("a b", 5)),
        (grown("grow", 1), grown("grow-more", 0)),
        (grown("grow", -1),),
        (grown("grow", 3), grown("grow", 4)),
        (grown("grow", 4, (placed((1,)),)), grown("grow-more", 2, ())),
        (grown("grow", 3, (placed((9,)),)),),
        (grown("grow", 3, (placed(()),)),),
        (grown("grow", 3, (placed((1, 1)),)),),
        (grown("grow", 3, (placed((1,)),)), grown("grow-more", 3)),
    )
    for version in range(4):
        for topics in requests:
            request = CreatePartitionsRequest(topics, 30_000, True)
            talk.ask(request, version, CreatePartitionsResponse)
    talk.ask(CreatePartitionsRequest(requests[-1], 30_000, False), 3, CreatePartitionsResponse)
    grown_topic = MetadataRequest((MetadataRequest.MetadataRequestTopic(name="grow"),), False)
    talk.ask_until(grown_topic, 12, MetadataResponse, lambda answer: len(answer.topics[0].partitions) == 3)


@same_answers_from_plain_brokers
def test_topics_are_deleted(talk: Talk) -> None:
    state = DeleteTopicsRequest.DeleteTopicState
    created = create(talk, *(Topic(f"gone-{number}", 1, 1) for number in range(12)))
    ids = {topic.name: topic.topic_id for topic in created.topics}
    settled(talk, *ids)
    unknown = Uuid.random()
    for version in range(1, 6):
        names = (f"gone-{version}", "no-such", "a b")
        talk.ask(DeleteTopicsRequest((), names, 30_000), version, DeleteTopicsResponse)
        talk.ask(DeleteTopicsRequest((), ("gone-8", "gone-8"), 30_000), version, DeleteTopicsResponse)
    states = (
        (state("gone-6"), state("no-such")),
        (state(None, ids["gone-7"]), state(None, unknown)),
        (state(None), state("gone-8", ids["gone-8"])),
        (state("gone-8"), state("gone-8"), state(None, ids["gone-9"]), state(None, ids["gone-9"])),
        (state("gone-8"), state(None, ids["gone-8"])),
        (state("__cluster_metadata"),),
    )
    for topics in states:
        talk.ask(DeleteTopicsRequest(topics, (), 30_000), 6, DeleteTopicsResponse)


@same_answers_from_plain_brokers
def test_metadata_of_topics(talk: Talk) -> None:
    asked = MetadataRequest.MetadataRequestTopic
    created = create(talk, Topic("known", 2, 1))
    settled(talk, "known")
    known = created.topics[0].topic_id
    for version in range(4, 14):
        names = (asked(name="known"), asked(name="unknown"), asked(name="a b"), asked(name=""))
        for operations in (False, True) if version >= 8 else (False,):
            talk.ask(MetadataRequest(names, False, False, operations), version, MetadataResponse)
    for version in (12, 13):
        talk.ask(MetadataRequest((asked(known, None), asked(Uuid.random(), None)), False), version, MetadataResponse)
        talk.ask(MetadataRequest((asked(known, "unknown"),), False), version, MetadataResponse)
    for version in (10, 11):
        talk.tell(MetadataRequest((asked(known, "known"),), False), version)
        talk.tell(MetadataRequest((asked(known, None),), False), version)
    for version in range(8, 11):
        talk.ask(MetadataRequest((), False, True, True), version, MetadataResponse)


@same_answers_from_plain_brokers
def test_metadata_creates_topics(talk: Talk) -> None:
    asked = MetadataRequest.MetadataRequestTopic
    names = ("made-by-metadata", "made.too", "not legal")
    request = MetadataRequest(tuple(asked(name=name) for name in names))
    talk.ask(request, 12, MetadataResponse)
    settled(talk, *names[:2])
    colliding = MetadataRequest((asked(name="made_too"),))
    talk.ask(colliding, 9, MetadataResponse)


@same_answers_from_plain_brokers
def test_topic_partitions_come_in_pages(talk: Talk) -> None:
    asked = DescribeTopicPartitionsRequest.TopicRequest
    cursor = DescribeTopicPartitionsRequest.Cursor
    create(talk, Topic("page-a", 3, 1), Topic("page-b", 2, 1), Topic("page-c", 1, 1))
    settled(talk, "page-a", "page-b", "page-c")
    names = tuple(map(asked, ("page-c", "page-a", "no-such-page", "page-b", "a b", "page-a")))
    for limit in (2000, 1, 2, 3, 4, 5, 6, 0, -1, 10_000):
        talk.tell(DescribeTopicPartitionsRequest(names, limit), 0)
    cursors = (
        cursor("page-a", 1), cursor("page-b", 0), cursor("page-b", 7), cursor("page-c", 1), cursor("no-such-page", 0),
        cursor("other", 0), cursor("page-a", -1), cursor("", 0),
    )  # fmt: skip
    for at in cursors:
        talk.tell(DescribeTopicPartitionsRequest(names, 3, at), 0)
