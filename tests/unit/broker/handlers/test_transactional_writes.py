"""Transactions as clients see them at the partitions, with a coordinator that answers as the test says."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.embedded.connection import BrokerConnection, connected_to
from tests.unit.broker.handlers.test_data import create

from kafkawire.broker import EmbeddedBroker
from kafkawire.broker.handlers import produce as produce_handlers
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.handlers.transactional_writes import TransactionalWrites
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.verifications import TransactionalWrite
from kafkawire.protocol import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, encode_batch, read_batches

READ_COMMITTED = 1
Aborted = FetchResponse.AbortedTransaction
State = DescribeProducersResponse.ProducerState


class Coordinator:
    """Confirms everything, or answers with an error; keeps the questions."""

    def __init__(self) -> None:
        self.asked: list[TransactionalWrite] = []
        self.error = ErrorCode.NONE
        self.context: HandlerContext | None = None

    async def confirm(self, write: TransactionalWrite) -> Mapping[tuple[str, int], ErrorCode]:
        self.asked.append(write)
        await self.meanwhile()
        return dict.fromkeys(write.partitions, self.error)

    async def meanwhile(self) -> None:
        """What happens before the answer."""

    @property
    def log(self) -> PartitionLog:
        assert self.context is not None
        topic = self.context.controller.image.topics.by_name["t"]
        return self.context.store.log(topic.topic_id, 0)

    async def end(self, producer_id: int, *, committed: bool) -> int:
        """Write a marker as the coordinator does."""
        offset = self.log.append_marker(
            producer_id, 0, committed=committed, coordinator_epoch=0, leader_epoch=0, now_ms=2000
        )
        await self.log.durable()
        return offset


@pytest.fixture(autouse=True)
def coordinator(monkeypatch: pytest.MonkeyPatch) -> Coordinator:
    coordinator = Coordinator()

    class Confirming(TransactionalWrites):
        def __init__(self, context: HandlerContext) -> None:
            coordinator.context = context
            super().__init__(dataclasses.replace(context, confirm_transaction=coordinator.confirm))

    monkeypatch.setattr(produce_handlers, "TransactionalWrites", Confirming)
    return coordinator


@pytest.fixture(params=["memory", "disk"])
async def client(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BrokerConnection]:
    data_dir = tmp_path if request.param == "disk" else None
    async with EmbeddedBroker(data_dir=data_dir) as broker, connected_to(broker) as client:
        await create(client)
        yield client


def batch(producer_id: int, sequence: int, *, transactional: bool = True) -> bytes:
    record = Record(timestamp=1000 + sequence, value=b"v")
    return encode_batch(
        [record], producer_id=producer_id, producer_epoch=0, base_sequence=sequence, transactional=transactional
    )


def request(*records: bytes, transactional_id: str | None = "id", acks: int = -1) -> ProduceRequest:
    partitions = tuple(ProduceRequest.PartitionProduceData(index, each) for index, each in enumerate(records))
    data = (ProduceRequest.TopicProduceData("t", partition_data=partitions),)
    return ProduceRequest(transactional_id, acks=acks, topic_data=data)


async def codes(
    client: BrokerConnection, *records: bytes, version: int = 9, transactional_id: str | None = "id"
) -> list[int]:
    answer = await client.ask(request(*records, transactional_id=transactional_id), version, ProduceResponse)
    return [partition.error_code for partition in answer.responses[0].partition_responses]


async def write(client: BrokerConnection, producer_id: int, sequence: int) -> None:
    assert await codes(client, batch(producer_id, sequence)) == [0]


def fetch(offset: int = 0, wait_ms: int = 0) -> FetchRequest:
    asked = FetchRequest.FetchPartition(0, -1, offset, -1, -1, 1 << 20)
    topics = (FetchRequest.FetchTopic("t", partitions=(asked,)),)
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=1, isolation_level=READ_COMMITTED, topics=topics)


async def committed(client: BrokerConnection, offset: int = 0) -> tuple[list[int], int, int, Sequence[Aborted] | None]:
    """Base offsets of the batches, the high watermark, the last stable offset and the aborted transactions."""
    answer = await client.ask(fetch(offset), 12, FetchResponse)
    found = answer.responses[0].partitions[0]
    offsets = [each.base_offset for each in read_batches(found.records or b"")]
    return offsets, found.high_watermark, found.last_stable_offset, found.aborted_transactions


async def test_a_committed_fetch_ends_at_the_last_stable_offset(
    client: BrokerConnection, coordinator: Coordinator
) -> None:
    assert await codes(client, batch(5, 0, transactional=False)) == [0]
    await write(client, 7, 0)
    await write(client, 8, 0)
    assert await committed(client) == ([0], 3, 1, ())
    await coordinator.end(8, committed=False)
    assert await committed(client) == ([0], 4, 1, (Aborted(8, 2),))
    await coordinator.end(7, committed=True)
    assert await committed(client) == ([0, 1, 2, 3, 4], 5, 5, (Aborted(8, 2),))
    assert await committed(client, 4) == ([4], 5, 5, ())
    assert await committed(client, 5) == ([], 5, 5, ())


async def test_an_uncommitted_fetch_has_everything_and_no_list(client: BrokerConnection) -> None:
    await write(client, 7, 0)
    answer = await client.ask(replace(fetch(), isolation_level=0), 12, FetchResponse)
    found = answer.responses[0].partitions[0]
    assert [each.base_offset for each in read_batches(found.records or b"")] == [0]
    assert (found.last_stable_offset, found.aborted_transactions) == (0, None)


async def test_a_committed_fetch_waits_until_the_last_stable_offset_moves(
    client: BrokerConnection, coordinator: Coordinator
) -> None:
    await write(client, 7, 0)
    waiting = asyncio.ensure_future(client.ask(fetch(wait_ms=20_000), 12, FetchResponse))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await coordinator.end(7, committed=True)
    found = (await waiting).responses[0].partitions[0]
    assert [each.base_offset for each in read_batches(found.records or b"")] == [0, 1]


async def listed(client: BrokerConnection, timestamp: int, isolation: int = READ_COMMITTED) -> int:
    asked = ListOffsetsRequest.ListOffsetsPartition(0, -1, timestamp)
    topics = (ListOffsetsRequest.ListOffsetsTopic("t", (asked,)),)
    answer = await client.ask(ListOffsetsRequest(-1, isolation, topics), 7, ListOffsetsResponse)
    return answer.topics[0].partitions[0].offset


async def test_committed_offsets_are_below_the_last_stable_offset(
    client: BrokerConnection, coordinator: Coordinator
) -> None:
    for sequence in range(2):
        await write(client, 7, sequence)
    assert [await listed(client, time) for time in (-1, -2, -3, 1000)] == [0, 0, -1, -1]
    assert [await listed(client, time, 0) for time in (-1, -2, -3, 1001)] == [2, 0, 1, 1]
    await coordinator.end(7, committed=True)
    assert [await listed(client, time) for time in (-1, -2, -3, 1001)] == [3, 0, 2, 1]


async def test_only_the_first_batch_of_a_transaction_is_asked_about(
    client: BrokerConnection, coordinator: Coordinator
) -> None:
    assert await codes(client, batch(7, 0), batch(7, 0), version=9) == [0, 0]
    assert await codes(client, batch(7, 1)) == [0]
    await coordinator.end(7, committed=True)
    assert await codes(client, batch(7, 2), version=12) == [0]
    assert coordinator.asked == [
        TransactionalWrite("id", 7, 0, (("t", 0), ("t", 1)), adds=False),
        TransactionalWrite("id", 7, 0, (("t", 0),), adds=True),
    ]


@pytest.mark.parametrize(
    ("error", "version", "code"),
    [
        (ErrorCode.INVALID_TXN_STATE, 12, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, 12, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        (ErrorCode.PRODUCER_FENCED, 12, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 12, ErrorCode.CONCURRENT_TRANSACTIONS),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 11, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 12, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.NOT_COORDINATOR, 9, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.TRANSACTION_ABORTABLE, 11, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.TRANSACTION_ABORTABLE, 10, ErrorCode.INVALID_TXN_STATE),
    ],
)
async def test_errors_of_the_coordinator_are_those_that_producers_know(
    client: BrokerConnection, coordinator: Coordinator, error: ErrorCode, version: int, code: ErrorCode
) -> None:
    coordinator.error = error
    assert await codes(client, batch(7, 0), version=version) == [code]
    assert coordinator.log.end_offset == 0


async def test_records_without_a_transactional_id_are_refused_as_a_whole(
    client: BrokerConnection, coordinator: Coordinator
) -> None:
    refused = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    mixed = (batch(7, 0), batch(5, 0, transactional=False))
    assert await codes(client, *mixed, transactional_id=None) == [refused, refused]
    assert not coordinator.asked
    client.send(request(batch(7, 0), transactional_id=None, acks=0), 9)
    with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
        await client.frame()


async def test_producers_of_older_versions_are_not_verified_where_that_is_disabled(
    tmp_path: Path, coordinator: Coordinator
) -> None:
    coordinator.error = ErrorCode.INVALID_TXN_STATE
    disabled = {"transaction.partition.verification.enable": "false"}
    async with EmbeddedBroker(disabled, data_dir=tmp_path) as broker, connected_to(broker) as client:
        await create(client)
        assert await codes(client, batch(7, 0), version=12) == [ErrorCode.INVALID_TXN_STATE]
        assert await codes(client, batch(8, 3), version=11) == [0]
        assert len(coordinator.asked) == 1
        assert await committed(client) == ([], 1, 0, ())


async def test_a_request_has_the_records_of_one_producer(client: BrokerConnection) -> None:
    refused = ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert await codes(client, batch(7, 0), batch(8, 0)) == [refused, refused]


async def test_a_marker_during_the_question_voids_the_answer(
    client: BrokerConnection, coordinator: Coordinator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The coordinator aborts meanwhile: the batch would open a transaction that nothing ends."""

    async def abort() -> None:
        await coordinator.end(7, committed=False)

    monkeypatch.setattr(coordinator, "meanwhile", abort)
    assert await codes(client, batch(7, 0)) == [ErrorCode.INVALID_TXN_STATE]
    assert coordinator.log.last_stable_offset == coordinator.log.end_offset == 1


async def test_producers_are_described(client: BrokerConnection, coordinator: Coordinator) -> None:
    await write(client, 7, 0)
    asked = DescribeProducersRequest((DescribeProducersRequest.TopicRequest("t", (0,)),))
    answer = await client.ask(asked, 0, DescribeProducersResponse)
    assert answer.topics[0].partitions[0].active_producers == (State(7, 0, 0, 1000, -1, 0),)
    await coordinator.end(7, committed=False)
    answer = await client.ask(asked, 0, DescribeProducersResponse)
    assert answer.topics[0].partitions[0].active_producers == (State(7, 0, 0, 2000, 0, -1),)
