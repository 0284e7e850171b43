"""Records go both ways: Kafka reads segments that the broker wrote, and the broker those of Kafka."""

from __future__ import annotations

import asyncio
import importlib
import random
from pathlib import Path
from typing import Any, Final

import pytest
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.handed_over import kafka_on
from tests.embedded.connection import connected_to
from tests.interop.broker.test_hand_over import check_kafka_found_nothing_wrong
from tests.kafka_logs.dumps import parse_dump
from tests.unit.broker.test_records_on_disk import create, produce

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.broker import EmbeddedBroker, ThreadedBroker

# Their own warnings are none of ours.
pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

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


def consumed(address: str, end: int) -> list[tuple[int, int]]:
    """Offset and number of each record from the first to an end."""
    confluent: Any = importlib.import_module("confluent_kafka")
    settings = {"bootstrap.servers": address, "group.id": "none", "enable.partition.eof": False}
    consumer = confluent.Consumer(settings)
    consumer.assign([confluent.TopicPartition("t", 0, confluent.OFFSET_BEGINNING)])
    found: list[tuple[int, int]] = []
    while not found or found[-1][0] < end - 1:
        messages = consumer.consume(500, SECONDS)
        assert messages, found[-1:]
        for message in messages:
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


@pytest.mark.extended
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
