"""Produce and fetch where time or the end of the broker matter; other tests compare the rest with Apache Kafka."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    FetchRequest,
    FetchResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches
from kafkawire.wire.compression import Codec


async def create(client: BrokerConnection, **configs: str) -> None:
    """Make the topic."""
    pairs = tuple(CreateTopicsRequest.CreatableTopicConfig(name.replace("_", "."), v) for name, v in configs.items())
    topics = (CreateTopicsRequest.CreatableTopic("t", 2, 1, (), pairs),)
    answer = await client.ask(CreateTopicsRequest(topics), 7, CreateTopicsResponse)
    assert not answer.topics[0].error_code


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(clock=ManualClock()) as broker:
        async with connected_to(broker) as client:
            await create(client)
        yield broker


def fetch(offset: int = 0, wait_ms: int = 5000, least: int = 1) -> FetchRequest:
    partitions = (FetchRequest.FetchPartition(1, fetch_offset=0), FetchRequest.FetchPartition(0, fetch_offset=offset))
    asked = tuple(FetchRequest.FetchPartition(p.partition, -1, p.fetch_offset, -1, -1, 1000) for p in partitions)
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=least, topics=(FetchRequest.FetchTopic("t", partitions=asked),))


async def produce(client: BrokerConnection, value: bytes = b"v", key: bytes | None = None) -> ProduceResponse:
    partition = ProduceRequest.PartitionProduceData(0, encode_batch([Record(key=key, value=value)]))
    data = (ProduceRequest.TopicProduceData("t", partition_data=(partition,)),)
    return await client.ask(ProduceRequest(acks=-1, topic_data=data), 9, ProduceResponse)


def values(answer: FetchResponse) -> list[bytes | None]:
    read = (batch for topic in answer.responses for p in topic.partitions for batch in read_batches(p.records or b""))
    return [record.value for batch in read for record in decode_records(batch)]


async def test_a_fetch_waits_for_records(broker: EmbeddedBroker) -> None:
    async with connected_to(broker) as reader, connected_to(broker) as writer:
        waiting = asyncio.ensure_future(reader.ask(fetch(), 12, FetchResponse))
        await produce(writer)
        assert values(await waiting) == [b"v"]


async def test_a_fetch_waits_for_as_many_bytes_as_it_wants() -> None:
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock) as broker, connected_to(broker) as reader, connected_to(broker) as writer:
        await create(writer)
        waiting = asyncio.ensure_future(reader.ask(fetch(least=150), 12, FetchResponse))
        await produce(writer, b"1")
        await produce(writer, b"2")
        await produce(writer, b"3")
        assert values(await waiting) == [b"1", b"2", b"3"]


async def test_a_fetch_waits_no_longer_than_it_says() -> None:
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock) as broker, connected_to(broker) as reader, connected_to(broker) as other:
        await create(other)
        sleepers = clock.sleepers
        waiting = asyncio.ensure_future(reader.ask(fetch(wait_ms=5000), 12, FetchResponse))
        while clock.sleepers == sleepers:
            await other.ask(fetch(wait_ms=0), 12, FetchResponse)
        clock.advance(5.0)
        assert values(await waiting) == []


async def test_a_fetch_does_not_wait_for_a_topic_that_is_gone(broker: EmbeddedBroker) -> None:
    async with connected_to(broker) as reader, connected_to(broker) as other:
        waiting = asyncio.ensure_future(reader.ask(fetch(), 12, FetchResponse))
        await other.ask(fetch(wait_ms=0), 12, FetchResponse)
        await other.ask(DeleteTopicsRequest(topic_names=("t",), timeout_ms=1000), 5, DeleteTopicsResponse)
        answer = await waiting
        assert {p.error_code for topic in answer.responses for p in topic.partitions} == {3}


async def test_records_go_with_their_topic(broker: EmbeddedBroker) -> None:
    async with connected_to(broker) as client:
        await produce(client)
        await client.ask(DeleteTopicsRequest(topic_names=("t",), timeout_ms=1000), 5, DeleteTopicsResponse)
        await create(client)
        assert values(await client.ask(fetch(wait_ms=0), 12, FetchResponse)) == []


async def test_produce_0_to_2_is_listed_and_hung_up_on(broker: EmbeddedBroker) -> None:
    for version in range(3):
        async with connected_to(broker) as client:
            client.send(ProduceRequest(acks=1), version)
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await client.frame()


async def test_producer_ids_are_given_out_once(tmp_path: Path) -> None:
    ids = []
    for _ in range(2):
        async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
            for _ in range(3):
                answer = await client.ask(InitProducerIdRequest(None), 5, InitProducerIdResponse)
                ids.append(answer.producer_id)
    assert len(set(ids)) == 6
    assert min(ids) >= 0


async def test_compression_of_topics_changes_no_batch() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        await create(client, compression_type="gzip")
        await produce(client, bytes(100))
        answer = await client.ask(fetch(wait_ms=0), 12, FetchResponse)
        read = [batch for p in answer.responses[0].partitions for batch in read_batches(p.records or b"")]
        assert [batch.codec for batch in read] == [Codec.NONE]


async def test_fetch_sessions_are_declined(broker: EmbeddedBroker) -> None:
    async with connected_to(broker) as client:
        request = replace(fetch(wait_ms=0), session_epoch=0)
        for version in range(7, 13):
            answer = await client.ask(request, version, FetchResponse)
            assert (answer.error_code, answer.session_id, len(answer.responses)) == (0, 0, 1)


async def test_longest_wait_of_a_fetch() -> None:
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock) as broker, connected_to(broker) as reader, connected_to(broker) as other:
        await create(other)
        sleepers = clock.sleepers
        waiting = asyncio.ensure_future(reader.ask(fetch(wait_ms=2**31 - 1), 12, FetchResponse))
        while clock.sleepers == sleepers:
            await other.ask(fetch(wait_ms=0), 12, FetchResponse)
        clock.advance(599.0)
        await other.ask(fetch(wait_ms=0), 12, FetchResponse)
        assert not waiting.done()
        clock.advance(1.0)
        assert values(await waiting) == []


async def test_small_batches_that_become_large_are_kept_as_well(broker: EmbeddedBroker) -> None:
    """Large requests are checked in the thread."""
    large = encode_batch([Record(timestamp=1, value=bytes(200_000))], codec=Codec.ZSTD)
    assert len(large) < 1000
    async with connected_to(broker) as client:
        partitions = tuple(ProduceRequest.PartitionProduceData(index, large) for index in (0, 1))
        topics = (ProduceRequest.TopicProduceData("t", partition_data=partitions),)
        request = ProduceRequest(acks=1, timeout_ms=1000, topic_data=topics)
        answer = await client.ask(request, 9, ProduceResponse)
    assert [one.error_code for one in answer.responses[0].partition_responses] == [0, 0]
