"""Groups, as far as time and files come into it; the rest is held against Apache Kafka."""

from __future__ import annotations

from pathlib import Path

from tests.broker_connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
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
    answer = await client.ask(request, 4 if retention_ms >= 0 else 9, OffsetCommitResponse)
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


async def test_offsets_topic_is_no_topic_and_coordinators_are_always_there() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        found = await client.ask(FindCoordinatorRequest("g"), 3, FindCoordinatorResponse)
        assert (found.error_code, found.port) == (0, broker.port)
        await create(client, "a")
        await commit(client, "a", 1)
        assert [topic.name for topic in (await client.ask(ALL_TOPICS, 9, MetadataResponse)).topics] == ["a"]


async def test_offsets_stay() -> None:
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock) as broker:
        async with connected_to(broker) as client:
            await create(client, "a", "b")
            await commit(client, "a", 1)
            await commit(client, "b", 2, retention_ms=1)
        clock.advance(365 * 24 * 3600.0)
        async with connected_to(broker) as client:
            assert await committed(client) == {"a": 1, "b": 2}
