"""Retention, compaction and DeleteRecords, in memory and on disk, by the clock and on demand."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
from tests.embedded.connection import BrokerConnection, connected_to
from tests.unit.broker.test_records_on_disk import create, fetched, listed

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.protocol import (
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeProducersRequest,
    DescribeProducersResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, encode_batch, read_batches

EARLIEST, LATEST, NEWEST = -2, -1, -3
DAY: Final = 24 * 3600.0
FIVE_MINUTES: Final = 300.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "disk"])
def data_dir(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path if request.param == "disk" else None


@pytest.fixture
async def broker(data_dir: Path | None, clock: ManualClock) -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker({"connections.max.idle.ms": "-1"}, data_dir=data_dir, clock=clock) as broker:
        yield broker


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[BrokerConnection]:
    async with connected_to(broker) as client:
        yield client


async def produce(
    client: BrokerConnection, timestamp: int, *pairs: tuple[bytes, bytes | None]
) -> ProduceResponse.PartitionProduceResponse:
    encoded = encode_batch([Record(timestamp=timestamp, key=key, value=value) for key, value in pairs])
    data = (ProduceRequest.TopicProduceData("t", partition_data=(ProduceRequest.PartitionProduceData(0, encoded),)),)
    answer = await client.ask(ProduceRequest(acks=-1, topic_data=data), 9, ProduceResponse)
    return answer.responses[0].partition_responses[0]


async def delete_before(
    client: BrokerConnection, offset: int, topic: str = "t"
) -> DeleteRecordsResponse.DeleteRecordsPartitionResult:
    asked = DeleteRecordsRequest.DeleteRecordsTopic(topic, (DeleteRecordsRequest.DeleteRecordsPartition(0, offset),))
    answer = await client.ask(DeleteRecordsRequest((asked,), 1000), 2, DeleteRecordsResponse)
    return answer.topics[0].partitions[0]


async def offsets(client: BrokerConnection) -> tuple[int, int]:
    return (await listed(client, EARLIEST)).offset, (await listed(client, LATEST)).offset


async def test_records_are_deleted_when_their_time_has_passed(
    broker: EmbeddedBroker, client: BrokerConnection, clock: ManualClock
) -> None:
    await create(client, {"retention.ms": "86400000"})
    await produce(client, clock.now_ms(), (b"k", b"1"), (b"k", b"2"))
    await broker.advance(DAY / 2)
    assert await offsets(client) == (0, 2)
    await broker.advance(DAY / 2 + FIVE_MINUTES)
    assert await offsets(client) == (2, 2)
    assert (await produce(client, clock.now_ms(), (b"k", b"3"))).base_offset == 2
    assert await fetched(client, 2) == [b"3"]


async def test_the_oldest_segments_go_when_a_partition_is_too_large(
    broker: EmbeddedBroker, client: BrokerConnection, clock: ManualClock
) -> None:
    await create(client, {"segment.bytes": "1048576", "retention.bytes": "2000000", "retention.ms": "-1"})
    for _ in range(5):
        await produce(client, clock.now_ms(), (b"k", bytes(700_000)))
    await broker.clean_records()
    assert await offsets(client) == (2, 5)
    assert len(await fetched(client, 2)) == 3


async def test_a_segment_ends_when_its_time_has_passed(
    broker: EmbeddedBroker, client: BrokerConnection, clock: ManualClock
) -> None:
    await create(client, {"segment.ms": "1000", "retention.ms": "10000"})
    begun = clock.now_ms()
    for second in (0, 5, 12):
        await produce(client, begun + second * 1000, (b"k", b"v"))
    await broker.advance(16)
    await broker.clean_records("t")
    assert await offsets(client) == (2, 3)


async def test_the_first_offset_moves_where_a_client_says(client: BrokerConnection) -> None:
    await create(client)
    for number in range(5):
        await produce(client, 1000 + number, (b"k", b"%d" % number))
    assert (await delete_before(client, 2)).low_watermark == 2
    assert (await delete_before(client, 1)).low_watermark == 2
    assert await offsets(client) == (2, 5)
    assert await fetched(client, 2) == [b"2", b"3", b"4"]
    assert (await listed(client, 0)).offset == 2
    assert (await delete_before(client, 6)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert (await delete_before(client, -2)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert (await delete_before(client, 0, "u")).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert (await delete_before(client, -1)).low_watermark == 5
    assert await offsets(client) == (5, 5)


async def test_a_compacted_topic_keeps_its_records(client: BrokerConnection) -> None:
    await create(client, {"cleanup.policy": "compact"})
    await produce(client, 0, (b"k", b"v"))
    assert (await delete_before(client, 1)).error_code == ErrorCode.POLICY_VIOLATION


async def test_the_first_offset_is_there_after_a_restart(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client)
        await produce(client, 0, (b"a", b"1"), (b"b", b"2"))
        await delete_before(client, 1)
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        assert await offsets(client) == (1, 2)
        await delete_before(client, 2)
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        assert await offsets(client) == (2, 2)
        assert (await produce(client, 0, (b"c", b"3"))).base_offset == 2


async def test_the_newest_record_of_each_key_stays(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    await create(client, {"cleanup.policy": "compact"})
    await produce(client, 1000, (b"a", b"1"), (b"b", b"2"))
    await produce(client, 1001, (b"a", b"3"))
    await produce(client, 1002, (b"c", b"4"), (b"a", b"5"))
    await broker.clean_records()
    assert await fetched(client) == [b"2", b"4", b"5"]
    assert await offsets(client) == (0, 5)
    assert (await listed(client, 1002)).offset == 3
    assert (await produce(client, 1003, (b"b", b"6"))).base_offset == 5
    await broker.clean_records()
    assert await fetched(client) == [b"4", b"5", b"6"]
    assert await fetched(client, 4) == [b"5", b"6"]


async def test_a_tombstone_goes_after_its_time(
    broker: EmbeddedBroker, client: BrokerConnection, clock: ManualClock
) -> None:
    await create(client, {"cleanup.policy": "compact", "delete.retention.ms": "60000"})
    await produce(client, 1000, (b"a", b"1"), (b"b", b"2"))
    await produce(client, 1000, (b"a", None))
    await broker.clean_records()
    assert await fetched(client) == [b"2", None]
    clock.advance(61)
    await produce(client, 1000, (b"c", b"3"))
    await broker.clean_records()
    assert await fetched(client) == [b"2", b"3"]


async def test_compaction_comes_by_the_clock(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    await create(client, {"cleanup.policy": "compact", "segment.ms": "1000"})
    for second in range(0, 10, 2):
        await produce(client, 1000 * second, (b"a", b"%d" % second))
    await broker.advance(16)
    assert await fetched(client) == [b"6", b"8"]


@pytest.mark.parametrize(("lag_ms", "left"), [(1_000_000, 5), (1000, 2)])
async def test_compaction_begins_when_a_record_has_waited_long_enough(
    broker: EmbeddedBroker, client: BrokerConnection, clock: ManualClock, lag_ms: int, left: int
) -> None:
    configs = {"max.compaction.lag.ms": str(lag_ms), "min.cleanable.dirty.ratio": "1", "segment.ms": "1000"}
    await create(client, {**configs, "cleanup.policy": "compact"})
    begun = clock.now_ms()
    for second in range(0, 10, 2):
        await produce(client, begun + 1000 * second, (b"a", b"%d" % second))
    await broker.advance(16)
    assert len(await fetched(client)) == left


async def test_a_segment_of_a_compacted_topic_ends_before_its_records_have_waited_too_long(
    broker: EmbeddedBroker, client: BrokerConnection, clock: ManualClock
) -> None:
    await create(client, {"cleanup.policy": "compact", "max.compaction.lag.ms": "1000"})
    begun = clock.now_ms()
    for second in (0, 2):
        await produce(client, begun + 1000 * second, (b"a", b"%d" % second))
    await broker.advance(16)
    await produce(client, begun + 4000, (b"b", b"3"))
    await broker.advance(16)
    assert await fetched(client) == [b"2", b"3"]


async def test_a_compacted_log_is_read_again(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client, {"cleanup.policy": "compact", "segment.bytes": "1048576"})
        for number in range(30):
            await produce(client, number, (b"%d" % (number % 3), b"%02d" % number + bytes(200_000)))
        await broker.clean_records()
        logs = [path.stat().st_size for path in (tmp_path / "t-0").glob("*.log")]
        assert len(logs) == 6
        assert 600_000 < sum(logs) < 620_000
        await produce(client, 0, (b"0", b"27"))
        await broker.clean_records()  # neighbours that fit into one segment become one
        assert len([*(tmp_path / "t-0").glob("*.log")]) == 1
        left = [value[:2] for value in await fetched(client) if value]
    assert left == [b"28", b"29", b"27"]
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        assert [value[:2] for value in await fetched(client) if value] == left
        assert await offsets(client) == (0, 31)


async def test_a_topic_may_be_deleted_while_it_is_compacted(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        for _ in range(5):
            await create(client, {"cleanup.policy": "compact", "segment.bytes": "1048576"})
            for number in range(8):
                await produce(client, 0, (b"%d" % (number % 3), bytes(400_000)))
            cleaning = asyncio.ensure_future(broker.clean_records("t"))
            await asyncio.sleep(0.005)
            await client.ask(DeleteTopicsRequest(topic_names=("t",), timeout_ms=1000), 5, DeleteTopicsResponse)
            await cleaning
        await create(client)
        assert (await produce(client, 0, (b"k", b"v"))).base_offset == 0


async def test_the_indexes_are_those_of_the_compacted_segments(tmp_path: Path) -> None:
    """Also after the end of a segment, which was compacted at once, is written with the next record."""
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client, {"cleanup.policy": "compact"})
        for number in range(60):
            await produce(client, 1000 + number, (b"%d" % (number % 40), bytes(3000)))
        await broker.clean_records()
        await produce(client, 2000, (b"k", b"v"))
    for log in (tmp_path / "t-0").glob("*.log"):
        base_offset = int(log.stem)
        places = {batch.last_offset - base_offset: batch.position for batch in read_batches(log.read_bytes())}
        indexed = [*struct.iter_unpack(">ii", log.with_suffix(".index").read_bytes())]
        assert indexed == [(offset, places[offset]) for offset, _ in indexed]
        assert len(indexed) > 10 or len(places) == 1


async def test_producers_expire_at_the_interval_for_them(data_dir: Path | None, clock: ManualClock) -> None:
    properties = {
        "connections.max.idle.ms": "-1",
        "producer.id.expiration.ms": "5000",
        "producer.id.expiration.check.interval.ms": "500",
    }
    async with (
        EmbeddedBroker(properties, data_dir=data_dir, clock=clock, topics=["t"]) as broker,
        connected_to(broker) as client,
    ):
        batch = encode_batch(
            [Record(timestamp=clock.now_ms(), value=b"v")], producer_id=7, producer_epoch=0, base_sequence=0
        )
        data = (ProduceRequest.TopicProduceData("t", partition_data=(ProduceRequest.PartitionProduceData(0, batch),)),)
        await client.ask(ProduceRequest(acks=-1, topic_data=data), 9, ProduceResponse)
        described = DescribeProducersRequest((DescribeProducersRequest.TopicRequest("t", (0,)),))
        for seconds, count in ((5, 1), (1, 0)):
            await broker.advance(seconds)
            answer = await client.ask(described, 0, DescribeProducersResponse)
            assert len(answer.topics[0].partitions[0].active_producers) == count
