"""DescribeTopicPartitions page by page, and DeleteTopics by name and by id."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.layout import Uuid
from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)

Cursor = DescribeTopicPartitionsRequest.Cursor
State = DeleteTopicsRequest.DeleteTopicState
PARTITIONS = {"a": 3, "b": 1, "c": 4}


@pytest.fixture
async def client() -> AsyncIterator[BrokerConnection]:
    async with EmbeddedBroker({"max.request.partition.size.limit": "5"}) as broker, connected_to(broker) as client:
        yield client


async def create(client: BrokerConnection) -> dict[str, Uuid]:
    topics = tuple(CreateTopicsRequest.CreatableTopic(name, count, 1) for name, count in PARTITIONS.items())
    answer = await client.ask(CreateTopicsRequest(topics), 7, CreateTopicsResponse)
    return {topic.name: topic.topic_id for topic in answer.topics}


@pytest.mark.parametrize(("limit", "pages"), [(1, 8), (2, 4), (3, 3), (100, 2), (-5, 8)])
async def test_pages_together_are_all_partitions(client: BrokerConnection, limit: int, pages: int) -> None:
    await create(client)
    seen: list[tuple[str | None, int]] = []
    cursor, told = None, 0
    while told < 100:
        request = DescribeTopicPartitionsRequest((), limit, cursor)
        answer = await client.ask(request, 0, DescribeTopicPartitionsResponse)
        told += 1
        seen += [(topic.name, one.partition_index) for topic in answer.topics for one in topic.partitions]
        if answer.next_cursor is None:
            break
        cursor = Cursor(answer.next_cursor.topic_name, answer.next_cursor.partition_index)
    assert told == pages
    assert seen == [(name, partition) for name, count in PARTITIONS.items() for partition in range(count)]


async def test_a_cursor_must_be_among_the_topics(client: BrokerConnection) -> None:
    asked = (DescribeTopicPartitionsRequest.TopicRequest("a"),)
    answer = await client.ask(
        DescribeTopicPartitionsRequest(asked, 10, Cursor("b", 0)), 0, DescribeTopicPartitionsResponse
    )
    assert [topic.error_code for topic in answer.topics] == [42]


async def test_each_topic_is_deleted_once_however_it_is_named(client: BrokerConnection) -> None:
    ids = await create(client)
    states = (State("a"), State(None, ids["a"]), State(None, ids["b"]), State("c"), State("c"), State(None))
    answer = await client.ask(DeleteTopicsRequest(states, (), 30_000), 6, DeleteTopicsResponse)
    outcomes = {(result.name, result.error_code) for result in answer.responses}
    assert outcomes == {("a", 42), ("b", 0), ("c", 42), (None, 42)}
    unknown = DeleteTopicsRequest((State("b"), State(None, ids["b"])), (), 30_000)
    answer = await client.ask(unknown, 6, DeleteTopicsResponse)
    assert sorted(result.error_code for result in answer.responses) == [3, 100]
