"""Transactions in data directories go both ways: committed readers of Kafka and of the broker get the same."""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import os
import random
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import pytest
from msgspec.structs import replace
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.handed_over import kafka_on
from tests.interop.broker.test_hand_over import check_kafka_found_nothing_wrong
from tests.interop.broker.test_records_of_both import batches_of, size_of, wait_until_smaller

from kafkawire.admin import BlockingAdminClient, IsolationLevel, NewTopic, OffsetSpec, TopicPartition
from kafkawire.broker import ThreadedBroker
from kafkawire.broker.controller import Controller
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.partitions.file_store import FileRecordStore
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.segment import SegmentRules
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.partition_files import read_topic_id
from kafkawire.broker.storage.transaction_index import AbortedTransaction, read_aborted
from kafkawire.protocol import PartitionRecord, TopicRecord
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches

# Their own warnings are none of ours.
pytestmark = [pytest.mark.interop, pytest.mark.extended, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

FIRST: Final = TopicPartition("t", 0)
SECONDS: Final = 30
PRODUCERS: Final = (1001, 1002, 1003)
SEGMENTS: Final = SegmentRules(1 << 20)


def create_topic(data: Path, configs: Mapping[str, str] | None = None) -> None:
    """Create it with a first record, of now: retention deletes older ones."""
    with ThreadedBroker(data_dir=data) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("t", 1, 1, configs={"segment.bytes": "1048576", **(configs or {})})]).all()
        confluent: Any = importlib.import_module("confluent_kafka")
        producer = confluent.Producer({"bootstrap.servers": broker.bootstrap_servers})
        producer.produce("t", b"first", b"key-0", partition=0)
        assert producer.flush(SECONDS) == 0


class TransactionalProducer(Protocol):
    """As far as it is used here."""

    def init_transactions(self, timeout: float) -> None: ...
    def begin_transaction(self) -> None: ...
    def produce(self, topic: str, value: bytes, key: bytes, *, partition: int) -> None: ...
    def flush(self, timeout: float) -> int: ...
    def commit_transaction(self, timeout: float) -> None: ...
    def abort_transaction(self, timeout: float) -> None: ...


def producer_at(address: str, transactional_id: str) -> TransactionalProducer:
    confluent: Any = importlib.import_module("confluent_kafka")
    producer: TransactionalProducer = confluent.Producer(
        {"bootstrap.servers": address, "transactional.id": transactional_id, "transaction.timeout.ms": 900_000}
    )
    producer.init_transactions(SECONDS)
    return producer


def write_transactions(address: str, count: int) -> None:
    """Two producers whose transactions overlap, committed and aborted; another's stays open, since the process ends."""
    producers = [producer_at(address, f"id-{number}") for number in range(2)]
    producers[1].begin_transaction()
    for number in range(count):
        for at, producer in enumerate(producers):
            if (number + at) % 2 == 0:
                producer.begin_transaction()
            for key in range(3):
                value = random.Random(number * 10 + key).randbytes(4000).hex().encode()
                producer.produce("t", value, b"key-%d" % (key + number % 7), partition=0)
            producer.flush(SECONDS)
            if (number + at) % 2 == 1:
                producer.commit_transaction(SECONDS) if number % 3 else producer.abort_transaction(SECONDS)
    producers[1].abort_transaction(SECONDS)
    hanging = producer_at(address, "hanging")
    hanging.begin_transaction()
    hanging.produce("t", b"open", b"open", partition=0)
    hanging.flush(SECONDS)
    producers[1].begin_transaction()
    producers[1].produce("t", b"after", b"after", partition=0)
    producers[1].commit_transaction(SECONDS)
    os._exit(0)


def committed(address: str) -> list[tuple[int, bytes | None]]:
    """Offset and value of each record that a committed reader gets."""
    confluent: Any = importlib.import_module("confluent_kafka")
    settings = {
        "bootstrap.servers": address,
        "group.id": "none",
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "max.partition.fetch.bytes": 50_000,
    }
    consumer = confluent.Consumer(settings)
    consumer.assign([confluent.TopicPartition("t", 0, confluent.OFFSET_BEGINNING)])
    found: list[tuple[int, bytes | None]] = []
    while True:
        message = consumer.poll(SECONDS)
        assert message is not None, found
        if message.error() is not None:
            assert message.error().code() == confluent.KafkaError._PARTITION_EOF, message.error()
            consumer.close()
            return found
        found.append((message.offset(), message.value()))


def seen(address: str) -> tuple[object, ...]:
    """What clients see of the transactions."""
    with BlockingAdminClient(address) as admin:
        producers = admin.describe_producers([FIRST]).all()[FIRST]
        stable, newest, end = (
            admin.list_offsets({FIRST: wanted}, isolation=isolation).all()[FIRST].offset
            for wanted, isolation in (
                (OffsetSpec.LATEST, IsolationLevel.READ_COMMITTED),
                (OffsetSpec.MAX_TIMESTAMP, IsolationLevel.READ_COMMITTED),
                (OffsetSpec.LATEST, IsolationLevel.READ_UNCOMMITTED),
            )
        )
    return sorted(producers, key=lambda one: one.producer_id), stable, newest, end, committed(address)


def test_transactions_that_kafka_wrote_are_read(tmp_path: Path) -> None:
    data = tmp_path / "data"
    create_topic(data)
    with kafka_on(data, tmp_path / "kafka") as kafka:
        process = multiprocessing.get_context("spawn").Process(target=write_transactions, args=(kafka.address, 30))
        process.start()
        process.join(120)
        assert process.exitcode == 0
        expected = seen(kafka.address)
    indexes = {path: path.read_bytes() for path in (data / "t-0").glob("*.txnindex")}
    assert len([content for content in indexes.values() if content]) >= 2
    for _ in range(2):
        with ThreadedBroker(data_dir=data) as broker:
            assert seen(broker.bootstrap_servers) == expected
    assert {path: path.read_bytes() for path in (data / "t-0").glob("*.txnindex")} == {
        path: content for path, content in indexes.items() if content
    }
    with kafka_on(data, tmp_path / "kafka again") as kafka:
        assert seen(kafka.address) == expected
    check_kafka_found_nothing_wrong(kafka)


@contextmanager
def log_of(data: Path) -> Iterator[tuple[asyncio.Runner, PartitionLog]]:
    """The partition without a broker."""

    def fail(error: StorageError) -> None:
        raise AssertionError(str(error))

    topic_id = read_topic_id(data / "t-0")
    assert topic_id is not None
    controller = Controller(MetadataLog(), MetadataImage())
    controller.commit([TopicRecord("t", topic_id), PartitionRecord(0, topic_id)])
    now_ms = time.time_ns() // 1_000_000
    store = FileRecordStore(data, controller, now_ms=now_ms, producers_expire_ms=86_400_000, on_failure=fail)
    with asyncio.Runner() as runner:
        yield runner, store.log(topic_id, 0)
        runner.run(store.close())


async def append_transactions(log: PartitionLog) -> None:
    """Overlapping transactions of three producers, committed and aborted, in several segments; one stays open."""
    now_ms = time.time_ns() // 1_000_000
    known = {state.producer_id: state.last_sequence for state in log.producers.states()}
    sequences = {producer: known.get(producer, -1) + 1 for producer in PRODUCERS}
    for number in range(150):
        producer = PRODUCERS[number % 3]
        for _ in range(2):
            written = batch(producer, sequences[producer], number, now_ms)
            verification = log.producers.to_verify(written, is_strict=False)
            log.append(written, 0, SEGMENTS, now_ms, verification=verification)
            sequences[producer] += 1
        if number % 4:
            end(log, PRODUCERS[number * 7 % 3], now_ms, committed=number % 5 < 3)
        await log.durable()
    for producer in PRODUCERS[1:]:
        end(log, producer, now_ms, committed=False)
    await log.durable()


def batch(producer_id: int, sequence: int, number: int, now_ms: int) -> RecordBatch:
    value = random.Random(number).randbytes(4000).hex().encode()
    record = Record(timestamp=now_ms, key=b"key-%d" % (number % 7), value=value)
    encoded = encode_batch(
        [record], producer_id=producer_id, producer_epoch=0, base_sequence=sequence, transactional=True
    )
    return next(read_batches(encoded))


def end(log: PartitionLog, producer_id: int, now_ms: int, *, committed: bool) -> None:
    log.append_marker(
        producer_id, 0, committed=committed, coordinator_epoch=0, leader_epoch=0, now_ms=now_ms, rules=SEGMENTS
    )


def printed_aborted(printed: str) -> Sequence[AbortedTransaction]:
    pattern = r"producerId: (\d+) firstOffset: (\d+) lastOffset: (\d+) lastStableOffset: (\d+)"
    return [AbortedTransaction(*map(int, match)) for match in re.findall(pattern, printed)]


def test_transactions_that_the_broker_wrote_are_read_by_kafka(tmp_path: Path, kafka_dump_log: DumpLog) -> None:
    data = tmp_path / "data"
    create_topic(data)
    with log_of(data) as (runner, log):
        runner.run(append_transactions(log))
    paths = sorted((data / "t-0").glob("*.txnindex"))
    assert len(paths) >= 2
    for path in paths:
        assert printed_aborted(kafka_dump_log(path)) == read_aborted(path)
    for path in (data / "t-0").glob("*.snapshot"):
        assert "producerId" in kafka_dump_log(path)
    with ThreadedBroker(data_dir=data) as broker:
        expected = seen(broker.bootstrap_servers)
    with kafka_on(data, tmp_path / "kafka") as kafka:
        assert seen(kafka.address) == expected
    check_kafka_found_nothing_wrong(kafka)


def without_horizons(batches: Sequence[RecordBatch]) -> list[RecordBatch]:
    """The batches with the times of compaction taken away."""
    return [
        each if each.delete_horizon_ms is None else replace(each, base_timestamp=0, payload=b"", crc=0)
        for each in batches
    ]


def test_compaction_of_transactions_leaves_what_kafkas_leaves(tmp_path: Path) -> None:
    """Twice, so that markers without records get their horizon, and go when it has passed."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    configs = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "0"}
    create_topic(ours, configs)
    with log_of(ours) as (runner, log):
        runner.run(append_transactions(log))
    for turn in range(2):
        if turn:
            with log_of(ours) as (runner, log):
                runner.run(append_transactions(log))
        before = size_of(ours / "t-0")
        shutil.rmtree(theirs, ignore_errors=True)
        shutil.copytree(ours, theirs)
        with ThreadedBroker({"log.cleaner.backoff.ms": "100"}, data_dir=ours) as broker:
            wait_until_smaller(ours / "t-0", before)
            expected = seen(broker.bootstrap_servers)
        with kafka_on(theirs, tmp_path / f"kafka {turn}") as kafka:
            wait_until_smaller(theirs / "t-0", before)
            assert seen(kafka.address) == expected
        check_kafka_found_nothing_wrong(kafka)
        assert without_horizons(batches_of(ours / "t-0")) == without_horizons(batches_of(theirs / "t-0"))
        assert indexes_of(ours / "t-0") == indexes_of(theirs / "t-0")


def indexes_of(folder: Path) -> dict[str, Sequence[AbortedTransaction]]:
    return {path.name: found for path in folder.glob("*.txnindex") if (found := read_aborted(path))}
