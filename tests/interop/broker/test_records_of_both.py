"""Records go both ways: Kafka reads segments that the broker wrote, and the broker those of Kafka."""

from __future__ import annotations

import asyncio
import importlib
import random
import shutil
import time
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.handed_over import kafka_on
from tests.embedded.connection import connected_to
from tests.interop.broker.test_hand_over import check_kafka_found_nothing_wrong
from tests.kafka_logs.dumps import parse_dump
from tests.unit.broker.test_records_on_disk import create, produce

from kafkawire.admin import BlockingAdminClient, NewTopic, TopicPartition
from kafkawire.broker import EmbeddedBroker, ThreadedBroker
from kafkawire.wire.batches import RecordBatch, decode_records, read_batches

# Their own warnings are none of ours.
pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore::DeprecationWarning"), pytest.mark.extended]

MANY: Final = 200
SECONDS: Final = 30


async def write(data: Path, first: int) -> None:
    """Write records of 10 KiB, so that there are many segments."""
    async with EmbeddedBroker(data_dir=data) as broker, connected_to(broker) as client:
        if not first:
            await create(client, {"segment.bytes": "1048576"})
        for number in range(first, first + MANY):
            assert (await produce(client, b"%05d" % number + bytes(10_000))).base_offset == number


def test_kafkas_log_tool_reads_segments_and_their_indexes(tmp_path: Path, kafka_dump_log: DumpLog) -> None:
    asyncio.run(write(tmp_path, 0))
    folder = tmp_path / "t-0"
    logs = sorted(folder.glob("*.log"))
    assert len(logs) == 2
    values = []
    for log in logs:
        batches = parse_dump(kafka_dump_log(log, "--print-data-log"))
        assert all(batch.valid for batch in batches)
        values += [batch.base_offset for batch in batches]
        for suffix in (".index", ".timeindex"):
            printed = kafka_dump_log(log.with_suffix(suffix))
            assert "mismatch" not in printed.lower(), printed
            assert "offset:" in printed
    assert values == list(range(MANY))


def produced(address: str, numbers: range) -> None:
    """Produce idempotently with compression, in batches of several records."""
    confluent: Any = importlib.import_module("confluent_kafka")
    settings = {"bootstrap.servers": address, "enable.idempotence": True, "compression.type": "lz4", "linger.ms": 5}
    producer = confluent.Producer(settings)
    for number in numbers:
        producer.produce("t", b"%05d" % number + random.Random(number).randbytes(3000), partition=0)
        if not number % 20:
            producer.flush(SECONDS)
    assert producer.flush(SECONDS) == 0


def one_by_one(address: str, numbers: range) -> None:
    """Produce batches of a record each, all of one size."""
    confluent: Any = importlib.import_module("confluent_kafka")
    producer = confluent.Producer({"bootstrap.servers": address, "linger.ms": 0})
    for number in numbers:
        producer.produce("t", b"%05d" % number + bytes(3000), partition=0)
        assert producer.flush(SECONDS) == 0


def consumed(address: str, end: int) -> list[tuple[int, int]]:
    """Offset and number of each record from the first to an end."""
    confluent: Any = importlib.import_module("confluent_kafka")
    settings = {"bootstrap.servers": address, "group.id": "none", "enable.partition.eof": False}
    consumer = confluent.Consumer(settings)
    consumer.assign([confluent.TopicPartition("t", 0, confluent.OFFSET_BEGINNING)])
    found: list[tuple[int, int]] = []
    while not found or found[-1][0] < end - 1:
        message = consumer.poll(SECONDS)
        assert message is not None, found[-1:]
        assert message.error() is None, message.error()
        found.append((message.offset(), int(message.value()[:5])))
    consumer.close()
    return found


def produce_at_broker(data: Path, numbers: range, *, is_new: bool) -> None:
    with ThreadedBroker(data_dir=data) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        if is_new:
            topic = NewTopic("t", 1, 1, configs={"segment.bytes": "1048576", "file.delete.delay.ms": "0"})
            admin.create_topics([topic]).all()
        else:
            assert consumed(broker.bootstrap_servers, numbers.start) == [(at, at) for at in range(numbers.start)]
        produced(broker.bootstrap_servers, numbers)


def test_records_are_handed_over_and_come_back(tmp_path: Path) -> None:
    """Twice in each direction, so that each reads segments that the other has begun."""
    data = tmp_path / "data"
    for turn, first in enumerate(range(0, 4 * MANY, 2 * MANY)):
        produce_at_broker(data, range(first, first + MANY), is_new=not turn)
        with kafka_on(data, tmp_path / f"kafka {turn}") as kafka:
            assert consumed(kafka.address, first + MANY) == [(at, at) for at in range(first + MANY)]
            produced(kafka.address, range(first + MANY, first + 2 * MANY))
        check_kafka_found_nothing_wrong(kafka)
        assert "Could not find offset index" not in kafka.output.read_text("utf-8", errors="replace")
    produce_at_broker(data, range(4 * MANY, 4 * MANY + 1), is_new=False)


def test_small_segments_end_where_those_of_kafka_end(tmp_path: Path) -> None:
    """``segment.bytes`` is at least 1 MiB; ``internal.segment.bytes`` goes first, and may be less."""
    data = tmp_path / "data"
    with ThreadedBroker(data_dir=data) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("t", 1, 1, configs={"internal.segment.bytes": "100000"})]).all()
        one_by_one(broker.bootstrap_servers, range(MANY))
    with kafka_on(data, tmp_path / "kafka") as kafka:
        one_by_one(kafka.address, range(MANY, 2 * MANY))
    firsts = sorted(int(log.stem) for log in (data / "t-0").glob("*.log"))
    of_one = firsts[1]
    assert firsts == [*range(0, 2 * MANY, of_one)]


def produced_with_keys(address: str, numbers: range, *, idempotent: bool) -> None:
    """Records of few keys, each with several that come later; number n has the time n."""
    confluent: Any = importlib.import_module("confluent_kafka")
    producer = confluent.Producer({"bootstrap.servers": address, "enable.idempotence": idempotent, "linger.ms": 5})
    for number in numbers:
        value = b"%05d" % number + random.Random(number).randbytes(3000).hex().encode()
        producer.produce("t", value, b"key-%d" % (number % 37), partition=0, timestamp=number + 1)
        if not number % 10:
            producer.flush(SECONDS)
    assert producer.flush(SECONDS) == 0


def batches_of(folder: Path) -> list[RecordBatch]:
    """The batches in all segments of a partition; where they are in their files does not matter."""
    paths = sorted(folder.glob("*.log"))
    return [replace(batch, position=0) for path in paths for batch in read_batches(path.read_bytes())]


def size_of(folder: Path) -> int:
    """Bytes of all segments that are there at the moment."""
    return sum(path.stat().st_size for path in folder.glob("*.log") if path.exists())


def wait_until_smaller(folder: Path, size: int) -> None:
    """Wait until a compaction has ended: half of each segment goes, and files do not change for a second."""
    eventually(lambda: size_of(folder), lambda found: 0 < found < size * 0.6, seconds=60)
    time.sleep(1)


def test_compaction_leaves_what_kafkas_leaves(tmp_path: Path, kafka_dump_log: DumpLog) -> None:
    """Both compact the same log; batches are equal to the last bit."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    configs = {"cleanup.policy": "compact", "segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0.01"}
    with ThreadedBroker({"log.cleaner.enable": "false"}, data_dir=ours) as broker:
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("t", 1, 1, configs=configs)]).all()
        for first in range(0, 600, 200):
            produced_with_keys(broker.bootstrap_servers, range(first, first + 200), idempotent=first == 200)
    before = size_of(ours / "t-0")
    shutil.copytree(ours, theirs)
    with ThreadedBroker({"log.cleaner.backoff.ms": "100"}, data_dir=ours):
        wait_until_smaller(ours / "t-0", before)
    with kafka_on(theirs, tmp_path / "kafka") as kafka:
        wait_until_smaller(theirs / "t-0", before)
    check_kafka_found_nothing_wrong(kafka)
    assert batches_of(ours / "t-0") == batches_of(theirs / "t-0")
    for path in (ours / "t-0").glob("*.log"):
        assert all(batch.valid for batch in parse_dump(kafka_dump_log(path, "--print-data-log")))


def test_deleted_records_and_tombstones_are_handed_over(tmp_path: Path) -> None:
    data = tmp_path / "data"
    first = TopicPartition("t", 0)
    with ThreadedBroker(data_dir=data) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("t", 1, 1), NewTopic("c", 1, 1, configs={"cleanup.policy": "compact"})]).all()
        produced(broker.bootstrap_servers, range(100))
        admin.delete_records({first: 40}).all()
        confluent: Any = importlib.import_module("confluent_kafka")
        producer = confluent.Producer({"bootstrap.servers": broker.bootstrap_servers})
        for key, value in ((b"a", b"1"), (b"b", b"2"), (b"a", None), (b"b", b"3")):
            producer.produce("c", value, key, partition=0)
        assert producer.flush(SECONDS) == 0
        broker.clean_records("c")
    with kafka_on(data, tmp_path / "kafka") as kafka, BlockingAdminClient(kafka.address) as admin:
        assert consumed(kafka.address, 100) == [(at, at) for at in range(40, 100)]
        admin.delete_records({first: 70}).all()
    check_kafka_found_nothing_wrong(kafka)
    (left,) = (batch for batch in batches_of(data / "c-0"))
    assert [(record.key, record.value) for record in decode_records(left)] == [(b"a", None), (b"b", b"3")]
    assert left.delete_horizon_ms is not None
    with ThreadedBroker(data_dir=data) as broker:
        assert consumed(broker.bootstrap_servers, 100) == [(at, at) for at in range(70, 100)]
