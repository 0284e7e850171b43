"""Groups where time or files matter; other tests compare the rest with Apache Kafka."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)

ALL_TOPICS = MetadataRequest(None)


async def create(client: BrokerConnection, *names: str) -> None:
    topics = tuple(CreateTopicsRequest.CreatableTopic(name, 1, 1) for name in names)
    await client.ask(CreateTopicsRequest(topics), 7, CreateTopicsResponse)


async def commit(client: BrokerConnection, topic: str, offset: int, retention_ms: int = -1) -> int:
    partition = OffsetCommitRequest.OffsetCommitRequestPartition(0, offset)
    topics = (OffsetCommitRequest.OffsetCommitRequestTopic(topic, partitions=(partition,)),)
    request = OffsetCommitRequest("g", retention_time_ms=retention_ms, topics=topics)
    answer = await client.ask(request, 9 if retention_ms == -1 else 4, OffsetCommitResponse)
    return answer.topics[0].partitions[0].error_code


async def committed(client: BrokerConnection) -> dict[str, int]:
    groups = (OffsetFetchRequest.OffsetFetchRequestGroup("g", topics=None),)
    answer = await client.ask(OffsetFetchRequest(groups=groups), 8, OffsetFetchResponse)
    return {topic.name: topic.partitions[0].committed_offset for topic in answer.groups[0].topics}


async def test_commits_are_there_after_a_restart_and_gone_with_their_topic(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client, "a", "b")
        assert [await commit(client, name, 7) for name in ("a", "b")] == [0, 0]
        deletion = DeleteTopicsRequest(topic_names=("a",), timeout_ms=1000)
        await client.ask(deletion, 5, DeleteTopicsResponse)
        assert await committed(client) == {"b": 7}
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        assert await committed(client) == {"b": 7}


async def topics(client: BrokerConnection) -> dict[str, tuple[bool, int]]:
    """Name to whether the topic is internal, and how many partitions with a leader it has."""
    described = (await client.ask(ALL_TOPICS, 9, MetadataResponse)).topics
    return {
        topic.name or "": (topic.is_internal, sum(not partition.error_code for partition in topic.partitions))
        for topic in described
    }


async def test_offsets_topic_is_there_at_once_with_one_replica(tmp_path: Path) -> None:
    """When somebody looks for a coordinator or commits; ``offsets.topic.replication.factor`` is 3 by default."""
    for data_dir in (None, tmp_path):
        async with EmbeddedBroker(data_dir=data_dir) as broker, connected_to(broker) as client:
            await create(client, "a")
            assert await topics(client) == {"a": (False, 1)}
            found = await client.ask(FindCoordinatorRequest("g"), 3, FindCoordinatorResponse)
            assert (found.error_code, found.port) == (0, broker.port)
            assert await topics(client) == {"a": (False, 1), "__consumer_offsets": (True, 50)}
            assert await commit(client, "a", 1) == 0
    async with EmbeddedBroker({"offsets.topic.num.partitions": "3"}) as broker, connected_to(broker) as client:
        await create(client, "a")
        assert await commit(client, "a", 1) == 0
        assert await topics(client) == {"a": (False, 1), "__consumer_offsets": (True, 3)}


async def test_commits_are_gone_with_the_topic_of_commits(tmp_path: Path) -> None:
    for data_dir in (None, tmp_path):
        async with EmbeddedBroker(data_dir=data_dir) as broker, connected_to(broker) as client:
            await create(client, "a")
            await commit(client, "a", 1)
            deletion = DeleteTopicsRequest(topic_names=("__consumer_offsets",), timeout_ms=1000)
            await client.ask(deletion, 5, DeleteTopicsResponse)
            assert await committed(client) == {}
            assert await commit(client, "a", 2) == 0
            assert await committed(client) == {"a": 2}


async def test_commits_of_many_groups_at_once(tmp_path: Path) -> None:
    """Each of the fifty partitions is made with the first commit of a group in it."""
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client, "a")
        partition = OffsetCommitRequest.OffsetCommitRequestPartition(0, 7)
        topics = (OffsetCommitRequest.OffsetCommitRequestTopic("a", partitions=(partition,)),)
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(connected_to(broker)) for _ in range(10)]

            async def commit_some(number: int) -> None:
                for group in range(10):
                    request = OffsetCommitRequest(f"group-{number}-{group}", topics=topics)
                    answer = await clients[number].ask(request, 9, OffsetCommitResponse)
                    assert answer.topics[0].partitions[0].error_code == 0

            await asyncio.gather(*map(commit_some, range(10)))
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        asked = tuple(
            OffsetFetchRequest.OffsetFetchRequestGroup(f"group-{n}-{g}", topics=None)
            for n in range(10)
            for g in range(10)
        )
        answer = await client.ask(OffsetFetchRequest(groups=asked), 8, OffsetFetchResponse)
        assert [group.topics[0].partitions[0].committed_offset for group in answer.groups] == [7] * 100


async def test_offsets_expire_after_their_retention() -> None:
    """By the broker's clock; those with a time of their own (versions 2 to 4) at that time."""
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock) as broker:

        async def left_after(seconds: float) -> tuple[dict[str, int], int]:
            """The offsets that are left, and how many groups; connections are closed meanwhile, since they are idle."""
            clock.advance(seconds)
            await asyncio.sleep(0.05)
            async with connected_to(broker) as client:
                groups = (await client.ask(ListGroupsRequest(), 4, ListGroupsResponse)).groups
                return await committed(client), len(groups)

        async with connected_to(broker) as client:
            await create(client, "a", "b")
            await commit(client, "a", 1)
            await commit(client, "b", 2, retention_ms=1)
        assert await left_after(599) == ({"a": 1, "b": 2}, 1)
        assert await left_after(2) == ({"a": 1}, 1)
        assert await left_after(7 * 24 * 3600 - 1200) == ({"a": 1}, 1)
        assert await left_after(1200) == ({}, 0)


@pytest.mark.parametrize(
    ("retention_ms", "is_left"),
    [(-1, True), (0, False), (-2, False), (-(1 << 63), False), (1 << 62, True), ((1 << 63) - 1, False)],
)
async def test_offsets_expire_at_any_time_that_a_client_asks_for(
    tmp_path: Path, retention_ms: int, *, is_left: bool
) -> None:
    """As in Apache Kafka, which adds it to the time as a long of Java: a sum that is too large is long ago."""
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock, data_dir=tmp_path) as broker:
        async with connected_to(broker) as client:
            await create(client, "a")
            assert await commit(client, "a", 1, retention_ms) == 0
            assert await committed(client) == {"a": 1}
        await asyncio.sleep(0.05)
        await broker.advance(601)
        async with connected_to(broker) as client:
            assert await committed(client) == ({"a": 1} if is_left else {})
