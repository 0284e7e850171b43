"""Transactions over time, over restarts and in memory; other tests compare the rest with Apache Kafka."""

from __future__ import annotations

import asyncio
import gc
import random
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.embedded.connection import BrokerConnection, connected_to
from tests.embedded.driven_transactions import DrivenProducer, DrivenTransactions
from tests.embedded.transactional_producer import (
    TransactionalProducer,
    committed_offset,
    committed_values,
    state_of,
)

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.broker.clock import some_turns
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.transactions.markers import EndMarker, MarkerWriter
from kafkawire.broker.transactions.settings import TransactionSettings
from kafkawire.broker.transactions.transaction import Partition
from kafkawire.logs import read_table
from kafkawire.model.transactions import TransactionState
from kafkawire.protocol import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

TOPICS = ("in", "out")
LAST_EPOCH = (1 << 15) - 2
FENCED = ErrorCode.INVALID_PRODUCER_EPOCH


async def until(client: BrokerConnection, state: str, transactional_id: str = "t") -> None:
    async with asyncio.timeout(10):
        while (await state_of(client, transactional_id))[0] != state:  # noqa: ASYNC110 there is no event for it
            await asyncio.sleep(0.005)


async def delete(client: BrokerConnection, topic: str) -> None:
    request = DeleteTopicsRequest((DeleteTopicsRequest.DeleteTopicState(topic),), timeout_ms=20_000)
    answer = await client.ask(request, 6, DeleteTopicsResponse)
    assert not answer.responses[0].error_code


async def test_ended_transactions_can_be_read_when_their_end_is_answered() -> None:
    async with EmbeddedBroker(topics=TOPICS) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun()
        for committed in (True, False, True):
            assert await producer.write(f"{committed}".encode()) == 0
            assert await producer.commit_offset("g", 5 if committed else 6) == 0
            assert await producer.end(committed=committed) == 0
        assert await committed_values(client) == [b"True", b"True"]
        assert await committed_offset(client, "g") == (0, 5)


async def test_open_transactions_are_seen_by_no_one() -> None:
    async with EmbeddedBroker(topics=TOPICS) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun()
        await producer.write(b"1")
        await producer.commit_offset("g", 5)
        assert await committed_values(client) == []
        assert await committed_offset(client, "g") == (0, -1)
        assert await committed_offset(client, "g", is_stable=True) == (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1)


async def test_a_transaction_that_is_open_for_too_long_is_aborted_and_its_producer_fenced() -> None:
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock, topics=TOPICS) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun(timeout_ms=30_000)
        await producer.write(b"1")
        await producer.commit_offset("g", 5)
        clock.advance(25)
        assert await state_of(client) == ("Ongoing", 0)
        clock.advance(20)
        await until(client, "CompleteAbort")
        assert await state_of(client) == ("CompleteAbort", 1)
        assert await producer.write(b"2") == FENCED
        assert await producer.commit_offset("g", 6) == FENCED
        assert await producer.end(committed=True) == ErrorCode.INVALID_TXN_STATE
        assert await committed_values(client) == []
        assert await committed_offset(client, "g", is_stable=True) == (0, -1)


async def test_open_transactions_are_looked_at_at_an_interval() -> None:
    """One that has timed out is aborted then, to the millisecond."""
    clock = ManualClock()
    every = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "10001"}
    async with EmbeddedBroker(every, clock=clock, topics=TOPICS) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun(timeout_ms=1)
        await producer.write(b"1")
        clock.advance(9.75)
        clock.advance(0.25)
        await asyncio.sleep(0.05)
        assert await state_of(client) == ("Ongoing", 0)
        clock.advance(0.001)
        await until(client, "CompleteAbort")


async def test_unused_transactional_ids_are_forgotten() -> None:
    clock = ManualClock()
    async with (
        EmbeddedBroker({"connections.max.idle.ms": "-1"}, clock=clock, topics=TOPICS) as broker,
        connected_to(broker) as client,
    ):
        await TransactionalProducer(client).begun()
        clock.advance(6 * 24 * 3600)
        await asyncio.sleep(0.05)
        assert await state_of(client) == ("Empty", 0)
        clock.advance(24 * 3600 + 1)
        await until(client, str(int(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)))


async def test_transactional_ids_that_were_used_again_stay_and_all_others_go(tmp_path: Path) -> None:
    """After a restart they are in the order of the partitions that have them."""
    properties, clock = {"connections.max.idle.ms": "-1"}, ManualClock()
    ids = [f"t-{number}" for number in range(10)]
    async with (
        EmbeddedBroker(properties, data_dir=tmp_path, clock=clock) as broker,
        connected_to(broker) as client,
    ):
        for each in ids:
            await TransactionalProducer(client, each).begun()
        clock.advance(6 * 24 * 3600)
        for each in ids[::2]:
            await TransactionalProducer(client, each).begun()
    async with (
        EmbeddedBroker(properties, data_dir=tmp_path, clock=clock) as broker,
        connected_to(broker) as client,
    ):
        clock.advance(24 * 3600 + 1)
        for each in ids[1::2]:
            await until(client, str(int(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)), each)
        assert [(await state_of(client, each))[0] for each in ids[::2]] == ["Empty"] * 5


async def test_a_zombie_can_do_nothing() -> None:
    async with EmbeddedBroker(topics=TOPICS) as broker, connected_to(broker) as client:
        zombie, other = TransactionalProducer(client), TransactionalProducer(client)
        await zombie.begun()
        await zombie.write(b"zombie")
        await other.begun()
        assert await zombie.write(b"zombie again") == FENCED
        assert await zombie.commit_offset("g", 6) == FENCED
        assert await zombie.end(committed=True) == ErrorCode.PRODUCER_FENCED
        await other.write(b"other")
        await other.end(committed=True)
        assert await committed_values(client) == [b"other"]


async def test_transactions_are_there_again_after_a_restart(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path, topics=TOPICS) as broker:
        async with connected_to(broker) as client:
            producer, idle = TransactionalProducer(client), TransactionalProducer(client, "idle")
            await producer.begun()
            await idle.begun()
            await producer.write(b"1")
            await producer.commit_offset("g", 5)
        await broker.restart()
        async with connected_to(broker) as client:
            producer.client = client
            assert await state_of(client) == ("Ongoing", 0)
            assert await state_of(client, "idle") == ("Empty", 0)
            assert await committed_offset(client, "g", is_stable=True) == (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1)
            assert await producer.write(b"2") == 0
            assert await producer.end(committed=True) == 0
        await broker.restart()
        async with connected_to(broker) as client:
            assert await committed_values(client) == [b"1", b"2"]
            assert await committed_offset(client, "g") == (0, 5)
            assert await state_of(client) == ("CompleteCommit", 1)


@pytest.mark.parametrize("committed", [True, False])
async def test_a_decided_transaction_is_completed_after_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    """The crash is between the record of the decision and the markers."""
    decided = asyncio.Event()

    async def crash(_self: MarkerWriter, _marker: EndMarker, _partitions: object) -> Mapping[Partition, ErrorCode]:
        decided.set()
        raise OSError("crashed")

    copy = tmp_path / "copy"
    async with EmbeddedBroker(data_dir=tmp_path / "data", topics=TOPICS) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun()
        await producer.write(b"1")
        await producer.commit_offset("g", 5)
        with monkeypatch.context() as patched:
            patched.setattr(MarkerWriter, "write", crash)
            ending = asyncio.ensure_future(producer.end(committed=committed))
            await asyncio.wait_for(decided.wait(), 10)
            shutil.copytree(tmp_path / "data", copy)
        ending.cancel()
    async with EmbeddedBroker(data_dir=copy) as broker, connected_to(broker) as client:
        await until(client, "CompleteCommit" if committed else "CompleteAbort")
        assert await committed_values(client) == ([b"1"] if committed else [])
        assert await committed_offset(client, "g", is_stable=True) == (0, 5 if committed else -1)


async def test_partitions_that_are_deleted_meanwhile_do_not_stop_the_others() -> None:
    async with EmbeddedBroker(topics=(*TOPICS, "gone")) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun()
        await producer.write(b"1", "gone")
        await producer.write(b"1")
        await delete(client, "gone")
        assert await producer.end(committed=True) == 0
        assert await committed_values(client) == [b"1"]
        assert await state_of(client) == ("CompleteCommit", 1)


async def test_a_deleted_topic_of_transactions_ends_them_all() -> None:
    async with EmbeddedBroker(topics=TOPICS) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun()
        await delete(client, "__transaction_state")
        assert await producer.end(committed=False) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
        await producer.begun()
        assert await producer.end(committed=False) == 0


async def test_the_topic_is_there_at_once_with_one_replica() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        found = await client.ask(FindCoordinatorRequest("x", 1), 3, FindCoordinatorResponse)
        assert (found.error_code, found.port) == (0, broker.port)
        (topic,) = (await client.ask(MetadataRequest(None), 12, MetadataResponse)).topics
        replicas = {len(partition.replica_nodes) for partition in topic.partitions}
        assert (topic.name, len(topic.partitions), replicas) == ("__transaction_state", 50, {1})


async def test_bounded_transactions_are_refused_beyond_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = TransactionSettings(most_partitions=1, most_bytes=2000)
    monkeypatch.setattr(TransactionSettings, "of", lambda _: settings)
    async with EmbeddedBroker(topics=TOPICS) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun()
        assert await producer.write(b"1") == 0
        assert await producer.write(b"1", "in") == ErrorCode.POLICY_VIOLATION
        assert await producer.end(committed=False) == 0
        for number in range(5):
            error = await TransactionalProducer(client, f"t{number}").begin()
            assert error == (ErrorCode.POLICY_VIOLATION if number > 2 else 0)
        assert await producer.begin() == 0  # ids that are there may go on


async def test_a_client_that_leaves_while_its_transaction_ends_does_not_stop_it() -> None:
    async with EmbeddedBroker(topics=TOPICS) as broker, connected_to(broker) as client:
        async with connected_to(broker) as leaving:
            producer = TransactionalProducer(leaving)
            await producer.begun()
            await producer.write(b"1")
            ending = asyncio.ensure_future(producer.end(committed=True))
            await asyncio.sleep(0)
        ending.cancel()
        await until(client, "CompleteCommit")
        assert await committed_values(client) == [b"1"]


async def test_the_work_of_ended_transactions_is_forgotten_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    """Else it would take memory for every transactional id that there has ever been."""
    of_other_tests = {id(each): each for each in _completing_tasks()}
    driven = DrivenTransactions()
    for number in range(20):
        producer = DrivenProducer(driven, f"t-{number}")
        assert await producer.begin() is ErrorCode.NONE
        assert await producer.write(0, b"1") is ErrorCode.NONE
        assert await producer.end(committed=True) is ErrorCode.NONE
    await some_turns()
    gc.collect()
    assert not [each for each in _completing_tasks() if id(each) not in of_other_tests]
    assert not caplog.records


def _completing_tasks() -> list[object]:
    """The tasks that complete transactions, as far as memory holds them."""
    return [each for each in gc.get_objects() if isinstance(each, asyncio.Task) and "._complete(" in repr(each)]


async def test_a_pattern_that_takes_too_long_is_refused() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        await TransactionalProducer(client, "".join(random.Random(1).choices("ab", k=16_000))).begun()
        pattern = "(a|b)*a(a|b){300}"
        request = ListTransactionsRequest(transactional_id_pattern=pattern)
        async with asyncio.timeout(30):
            answer = await client.ask(request, 2, ListTransactionsResponse)
        assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


async def test_the_tables_of_logs_have_the_transactions(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path, topics=TOPICS) as broker, connected_to(broker) as client:
        producer = TransactionalProducer(client)
        await producer.begun()
        await producer.write(b"1")
        await producer.end(committed=True)
    rows = [row for batch in read_table("transaction_history", tmp_path) for row in batch.to_pylist()]
    assert [row["state"] for row in rows] == ["Empty", "Ongoing", "PrepareCommit", "CompleteCommit"]


class SlowLog(MetadataLog):
    """A log of metadata whose records are not durable until its disk has written them."""

    def __init__(self) -> None:
        super().__init__()
        self.written = asyncio.Event()

    def is_durable(self, offset: int) -> bool:
        return self.written.is_set()

    async def durable(self, offset: int) -> None:
        await self.written.wait()


async def test_a_new_producer_id_is_durable_before_a_transactional_id_is_recorded_with_it() -> None:
    """Else a crash between both writes leaves the producer id to the transactional id, and to the next producer."""
    log = SlowLog()
    driven = DrivenTransactions(log=log)
    begun = asyncio.ensure_future(DrivenProducer(driven, "t").begin())
    await some_turns()
    assert not driven.transactions.by_id
    log.written.set()
    assert await begun is ErrorCode.NONE
    assert driven.transactions.by_id["t"].producer_id == 0


async def test_a_producer_id_after_the_last_epoch_is_durable_before_it_is_recorded() -> None:
    log = SlowLog()
    log.written.set()
    driven = DrivenTransactions(log=log)
    producer = DrivenProducer(driven, "t")
    await driven.use_up("t", epoch=LAST_EPOCH - 1)
    for _ in range(1_000 - 1):  # the rest of the block
        driven.take_producer_id()
    assert await producer.begin() is ErrorCode.NONE
    assert await producer.write(0, b"1") is ErrorCode.NONE
    log.written.clear()
    ended = asyncio.ensure_future(producer.end(committed=True))
    await some_turns()
    assert driven.transactions.by_id["t"].state is TransactionState.ONGOING
    log.written.set()
    assert await ended is ErrorCode.NONE
    assert producer.producer == (1_000, 0)
