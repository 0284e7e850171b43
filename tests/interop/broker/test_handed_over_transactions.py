"""Transactions move to Apache Kafka with the data directory, and come back: complete ones, open ones, decided ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from tests.apache_kafka.connection import Connection, connected_to
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.handed_over import kafka_on
from tests.embedded.connection import connected_to as connected_to_embedded
from tests.embedded.transactional_producer import TransactionalProducer, committed_offset, committed_values, state_of
from tests.interop.broker.test_hand_over import check_kafka_found_nothing_wrong

from kafkawire.broker import EmbeddedBroker
from kafkawire.broker.transactions.markers import EndMarker, MarkerWriter
from kafkawire.broker.transactions.transaction import Partition
from kafkawire.protocol import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    EndTxnRequest,
    EndTxnResponse,
    FetchRequest,
    FetchResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import decode_records, read_batches

pytestmark = [pytest.mark.interop, pytest.mark.extended]

PROPERTIES: Final = {"transaction.state.log.num.partitions": "3", "offsets.topic.num.partitions": "2"}
NAMES: Final = ("committed", "aborted", "open", "decided", "empty")
TIMEOUT_MS: Final = 900_000


async def begin_at_broker(data: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, TransactionalProducer]:
    """A transaction in each state; the broker ends between the decision and the markers of the last."""

    async def crash(_self: MarkerWriter, _marker: EndMarker, _partitions: object) -> Mapping[Partition, ErrorCode]:
        raise OSError("crashed")

    topics = ["in", "out"]
    async with (
        EmbeddedBroker(PROPERTIES, data_dir=data, topics=topics) as broker,
        connected_to_embedded(broker) as client,
    ):
        producers = {name: TransactionalProducer(client, name) for name in NAMES}
        for name, producer in producers.items():
            await producer.begun(TIMEOUT_MS)
            if name != "empty":
                assert await producer.write(name.encode()) == 0
                assert await producer.commit_offset(f"g-{name}", 5) == 0
        assert await producers["committed"].end(committed=True) == 0
        assert await producers["aborted"].end(committed=False) == 0
        monkeypatch.setattr(MarkerWriter, "write", crash)
        ending = asyncio.ensure_future(producers["decided"].end(committed=True))
        await asyncio.sleep(0.3)
        assert (await state_of(client, "decided"))[0] == "PrepareCommit"
        ending.cancel()
    monkeypatch.undo()
    return producers


def states(client: Connection) -> dict[str, tuple[str, int]]:
    answer = client.ask(DescribeTransactionsRequest(NAMES), 0, DescribeTransactionsResponse)
    return {each.transactional_id: (each.transaction_state, each.producer_epoch) for each in answer.transaction_states}


def values(client: Connection) -> set[bytes]:
    """The values that a committed reader may get; those of aborted transactions are among them."""
    asked = FetchRequest.FetchTopic("out", partitions=(FetchRequest.FetchPartition(0, -1, 0, -1, 0, 1 << 20),))
    answer = client.ask(FetchRequest(max_wait_ms=0, isolation_level=1, topics=(asked,)), 12, FetchResponse)
    (found,) = answer.responses[0].partitions
    aborted = {each.producer_id for each in found.aborted_transactions or ()}
    return {
        bytes(record.value or b"")
        for batch in read_batches(found.records or b"")
        if not batch.is_control and batch.producer_id not in aborted
        for record in decode_records(batch)
    }


def offsets(client: Connection) -> dict[str, tuple[int, int]]:
    """The error and the stable offset of each group."""
    asked = OffsetFetchRequest.OffsetFetchRequestTopics("in", partition_indexes=(0,))
    groups = tuple(OffsetFetchRequest.OffsetFetchRequestGroup(f"g-{name}", topics=(asked,)) for name in NAMES[:4])
    answer = client.ask(OffsetFetchRequest(groups=groups, require_stable=True), 9, OffsetFetchResponse)
    found = {group.group_id: group.topics[0].partitions[0] for group in answer.groups}
    return {group_id: (one.error_code, one.committed_offset) for group_id, one in found.items()}


def end(client: Connection, producer: TransactionalProducer, *, committed: bool) -> None:
    request = EndTxnRequest(producer.transactional_id, producer.producer_id, producer.epoch, committed)
    answer = client.ask(request, 5, EndTxnResponse)
    assert not answer.error_code
    producer.producer_id, producer.epoch = answer.producer_id, answer.producer_epoch


def test_transactions_move_to_apache_kafka_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data"
    producers = asyncio.run(begin_at_broker(data, monkeypatch))
    done = {
        "committed": ("CompleteCommit", 1),
        "aborted": ("CompleteAbort", 1),
        "decided": ("CompleteCommit", 1),
        "empty": ("Empty", 0),
    }
    stable = {"g-committed": (0, 5), "g-aborted": (0, -1), "g-decided": (0, 5)}
    with kafka_on(data, tmp_path / "kafka") as kafka:
        host, _, port = kafka.address.rpartition(":")
        with connected_to(host, int(port)) as client:
            eventually(lambda: states(client), lambda found: found == {**done, "open": ("Ongoing", 0)})
            unstable = {**stable, "g-open": (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1)}
            eventually(lambda: offsets(client), lambda found: found == unstable)
            end(client, producers["open"], committed=True)
            eventually(lambda: states(client)["open"], lambda found: found == ("CompleteCommit", 1))
            eventually(lambda: values(client), lambda found: found == {b"committed", b"open", b"decided"})
            eventually(lambda: offsets(client), lambda found: found == {**stable, "g-open": (0, 5)})
    check_kafka_found_nothing_wrong(kafka)
    asyncio.run(go_on_at_broker(data, producers))


async def go_on_at_broker(data: Path, producers: Mapping[str, TransactionalProducer]) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=data) as broker, connected_to_embedded(broker) as client:
        assert sorted(await committed_values(client)) == [b"committed", b"decided", b"open"]
        for name in ("committed", "open", "decided"):
            assert await committed_offset(client, f"g-{name}", is_stable=True) == (0, 5)
            assert await state_of(client, name) == ("CompleteCommit", 1)
        producer = producers["open"]
        producer.client, producer.sequences = client, {}
        assert await producer.write(b"again") == 0
        assert await producer.commit_offset("g-open", 9) == 0
        assert await producer.end(committed=True) == 0
        assert (await committed_values(client))[-1] == b"again"
        assert await committed_offset(client, "g-open") == (0, 9)
