"""Names and partitions that are in one request twice, in the calls whose own tests do not have them."""

from __future__ import annotations

import pytest
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_data import batch, fetch, produce, topic_with_leaders
from tests.interop.broker.same_answers.test_groups import coordinated, topic_of
from tests.interop.broker.same_answers.test_topics import Config, Topic, create, settled

from kafkawire.layout import Uuid
from kafkawire.protocol import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    FetchRequest,
    FetchResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)

pytestmark = pytest.mark.interop

_TOPIC, _BROKER = 2, 4


@same_answers_from_plain_brokers
def test_topics_created_twice_at_every_version(talk: Talk) -> None:
    """Neither is created, whatever other errors they have; other topics are created (error 42)."""
    small = Config("retention.ms", "5")
    for version in range(2, 8):
        twice, beside = f"du-twice-{version}", Topic(f"du-beside-{version}", 1, 1)
        create(talk, Topic(twice, 1, 1), Topic(twice, 1, 1, (), (small,)), beside, Topic(twice, 1, 1), version=version)
        create(talk, Topic(twice, 1, 1), Topic(twice, 1, 1), validate_only=True, version=version)
        asked = (MetadataRequest.MetadataRequestTopic(name=twice),)
        talk.ask(MetadataRequest(asked, allow_auto_topic_creation=False), 9, MetadataResponse)


@same_answers_from_plain_brokers
def test_topics_deleted_and_grown_twice(talk: Talk) -> None:
    create(talk, Topic("du-gone", 1, 1), Topic("du-grow", 1, 1))
    settled(talk, "du-gone", "du-grow")
    state = DeleteTopicsRequest.DeleteTopicState
    names = ("du-gone", "du-gone", "du-none", "du-none")
    talk.ask(DeleteTopicsRequest(topic_names=names, timeout_ms=20_000), 5, DeleteTopicsResponse)
    talk.ask(DeleteTopicsRequest(tuple(map(state, names)), timeout_ms=20_000), 6, DeleteTopicsResponse)
    grown = CreatePartitionsRequest.CreatePartitionsTopic
    request = CreatePartitionsRequest((grown("du-grow", 3), grown("du-grow", 3), grown("du-none", 1)), 20_000, False)
    talk.ask(request, 3, CreatePartitionsResponse)
    settled(talk, "du-gone", "du-grow")


@same_answers_from_plain_brokers
def test_topics_described_twice(talk: Talk) -> None:
    topic_id = topic_of(talk, "du-seen")
    asked = MetadataRequest.MetadataRequestTopic
    names = tuple(asked(name=name) for name in ("du-seen", "du-none", "du-seen", "du-none", "a b", "a b"))
    for version in range(4, 13):  # older versions create what is missing, sooner or later
        talk.ask(MetadataRequest(names, False), version, MetadataResponse)
    ids = tuple(asked(one, None) for one in (topic_id, topic_id, Uuid(b"nothing has this"), Uuid(b"nothing has this")))
    talk.ask(MetadataRequest(ids, False), 12, MetadataResponse)
    topics = tuple(map(DescribeTopicPartitionsRequest.TopicRequest, ("du-seen", "du-seen", "a b", "a b")))
    talk.ask(DescribeTopicPartitionsRequest(topics), 0, DescribeTopicPartitionsResponse)


@same_answers_from_plain_brokers
def test_configurations_described_and_replaced_twice(talk: Talk) -> None:
    topic_of(talk, "du-configs")
    described = DescribeConfigsRequest.DescribeConfigsResource
    keys = ("retention.ms", "retention.ms")
    for version in range(1, 5):
        resources = (described(_TOPIC, "du-configs", keys), described(_TOPIC, "du-configs", keys[:1]))
        talk.ask(DescribeConfigsRequest(resources), version, DescribeConfigsResponse)
        resources = (described(_TOPIC, "du-none", keys), described(_TOPIC, "du-none", ()))
        talk.ask(DescribeConfigsRequest(resources), version, DescribeConfigsResponse)
    talk.ask(ListConfigResourcesRequest((_BROKER, _BROKER)), 1, ListConfigResourcesResponse)
    config = AlterConfigsRequest.AlterableConfig
    configs = (config("retention.ms", "5"), config("retention.ms", "6"))
    replaced = AlterConfigsRequest.AlterConfigsResource(_TOPIC, "du-configs", configs)
    talk.ask(AlterConfigsRequest((replaced,)), 2, AlterConfigsResponse)


@same_answers_from_plain_brokers
def test_offsets_committed_fetched_and_deleted_twice(talk: Talk) -> None:
    topic_of(talk, "du-offsets")
    coordinated(talk, "du-group")
    committed = OffsetCommitRequest.OffsetCommitRequestPartition
    first, second = committed(0, 1), committed(0, 2)
    topic = OffsetCommitRequest.OffsetCommitRequestTopic
    for topics in (
        (topic("du-offsets", partitions=(first, second)),),
        (topic("du-offsets", partitions=(second,)), topic("du-offsets", partitions=(first,))),
    ):
        talk.ask(OffsetCommitRequest("du-group", topics=topics), 9, OffsetCommitResponse)
        fetched = OffsetFetchRequest.OffsetFetchRequestTopics
        for asked in ((fetched("du-offsets", partition_indexes=(0, 0)),), (fetched("du-offsets"),) * 2):
            group = OffsetFetchRequest.OffsetFetchRequestGroup("du-group", topics=asked)
            talk.ask(OffsetFetchRequest(groups=(group,)), 8, OffsetFetchResponse)
            talk.ask(OffsetFetchRequest(groups=(group, group)), 8, OffsetFetchResponse)
    deleted = OffsetDeleteRequest.OffsetDeleteRequestPartition(0)
    of_topic = OffsetDeleteRequest.OffsetDeleteRequestTopic("du-offsets", (deleted, deleted))
    talk.ask(OffsetDeleteRequest("du-group", (of_topic,)), 0, OffsetDeleteResponse)


@same_answers_from_plain_brokers
def test_records_of_a_partition_twice(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "du-records")
    produce(talk, topic, batch(), partitions=(0,))
    fetch(talk, topic, partitions=(0, 0))
    partition = FetchRequest.FetchPartition(0, partition_max_bytes=1000)
    topics = (FetchRequest.FetchTopic("du-records", partitions=(partition,)),) * 2
    talk.ask(FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=1000, topics=topics), 12, FetchResponse)
    listed = ListOffsetsRequest.ListOffsetsTopic("du-records", (ListOffsetsRequest.ListOffsetsPartition(0, -1, -1),))
    talk.ask(ListOffsetsRequest(-1, topics=(listed, listed)), 9, ListOffsetsResponse)
