"""A user without rights sees no records and groups, and changes none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.layout import Uuid
from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FetchRequest,
    FetchResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, encode_batch

AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
COMMIT = OffsetCommitRequest(
    "g",
    topics=(
        OffsetCommitRequest.OffsetCommitRequestTopic(
            "t", partitions=(OffsetCommitRequest.OffsetCommitRequestPartition(0, 7),)
        ),
    ),
)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[BrokerConnection]:
    """Connected as somebody without rights; there is a topic, and a group with a commit."""
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        topics = (CreateTopicsRequest.CreatableTopic("t", 1, 1),)
        created = await client.ask(CreateTopicsRequest(topics), 7, CreateTopicsResponse)
        assert not created.topics[0].error_code
        await client.ask(COMMIT, 9, OffsetCommitResponse)
    async with EmbeddedBroker(AUTHORIZER, data_dir=tmp_path) as broker, connected_to(broker) as client:
        yield client


@pytest.mark.parametrize(
    ("name", "topic_id", "version", "code"),
    [
        ("t", Uuid(), 12, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ("none", Uuid(), 12, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ("", Uuid(b"nothing has this"), 13, ErrorCode.UNKNOWN_TOPIC_ID),
    ],
)
async def test_records(client: BrokerConnection, name: str, topic_id: Uuid, version: int, code: ErrorCode) -> None:
    partition = ProduceRequest.PartitionProduceData(0, encode_batch([Record(value=b"v")]))
    data = (ProduceRequest.TopicProduceData(name, topic_id, (partition,)),)
    produced = await client.ask(ProduceRequest(acks=-1, topic_data=data), version, ProduceResponse)
    assert [p.error_code for topic in produced.responses for p in topic.partition_responses] == [code]
    wanted = (FetchRequest.FetchTopic(name, topic_id, (FetchRequest.FetchPartition(0),)),)
    fetched = await client.ask(FetchRequest(max_wait_ms=0, topics=wanted), version, FetchResponse)
    assert [p.error_code for topic in fetched.responses for p in topic.partitions] == [code]


async def test_offsets_of_partitions(client: BrokerConnection) -> None:
    for name in ("t", "none"):
        asked = (ListOffsetsRequest.ListOffsetsTopic(name, (ListOffsetsRequest.ListOffsetsPartition(0),)),)
        listed = await client.ask(ListOffsetsRequest(-1, topics=asked), 7, ListOffsetsResponse)
        assert listed.topics[0].partitions[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


async def test_producer_ids(client: BrokerConnection) -> None:
    answer = await client.ask(InitProducerIdRequest(None), 5, InitProducerIdResponse)
    assert (answer.error_code, answer.producer_id) == (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, -1)
    answer = await client.ask(InitProducerIdRequest("x"), 5, InitProducerIdResponse)
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


async def test_groups(client: BrokerConnection) -> None:
    refused = ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert (await client.ask(FindCoordinatorRequest("g"), 3, FindCoordinatorResponse)).error_code == refused
    assert (await client.ask(ListGroupsRequest(), 5, ListGroupsResponse)).groups == ()
    described = await client.ask(DescribeGroupsRequest(("g", "none")), 6, DescribeGroupsResponse)
    assert [(group.error_code, group.group_state) for group in described.groups] == [(refused, "")] * 2
    deleted = await client.ask(DeleteGroupsRequest(("g", "none")), 2, DeleteGroupsResponse)
    assert [result.error_code for result in deleted.results] == [refused] * 2


async def test_offsets_of_groups(client: BrokerConnection) -> None:
    refused = ErrorCode.GROUP_AUTHORIZATION_FAILED
    committed = await client.ask(COMMIT, 9, OffsetCommitResponse)
    assert committed.topics[0].partitions[0].error_code == refused
    topics = (OffsetFetchRequest.OffsetFetchRequestTopic("t", (0,)),)
    first = await client.ask(OffsetFetchRequest("g", topics), 1, OffsetFetchResponse)
    assert [(p.error_code, p.committed_offset) for t in first.topics for p in t.partitions] == [(refused, -1)]
    later = await client.ask(OffsetFetchRequest("g", topics), 7, OffsetFetchResponse)
    assert (later.error_code, later.topics) == (refused, ())
    assert (await client.ask(OffsetDeleteRequest("g"), 0, OffsetDeleteResponse)).error_code == refused
