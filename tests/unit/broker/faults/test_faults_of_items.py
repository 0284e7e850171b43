"""Faults of a topic, a partition or a group, while the rest of a request is served."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.admin import AdminClient, NewTopic, TopicPartition
from kafkawire.broker import EmbeddedBroker
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FetchRequest,
    FetchResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, encode_batch

NOT_LEADER, NOT_COORDINATOR = ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR
TOPICS = ("orders", "payments")


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    topics = [NewTopic(name, num_partitions=2) for name in TOPICS]
    async with EmbeddedBroker(topics=topics) as broker:
        yield broker


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[BrokerConnection]:
    async with connected_to(broker) as client:
        yield client


async def topic_ids(broker: EmbeddedBroker) -> dict[str, Uuid]:
    async with AdminClient(broker.bootstrap_servers) as admin:
        return {name: topic.topic_id or Uuid() for name, topic in (await admin.list_topics()).items()}


async def end_offsets(client: BrokerConnection) -> dict[tuple[str, int], tuple[int, int]]:
    """Error and end offset of each partition."""
    partitions = tuple(ListOffsetsRequest.ListOffsetsPartition(number, -1, -1) for number in (0, 1))
    asked = tuple(ListOffsetsRequest.ListOffsetsTopic(name, partitions) for name in TOPICS)
    answer = await client.ask(ListOffsetsRequest(-1, 0, asked), 7, ListOffsetsResponse)
    return {(t.name, p.partition_index): (p.error_code, p.offset) for t in answer.topics for p in t.partitions}


async def produce(client: BrokerConnection) -> dict[tuple[str, int], int]:
    """One record to each partition; returns the error of each."""
    batch = encode_batch([Record(timestamp=1_767_225_600_000, key=b"k", value=b"v")])
    partitions = tuple(ProduceRequest.PartitionProduceData(number, batch) for number in (0, 1))
    asked = tuple(ProduceRequest.TopicProduceData(name, partition_data=partitions) for name in TOPICS)
    answer = await client.ask(ProduceRequest(acks=-1, topic_data=asked), 9, ProduceResponse)
    return {(t.name, p.index): p.error_code for t in answer.responses for p in t.partition_responses}


async def test_only_the_records_of_a_topic_are_refused(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    with broker.faults.refuse(ProduceRequest, error=NOT_LEADER, topic="orders") as fault:
        errors = await produce(client)
    assert errors == {("orders", 0): 6, ("orders", 1): 6, ("payments", 0): 0, ("payments", 1): 0}
    assert {key: end for key, (_, end) in (await end_offsets(client)).items()} == {
        ("orders", 0): 0, ("orders", 1): 0, ("payments", 0): 1, ("payments", 1): 1,
    }  # fmt: skip
    assert fault.hits == 1


async def test_only_the_records_of_a_partition_are_refused(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    broker.faults.refuse(ProduceRequest, error=NOT_LEADER, topic="orders", partition=1, times=1)
    assert await produce(client) == {("orders", 0): 0, ("orders", 1): 6, ("payments", 0): 0, ("payments", 1): 0}
    assert set((await produce(client)).values()) == {0}


async def test_a_partition_without_a_topic_is_that_of_all_topics(
    broker: EmbeddedBroker, client: BrokerConnection
) -> None:
    broker.faults.refuse(ListOffsetsRequest, error=NOT_LEADER, partition=0)
    errors = {key: error for key, (error, _) in (await end_offsets(client)).items()}
    assert errors == {("orders", 0): 6, ("orders", 1): 0, ("payments", 0): 6, ("payments", 1): 0}


async def test_two_topics_have_two_errors(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    broker.faults.refuse(ProduceRequest, error=NOT_LEADER, topic="orders")
    broker.faults.refuse(ProduceRequest, error=ErrorCode.KAFKA_STORAGE_ERROR, topic="payments")
    assert await produce(client) == {("orders", 0): 6, ("orders", 1): 6, ("payments", 0): 56, ("payments", 1): 56}


async def test_a_request_that_has_ids_of_topics_is_about_the_names_too(
    broker: EmbeddedBroker, client: BrokerConnection
) -> None:
    ids = await topic_ids(broker)
    partition = (FetchRequest.FetchPartition(0, fetch_offset=0, partition_max_bytes=1000),)
    topics = tuple(FetchRequest.FetchTopic(topic_id=ids[name], partitions=partition) for name in TOPICS)
    broker.faults.refuse(FetchRequest, error=NOT_LEADER, topic="orders")
    answer = await client.ask(FetchRequest(max_wait_ms=0, topics=topics), 17, FetchResponse)
    assert answer.error_code == 0
    errors = {topic.topic_id: topic.partitions[0].error_code for topic in answer.responses}
    assert errors == {ids["orders"]: 6, ids["payments"]: 0}


async def test_metadata_of_a_topic_is_refused_and_metadata_of_all_is_not(
    broker: EmbeddedBroker, client: BrokerConnection
) -> None:
    broker.faults.refuse(MetadataRequest, error=ErrorCode.LEADER_NOT_AVAILABLE, topic="orders")
    named = MetadataRequest(tuple(MetadataRequest.MetadataRequestTopic(name=name) for name in TOPICS))
    answer = await client.ask(named, 12, MetadataResponse)
    assert {topic.name: topic.error_code for topic in answer.topics} == {"orders": 5, "payments": 0}
    assert answer.brokers
    everything = await client.ask(MetadataRequest(None), 12, MetadataResponse)
    assert {topic.name: topic.error_code for topic in everything.topics} == {"orders": 0, "payments": 0}


async def test_configs_of_a_topic_are_refused(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    broker.faults.refuse(DescribeConfigsRequest, error=NOT_LEADER, topic="orders")
    resources = tuple(DescribeConfigsRequest.DescribeConfigsResource(2, name) for name in TOPICS)
    other = DescribeConfigsRequest.DescribeConfigsResource(4, str(1))
    answer = await client.ask(DescribeConfigsRequest((*resources, other)), 4, DescribeConfigsResponse)
    assert {item.resource_name: item.error_code for item in answer.results}["orders"] == 6
    assert {item.resource_name: item.error_code for item in answer.results}["payments"] == 0


async def test_only_a_group_is_refused(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    broker.faults.refuse(error=NOT_COORDINATOR, group="billing")
    groups = DescribeGroupsRequest(("billing", "shipping"))
    described = await client.ask(groups, 5, DescribeGroupsResponse)
    assert {group.group_id: group.error_code for group in described.groups} == {"billing": 16, "shipping": 0}
    beats = [await client.ask(HeartbeatRequest(group, 1, "m"), 4, HeartbeatResponse) for group in groups.groups]
    assert [beat.error_code for beat in beats] == [16, 25]
    found = await client.ask(
        FindCoordinatorRequest(key_type=0, coordinator_keys=("billing", "shipping")), 4, FindCoordinatorResponse
    )
    assert {each.key: each.error_code for each in found.coordinators} == {"billing": 16, "shipping": 0}


@pytest.mark.parametrize("version", [7, 8, 9])
async def test_the_offsets_of_one_partition_of_a_group_are_refused(
    broker: EmbeddedBroker, client: BrokerConnection, version: int
) -> None:
    async with AdminClient(broker.bootstrap_servers) as admin:
        offsets = {TopicPartition("orders", number): number + 5 for number in (0, 1)}
        (await admin.alter_consumer_group_offsets("billing", offsets)).all()
    broker.faults.refuse(OffsetFetchRequest, error=NOT_COORDINATOR, group="billing", topic="orders", partition=1)
    topics = (OffsetFetchRequest.OffsetFetchRequestTopics("orders", partition_indexes=(0, 1)),)
    if version < 8:
        one = (OffsetFetchRequest.OffsetFetchRequestTopic("orders", (0, 1)),)
        old = await client.ask(OffsetFetchRequest("billing", one), version, OffsetFetchResponse)
        assert old.error_code == 0
        partitions = {p.partition_index: (p.error_code, p.committed_offset) for p in old.topics[0].partitions}
    else:
        group = OffsetFetchRequest.OffsetFetchRequestGroup("billing", topics=topics)
        new = await client.ask(OffsetFetchRequest(groups=(group,)), version, OffsetFetchResponse)
        (answered,) = new.groups
        assert answered.error_code == 0
        partitions = {p.partition_index: (p.error_code, p.committed_offset) for p in answered.topics[0].partitions}
    assert partitions == {0: (0, 5), 1: (16, -1)}


async def test_other_faults_concern_the_whole_request(broker: EmbeddedBroker) -> None:
    broker.faults.drop(MetadataRequest, topic="orders")
    named = {name: MetadataRequest((MetadataRequest.MetadataRequestTopic(name=name),)) for name in TOPICS}
    async with connected_to(broker) as client:
        assert (await client.ask(named["payments"], 12, MetadataResponse)).topics
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await client.ask(named["orders"], 12, MetadataResponse)


async def test_a_partition_is_not_in_requests_whose_answers_have_none(
    broker: EmbeddedBroker, client: BrokerConnection
) -> None:
    broker.faults.refuse(MetadataRequest, error=NOT_LEADER, topic="orders", partition=0)
    named = MetadataRequest((MetadataRequest.MetadataRequestTopic(name="orders"),))
    assert (await client.ask(named, 12, MetadataResponse)).topics[0].error_code == 0
