"""Records in a data directory: what a client sees before and after a restart."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    EndTxnMarker,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.control_records import ControlRecordType, encode_control_record
from kafkawire.rpc import decode_response
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches

LATEST: Final = -1


async def create(client: BrokerConnection, configs: Mapping[str, str] | None = None, topic: str = "t") -> None:
    pairs = tuple(CreateTopicsRequest.CreatableTopicConfig(name, value) for name, value in (configs or {}).items())
    topics = (CreateTopicsRequest.CreatableTopic(topic, 1, 1, (), pairs),)
    answer = await client.ask(CreateTopicsRequest(topics), 7, CreateTopicsResponse)
    assert not answer.topics[0].error_code


async def produce(
    client: BrokerConnection, *values: bytes, producer_id: int = -1, sequence: int = -1
) -> ProduceResponse.PartitionProduceResponse:
    epoch = 0 if producer_id >= 0 else -1
    # A producer with old records only is forgotten at a restart.
    timestamp = time.time_ns() // 1_000_000 if producer_id >= 0 else 1000
    records = [Record(timestamp=timestamp, key=value[:1], value=value) for value in values]
    encoded = encode_batch(records, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    data = (ProduceRequest.TopicProduceData("t", partition_data=(ProduceRequest.PartitionProduceData(0, encoded),)),)
    answer = await client.ask(ProduceRequest(acks=-1, topic_data=data), 9, ProduceResponse)
    return answer.responses[0].partition_responses[0]


async def fetched(client: BrokerConnection, offset: int = 0) -> list[bytes | None]:
    values: list[bytes | None] = []
    while True:
        partition = FetchRequest.FetchPartition(0, -1, offset, -1, -1, 1 << 20)
        topics = (FetchRequest.FetchTopic("t", partitions=(partition,)),)
        answer = await client.ask(FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics), 12, FetchResponse)
        result = answer.responses[0].partitions[0]
        assert not result.error_code, result
        batches = [*read_batches(result.records or b"")]
        if not batches:
            return values
        values += [record.value for batch in batches for record in decode_records(batch) if record.offset >= offset]
        offset = batches[-1].last_offset + 1


async def listed(client: BrokerConnection, timestamp: int) -> ListOffsetsResponse.ListOffsetsPartitionResponse:
    partition = ListOffsetsRequest.ListOffsetsPartition(0, -1, timestamp)
    topics = (ListOffsetsRequest.ListOffsetsTopic("t", (partition,)),)
    return (await client.ask(ListOffsetsRequest(-1, topics=topics), 7, ListOffsetsResponse)).topics[0].partitions[0]


async def test_records_are_there_after_a_restart(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client)
        await produce(client, b"a", b"b")
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        assert await fetched(client) == [b"a", b"b"]
        assert (await produce(client, b"c")).base_offset == 2
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        assert await fetched(client) == [b"a", b"b", b"c"]
        assert (await listed(client, LATEST)).offset == 3
    names = {path.name for path in (tmp_path / "t-0").iterdir()}
    first = "0" * 20
    files = {"leader-epoch-checkpoint", "partition.metadata"}
    assert names == files | {f"{first}{suffix}" for suffix in (".log", ".index", ".timeindex")}


async def test_an_idempotent_producer_goes_on_after_a_restart(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client)
        for sequence in range(3):
            await produce(client, b"%d" % sequence, producer_id=7, sequence=sequence)
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        again = await produce(client, b"1", producer_id=7, sequence=1)
        assert (again.error_code, again.base_offset) == (0, 1)
        missing = await produce(client, b"9", producer_id=7, sequence=9)
        assert missing.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert (await produce(client, b"3", producer_id=7, sequence=3)).base_offset == 3
        assert await fetched(client) == [b"0", b"1", b"2", b"3"]


async def test_a_torn_write_is_cut_off(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client)
        await produce(client, b"a")
    log = tmp_path / "t-0" / f"{0:020d}.log"
    whole = log.read_bytes()
    log.write_bytes(whole + whole[: len(whole) // 2])
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        assert await fetched(client) == [b"a"]
        assert (await produce(client, b"b")).base_offset == 1
        assert await fetched(client) == [b"a", b"b"]


async def test_a_topic_that_is_deleted_and_made_again_is_empty(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client)
        await produce(client, b"a", b"b")
        deleted = DeleteTopicsRequest(topic_names=("t",), timeout_ms=1000)
        answer = await client.ask(deleted, 5, DeleteTopicsResponse)
        assert not answer.responses[0].error_code
        await create(client)
        assert (await produce(client, b"c")).base_offset == 0
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        assert await fetched(client) == [b"c"]


async def test_records_are_durable_before_they_are_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client, {"flush.messages": "1000"})
        await produce(client, b"a")
        monkeypatch.setattr(os, "fsync", noted)
        for number in range(1, 4):
            await produce(client, b"b")
            assert synced == [f"{0:020d}.log"] * number


async def test_aborted_records_of_a_directory_are_listed(tmp_path: Path) -> None:
    """Kafka has written it; the last transaction is open."""
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client)
        await produce(client, b"a")
    record = [Record(timestamp=1000, key=b"b", value=b"b")]
    aborted, opened = (
        encode_batch(record, base_offset=at, base_sequence=number, transactional=True, producer_id=7, producer_epoch=0)
        for number, at in enumerate((1, 3))
    )
    marker = encode_control_record(ControlRecordType.ABORT, EndTxnMarker(), 0)
    ended = encode_batch(
        [Record(timestamp=1000, key=marker[0], value=marker[1])],
        base_offset=2, transactional=True, control=True, producer_id=7, producer_epoch=0,
    )  # fmt: skip
    log = tmp_path / "t-0" / f"{0:020d}.log"
    log.write_bytes(log.read_bytes() + aborted + ended + opened)
    for _ in range(2):
        async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
            assert (await listed(client, LATEST)).offset == 4
            partition = FetchRequest.FetchPartition(0, -1, 0, -1, -1, 1 << 20)
            topics = (FetchRequest.FetchTopic("t", partitions=(partition,)),)
            asked = FetchRequest(max_wait_ms=0, min_bytes=0, isolation_level=1, topics=topics)
            found = (await client.ask(asked, 12, FetchResponse)).responses[0].partitions[0]
            assert [batch.base_offset for batch in read_batches(found.records or b"")] == [0, 1, 2]
            assert (found.last_stable_offset, found.high_watermark) == (3, 4)
            assert found.aborted_transactions == (FetchResponse.AbortedTransaction(7, 1),)


async def test_a_segment_that_is_gone_is_an_error_of_its_partition(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client)
        await produce(client, b"a")
        (tmp_path / "t-0" / f"{0:020d}.log").unlink()
        with pytest.raises(AssertionError, match=f"error_code={ErrorCode.KAFKA_STORAGE_ERROR:d}"):
            await fetched(client)
        assert (await listed(client, 0)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert (await listed(client, LATEST)).offset == 1


def request(value: bytes) -> ProduceRequest:
    partition = ProduceRequest.PartitionProduceData(0, encode_batch([Record(timestamp=1000, value=value)]))
    return ProduceRequest(acks=-1, topic_data=(ProduceRequest.TopicProduceData("t", partition_data=(partition,)),))


async def test_pipelined_requests_share_a_write_and_are_answered_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    fsync = os.fsync

    def slow(descriptor: int) -> None:
        synced.append(descriptor)
        time.sleep(0.5)
        fsync(descriptor)

    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client)
        await produce(client, b"first")
        monkeypatch.setattr(os, "fsync", slow)
        asked = [client.send(request(b"%d" % number), 9) for number in range(30)]
        for number, correlation_id in enumerate(asked, 1):
            answered, answer = decode_response(await client.frame(), ProduceResponse, 9)
            assert answered == correlation_id
            assert answer.responses[0].partition_responses[0].base_offset == number
        assert len(synced) <= 3


async def test_a_pipelined_request_sees_the_records_of_those_before_it(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client)
        for number in range(5):
            client.send(request(b"v"), 9)
            end = await listed_after(client)
            assert end == number + 1


async def listed_after(client: BrokerConnection) -> int:
    """The end offset in the second of two responses."""
    topics = (ListOffsetsRequest.ListOffsetsTopic("t", (ListOffsetsRequest.ListOffsetsPartition(0, -1, LATEST),)),)
    client.send(ListOffsetsRequest(-1, topics=topics), 7)
    await client.frame()
    _, answer = decode_response(await client.frame(), ListOffsetsResponse, 7)
    return answer.topics[0].partitions[0].offset
