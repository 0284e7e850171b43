"""What each request of a producer records of its transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from tests.embedded.connection import BrokerConnection, connected_to
from tests.embedded.transactional_producer import TransactionalProducer
from tests.unit.broker.test_records_of_internal_topics import PROPERTIES, TRANSACTIONS, read, values

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.protocol import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    TransactionLogValue,
)

EMPTY, ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT = 0, 1, 2, 4


async def recorded(client: BrokerConnection, *, after: int = 0) -> list[TransactionLogValue]:
    found = values(await read(client, after, topic=TRANSACTIONS), TRANSACTIONS)
    return [value for value in found if isinstance(value, TransactionLogValue)]


async def add_partition(producer: TransactionalProducer, version: int) -> int:
    topic = (AddPartitionsToTxnRequest.AddPartitionsToTxnTopic("out", (0,)),)
    asked = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction
    if version > 3:
        one = asked(producer.transactional_id, producer.producer_id, producer.epoch, topics=topic)
        request = AddPartitionsToTxnRequest((one,))
    else:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=producer.transactional_id,
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.epoch,
            v3_and_below_topics=topic,
        )
    answer = await producer.client.ask(request, version, AddPartitionsToTxnResponse)
    results = answer.results_by_transaction[0].topic_results if version > 3 else answer.results_by_topic_v3_and_below
    return results[0].results_by_partition[0].partition_error_code


async def add_offsets(producer: TransactionalProducer, version: int) -> int:
    request = AddOffsetsToTxnRequest(producer.transactional_id, producer.producer_id, producer.epoch, "g")
    return (await producer.client.ask(request, version, AddOffsetsToTxnResponse)).error_code


async def produce(producer: TransactionalProducer, version: int) -> int:
    return await producer.write(b"v", version=version)


async def commit_offset(producer: TransactionalProducer, _version: int) -> int:
    return await producer.commit_offset("g", 5)


async def end(producer: TransactionalProducer, version: int) -> int:
    request = EndTxnRequest(producer.transactional_id, producer.producer_id, producer.epoch, committed=True)
    return (await producer.client.ask(request, version, EndTxnResponse)).error_code


@pytest.mark.parametrize(
    ("request_of", "version", "client_version"),
    [
        (add_partition, 3, 0),
        (add_partition, 4, 2),
        (add_partition, 5, 2),
        (add_offsets, 3, 0),
        (add_offsets, 4, 0),
        (produce, 12, 2),
        (commit_offset, 5, 2),
    ],
)
async def test_a_transaction_is_recorded_with_the_version_of_the_request_that_begins_it(
    request_of: Callable[[TransactionalProducer, int], Awaitable[int]], version: int, client_version: int
) -> None:
    """As Kafka's ``TransactionVersion`` has it: requests of which clients with version 2 have newer ones are of it."""
    clock = ManualClock()
    async with EmbeddedBroker(PROPERTIES, clock=clock, topics=("in", "out")) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun(timeout_ms=40_000)
        clock.advance(1)
        assert await request_of(producer, version) == 0
        first, opened = await recorded(client)
        assert (first.transaction_status, first.client_transaction_version) == (EMPTY, 0)
        assert (opened.transaction_status, opened.client_transaction_version) == (ONGOING, client_version)
        assert (opened.producer_id, opened.producer_epoch) == (producer.producer_id, producer.epoch)
        assert (first.transaction_timeout_ms, opened.transaction_timeout_ms) == (40_000, 40_000)
        assert (first.transaction_start_timestamp_ms, opened.transaction_start_timestamp_ms) == (-1, clock.now_ms())
        assert first.transaction_last_update_timestamp_ms == clock.now_ms() - 1000
        assert opened.transaction_last_update_timestamp_ms == clock.now_ms()


@pytest.mark.parametrize(("version", "client_version", "epochs"), [(4, 0, (0, 0)), (5, 2, (1, 1))])
async def test_the_end_of_a_transaction_is_recorded_with_the_version_of_its_request(
    version: int, client_version: int, epochs: tuple[int, int]
) -> None:
    """Version 2 has an epoch for each transaction."""
    clock = ManualClock()
    async with EmbeddedBroker(PROPERTIES, clock=clock, topics=("in", "out")) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun()
        assert await add_partition(producer, 3) == 0
        clock.advance(1)
        assert await end(producer, version) == 0
        _, _, decided, complete = await recorded(client)
        assert [each.transaction_status for each in (decided, complete)] == [PREPARE_COMMIT, COMPLETE_COMMIT]
        assert [each.client_transaction_version for each in (decided, complete)] == [client_version] * 2
        assert (decided.producer_epoch, complete.producer_epoch) == epochs
        assert {each.transaction_start_timestamp_ms for each in (decided, complete)} == {clock.now_ms() - 1000}
        assert {each.transaction_last_update_timestamp_ms for each in (decided, complete)} == {clock.now_ms()}
        assert (decided.transaction_partitions or ())[0].partition_ids == (0,)
        assert not complete.transaction_partitions
