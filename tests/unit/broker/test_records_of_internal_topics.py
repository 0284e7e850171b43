"""What clients read of `__consumer_offsets` and its like: the records of coordinators, in Kafka's format."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest
from tests.embedded.connection import BrokerConnection, connected_to
from tests.embedded.transactional_producer import COMMITTED, TransactionalProducer
from tests.unit.broker.handlers.test_groups import commit, create

from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeProducersRequest,
    DescribeProducersResponse,
    FetchRequest,
    FetchResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetCommitValue,
    TransactionLogValue,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.coordinator_records import CoordinatorRecord, decode_coordinator_record
from kafkawire.wire import Message
from kafkawire.wire.batches import RecordBatch, decode_records, read_batches

OFFSETS: Final = "__consumer_offsets"
TRANSACTIONS: Final = "__transaction_state"
PROPERTIES: Final = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}
EARLIEST: Final = -2
LATEST: Final = -1


@pytest.fixture(params=["memory", "disk"])
def data_dir(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path if request.param == "disk" else None


def fetch(offset: int, *, wait_ms: int = 0, topic: str = OFFSETS, isolation_level: int = 0) -> FetchRequest:
    partition = FetchRequest.FetchPartition(0, -1, offset, -1, -1, 1 << 20)
    topics = (FetchRequest.FetchTopic(topic, partitions=(partition,)),)
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=1, isolation_level=isolation_level, topics=topics)


async def read(
    client: BrokerConnection, offset: int = 0, *, topic: str = OFFSETS, isolation_level: int = 0
) -> FetchResponse.PartitionData:
    request = fetch(offset, topic=topic, isolation_level=isolation_level)
    answer = await client.ask(request, 12, FetchResponse)
    return answer.responses[0].partitions[0]


def values(found: FetchResponse.PartitionData, topic: str = OFFSETS) -> list[Message | None]:
    assert not found.error_code
    decoded = []
    for batch in read_batches(found.records or b""):
        for record in () if batch.is_control else decode_records(batch):
            one = decode_coordinator_record(topic, record.key, record.value)
            assert isinstance(one, CoordinatorRecord)
            decoded.append(one.value)
    return decoded


def offsets(found: FetchResponse.PartitionData) -> list[int]:
    return [value.offset for value in values(found) if isinstance(value, OffsetCommitValue)]


async def listed(client: BrokerConnection, timestamp: int) -> int:
    partition = ListOffsetsRequest.ListOffsetsPartition(0, -1, timestamp)
    topics = (ListOffsetsRequest.ListOffsetsTopic(OFFSETS, (partition,)),)
    answer = await client.ask(ListOffsetsRequest(-1, topics=topics), 7, ListOffsetsResponse)
    return answer.topics[0].partitions[0].offset


async def test_each_commit_is_a_record(data_dir: Path | None) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=data_dir) as broker, connected_to(broker) as client:
        await create(client, "a")
        for offset in (5, 7, 6):
            assert await commit(client, "a", offset) == 0
        found = await read(client)
        assert offsets(found) == [5, 7, 6]
        assert (found.log_start_offset, found.last_stable_offset, found.high_watermark) == (0, 3, 3)
        assert offsets(await read(client, 2)) == [6]
        assert (await read(client, 4)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        assert [await listed(client, at) for at in (EARLIEST, LATEST, 0, 1 << 60)] == [0, 3, 0, -1]


async def test_a_fetch_waits_for_the_next_commit(data_dir: Path | None) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=data_dir) as broker, connected_to(broker) as client:
        await create(client, "a")
        await commit(client, "a", 1)
        async with connected_to(broker) as reader:
            waiting = asyncio.ensure_future(reader.ask(fetch(1, wait_ms=60_000), 12, FetchResponse))
            await asyncio.sleep(0.01)
            assert not waiting.done()
            await commit(client, "a", 2)
            answer = await asyncio.wait_for(waiting, 10)
    assert offsets(answer.responses[0].partitions[0]) == [2]


async def test_a_fetch_waits_for_the_first_commit_of_a_partition(data_dir: Path | None) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=data_dir) as broker, connected_to(broker) as client:
        await create(client, "a")
        await client.ask(FindCoordinatorRequest("g"), 3, FindCoordinatorResponse)  # it makes the topic
        async with connected_to(broker) as reader:
            waiting = asyncio.ensure_future(reader.ask(fetch(0, wait_ms=60_000), 12, FetchResponse))
            await asyncio.sleep(0.01)
            await commit(client, "a", 2)
            answer = await asyncio.wait_for(waiting, 10)
    assert offsets(answer.responses[0].partitions[0]) == [2]


async def test_records_are_there_after_a_restart(tmp_path: Path) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client, "a")
        for offset in (1, 2):
            await commit(client, "a", offset)
        before = await read(client)
    async with EmbeddedBroker(PROPERTIES, data_dir=tmp_path) as broker, connected_to(broker) as client:
        assert await read(client) == before
        await commit(client, "a", 3)
        assert offsets(await read(client)) == [1, 2, 3]


async def test_a_broker_that_begins_with_a_copy_has_the_records(data_dir: Path | None) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=data_dir) as broker, connected_to(broker) as client:
        await create(client, "a")
        await commit(client, "a", 1)
        state = await broker.copy_state()
        await commit(client, "a", 2)
    async with EmbeddedBroker(PROPERTIES, state=state) as broker, connected_to(broker) as client:
        await commit(client, "a", 3)
        assert offsets(await read(client)) == [1, 3]


async def test_a_broker_that_begins_with_a_copy_records_that_commits_go_with_their_topic(data_dir: Path | None) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=data_dir) as broker, connected_to(broker) as client:
        await create(client, "a")
        await commit(client, "a", 1)
        state = await broker.copy_state()
    async with EmbeddedBroker(PROPERTIES, state=state) as broker, connected_to(broker) as client:
        deletion = DeleteTopicsRequest(topic_names=("a",), timeout_ms=1000)
        answer = await client.ask(deletion, 5, DeleteTopicsResponse)
        assert not answer.responses[0].error_code
        assert values(await read(client, 1)) == [None]


async def test_a_committed_reader_waits_for_the_end_of_a_transaction_of_offsets(data_dir: Path | None) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=data_dir) as broker, connected_to(broker) as client:
        await create(client, "in")
        producer = TransactionalProducer(client)
        await producer.begun()
        assert await producer.commit_offset("g", 5) == 0
        (value,) = values(await read(client, topic=TRANSACTIONS), TRANSACTIONS)[-1:]
        assert isinstance(value, TransactionLogValue)
        pending = await read(client, isolation_level=COMMITTED)
        assert (offsets(pending), pending.last_stable_offset, pending.high_watermark) == ([], 0, 1)
        assert offsets(await read(client)) == [5]
        assert await open_transactions(client) == [(producer.producer_id, 0)]
        aborted = producer.producer_id
        assert await producer.end(committed=False) == 0
        await producer.commit_offset("g", 6)
        await producer.end(committed=True)
        ended = await read(client, isolation_level=COMMITTED)
        assert offsets(ended) == [5, 6]
        assert [(each.producer_id, each.first_offset) for each in ended.aborted_transactions or ()] == [(aborted, 0)]
        assert ended.last_stable_offset == ended.high_watermark == 4
        assert await open_transactions(client) == [(producer.producer_id, -1)]
    if data_dir is not None:
        async with EmbeddedBroker(PROPERTIES, data_dir=data_dir) as broker, connected_to(broker) as client:
            assert await read(client, isolation_level=COMMITTED) == ended


async def open_transactions(client: BrokerConnection) -> list[tuple[int, int]]:
    """Producers of the partition, each with the first offset of its transaction."""
    topics = (DescribeProducersRequest.TopicRequest(OFFSETS, (0,)),)
    answer = await client.ask(DescribeProducersRequest(topics), 0, DescribeProducersResponse)
    found = answer.topics[0].partitions[0].active_producers
    return [(each.producer_id, each.current_txn_start_offset) for each in found]


async def test_records_that_later_ones_replace_are_removed(
    data_dir: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after compaction: the first offset stays, and the offsets of records do."""
    monkeypatch.setattr("kafkawire.broker.internal_topics.coordinator._FEWEST_TO_REWRITE", 20)
    async with EmbeddedBroker(PROPERTIES, data_dir=data_dir) as broker, connected_to(broker) as client:
        await create(client, "a", "b")
        await commit(client, "b", 1)
        for offset in range(30):
            await commit(client, "a", offset)
        high_watermark, left = await listed(client, LATEST), list[int]()
        first = place = (await first_batch(client, 0)).base_offset
        while place < high_watermark:  # an answer has the records of one segment
            found = await read(client, place)
            left += offsets(found)
            place += len(offsets(found))
        assert left.count(1) == 1
        assert left[0] in ({1} if data_dir is None else {1, 20}), "what was not yet on disk stays before the state"
        assert 1 < len(left) < 25
        assert left[-1] == 29
        assert first > 20
        assert (await listed(client, EARLIEST), place) == (0, high_watermark)
        assert await size(client) < 25 * 200
        assert offsets(await read(client, high_watermark - 1)) == [29]


async def first_batch(client: BrokerConnection, offset: int) -> RecordBatch:
    return next(iter(read_batches((await read(client, offset)).records or b"")))


async def size(client: BrokerConnection) -> int:
    topics = (DescribeLogDirsRequest.DescribableLogDirTopic(OFFSETS, (0,)),)
    answer = await client.ask(DescribeLogDirsRequest(topics), 4, DescribeLogDirsResponse)
    return answer.results[0].topics[0].partitions[0].partition_size


async def test_the_size_is_that_of_the_batches(data_dir: Path | None) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=data_dir) as broker, connected_to(broker) as client:
        await create(client, "a")
        await commit(client, "a", 1)
        assert await size(client) == len((await read(client)).records or b"") > 0


async def test_records_are_gone_with_the_topic(data_dir: Path | None) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=data_dir) as broker, connected_to(broker) as client:
        await create(client, "a")
        for offset in (1, 2):
            await commit(client, "a", offset)
        async with connected_to(broker) as reader:
            waiting = asyncio.ensure_future(reader.ask(fetch(2, wait_ms=60_000), 12, FetchResponse))
            await asyncio.sleep(0.01)
            deletion = DeleteTopicsRequest(topic_names=(OFFSETS,), timeout_ms=1000)
            await client.ask(deletion, 5, DeleteTopicsResponse)
            answer = await asyncio.wait_for(waiting, 10)
        gone = answer.responses[0].partitions[0].error_code
        assert gone == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        await commit(client, "a", 3)
        assert offsets(await read(client)) == [3]
