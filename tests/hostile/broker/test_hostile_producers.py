"""Producers that want too much of the transaction coordinator cost little memory, and leave the others alone."""

from __future__ import annotations

import asyncio
import tracemalloc
from pathlib import Path

import pytest
from tests.embedded.connection import BrokerConnection, connected_to
from tests.embedded.transactional_producer import TransactionalProducer, committed_values, state_of

from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

TOPICS = ("in", "out")
MEBIBYTE = 1 << 20


async def listed(client: BrokerConnection) -> list[str]:
    answer = await client.ask(ListTransactionsRequest(), 2, ListTransactionsResponse)
    return [state.transactional_id for state in answer.transaction_states]


async def add_partitions(client: BrokerConnection, producer: TransactionalProducer, count: int) -> set[int]:
    """The errors of an addition of the first partitions of ``out`` to a transaction."""
    topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic("out", tuple(range(count)))
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=producer.transactional_id,
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=producer.epoch,
        v3_and_below_topics=(topic,),
    )
    answer = await client.ask(request, 3, AddPartitionsToTxnResponse)
    (found,) = answer.results_by_topic_v3_and_below
    return {each.partition_error_code for each in found.results_by_partition}


def size_of_logs(data_dir: Path) -> int:
    return sum(log.stat().st_size for log in data_dir.glob("__transaction_state-*/*.log"))


async def test_requests_of_strangers_open_no_transaction() -> None:
    async with EmbeddedBroker(topics=TOPICS) as broker, connected_to(broker) as client:
        for number in range(100):
            stranger = TransactionalProducer(client, f"stranger-{number}", producer_id=number, epoch=0)
            assert await add_partitions(client, stranger, 1) == {ErrorCode.INVALID_PRODUCER_ID_MAPPING}
            assert await stranger.write(b"1") == ErrorCode.INVALID_PRODUCER_ID_MAPPING
            assert await stranger.commit_offset("g", 5) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
            assert await stranger.end(committed=True) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
        assert await listed(client) == []
        assert await committed_values(client) == []


async def test_producers_without_a_name_are_not_kept() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:

        async def begin(count: int) -> int:
            """Begin some; returns the memory after them."""
            for _ in range(count):
                answer = await client.ask(InitProducerIdRequest(None, 60_000), 5, InitProducerIdResponse)
                assert not answer.error_code
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        try:
            before = await begin(1_500)  # the log of requests has the last thousand
            assert await begin(1_500) < before + MEBIBYTE // 64
        finally:
            tracemalloc.stop()
        assert await listed(client) == []


async def test_a_producer_that_begins_again_and_again_leaves_a_short_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafkawire.broker.internal_topics.coordinator._FEWEST_TO_REWRITE", 100)
    async with EmbeddedBroker(data_dir=tmp_path, topics=TOPICS) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        for _ in range(600):
            await producer.begun()
        assert (await state_of(client))[0] == "Empty"
    assert 0 < size_of_logs(tmp_path) < 30_000, "118 bytes for each beginning"


async def test_a_flood_of_partitions_that_do_not_exist_leaves_the_transaction_as_it_is() -> None:
    async with EmbeddedBroker(topics=TOPICS) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun()
        await producer.write(b"1")
        errors = await add_partitions(client, producer, 50_000)
        assert errors == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED}
        assert await producer.end(committed=True) == 0
        assert await committed_values(client) == [b"1"]


async def test_producers_that_fence_each_other_leave_another_alone() -> None:
    """Each that begins aborts what the others have written; all of it is aborted in the end."""
    async with EmbeddedBroker(topics=TOPICS) as broker, connected_to(broker) as client:
        stopped = asyncio.Event()

        async def fight() -> None:
            async with connected_to(broker) as own:
                producer = TransactionalProducer(own, "contested")
                while not stopped.is_set():
                    if await producer.begin() == 0:
                        await producer.write(b"contested")

        async with asyncio.timeout(60), asyncio.TaskGroup() as fighting:
            for _ in range(10):
                fighting.create_task(fight())
            peaceful = TransactionalProducer(client, "peaceful")
            await peaceful.begun()
            for number in range(20):
                assert await peaceful.write(b"%d" % number) == 0
                assert await peaceful.end(committed=True) == 0
            stopped.set()
        last = TransactionalProducer(client, "contested")
        await last.begun()
        assert await committed_values(client) == [b"%d" % number for number in range(20)]
        assert sorted(await listed(client)) == ["contested", "peaceful"]
