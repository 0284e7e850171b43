"""Transactions of other clients: produced, consumed and produced again, listed; readers of committed records only."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.java_program import java_command
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.admin import BlockingAdminClient, CommittedOffset, NewTopic, TransactionState
from kafkawire.broker import ThreadedBroker
from kafkawire.broker.internal_topics.topic import partition_of

Untyped: TypeAlias = Any
"""What these clients are made of."""

# Their own warnings are none of ours; so they are loaded when a test wants them.
pytestmark = [
    pytest.mark.interop,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

PROPERTIES = {"group.initial.rebalance.delay.ms": "0"}
SECONDS = 20.0


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def broker(data_dir: Path) -> Iterator[ThreadedBroker]:
    with ThreadedBroker(PROPERTIES, data_dir=data_dir) as broker:
        yield broker


@pytest.fixture
def topic(broker: ThreadedBroker, request: pytest.FixtureRequest) -> str:
    """A topic named after the test, and another one with ``-in``, which has ten records."""
    confluent: Untyped = importlib.import_module("confluent_kafka")
    name = re.sub(r"[^a-z_-]", ".", request.node.name)
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(name), NewTopic(f"{name}-in")]).all()
    producer = confluent.Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(10):
        producer.produce(f"{name}-in", str(number).encode())
    assert producer.flush(SECONDS) == 0
    return name


def confluent_consumer(broker: ThreadedBroker, group: str, topic: str) -> Untyped:
    confluent: Untyped = importlib.import_module("confluent_kafka")
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
    }
    consumer = confluent.Consumer(settings)
    consumer.subscribe([topic])
    return consumer


def read(consumer: Untyped, count: int) -> list[bytes]:
    """The values of the next records."""
    found: list[bytes] = []
    deadline = time.monotonic() + SECONDS
    while len(found) < count:
        assert time.monotonic() < deadline, found
        message = consumer.poll(0.2)
        if message is not None:
            assert not message.error(), message.error()
            found.append(message.value())
    return found


def committed_values(broker: ThreadedBroker, topic: str, count: int) -> list[bytes]:
    """The committed records of a topic; it must have no others."""
    consumer = confluent_consumer(broker, f"{topic}-{time.monotonic_ns()}", topic)
    try:
        found = read(consumer, count)
        assert consumer.poll(0.3) is None
        return found
    finally:
        consumer.close()


def committed_offset(broker: ThreadedBroker, group: str, topic: str) -> int:
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        offsets = admin.list_consumer_group_offsets([group]).all()[group]
    (found,) = [each for place, each in offsets.items() if place.topic == topic]
    assert isinstance(found, CommittedOffset)
    return found.offset


def test_librdkafka_commits_and_aborts(broker: ThreadedBroker, topic: str) -> None:
    confluent: Untyped = importlib.import_module("confluent_kafka")
    producer = confluent.Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(SECONDS)
    for number in range(6):
        producer.begin_transaction()
        producer.produce(topic, str(number).encode())
        producer.flush(SECONDS)
        if number % 2:
            producer.abort_transaction(SECONDS)
        else:
            producer.commit_transaction(SECONDS)
    assert committed_values(broker, topic, 3) == [b"0", b"2", b"4"]


def test_librdkafka_consumes_transforms_and_produces(broker: ThreadedBroker, topic: str) -> None:
    confluent: Untyped = importlib.import_module("confluent_kafka")
    consumer = confluent_consumer(broker, topic, f"{topic}-in")
    producer = confluent.Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(SECONDS)
    for committed in (False, True):
        producer.begin_transaction()
        for value in read(consumer, 5):
            producer.produce(topic, b"new " + value)
        metadata = consumer.consumer_group_metadata()
        producer.send_offsets_to_transaction(consumer.position(consumer.assignment()), metadata, SECONDS)
        if committed:
            producer.commit_transaction(SECONDS)
        else:
            producer.abort_transaction(SECONDS)
            consumer.seek(confluent.TopicPartition(f"{topic}-in", 0, 0))
    assert committed_values(broker, topic, 5) == [b"new %d" % number for number in range(5)]
    assert committed_offset(broker, topic, f"{topic}-in") == 5
    consumer.close()


def test_librdkafka_fences_the_producer_before(broker: ThreadedBroker, topic: str) -> None:
    confluent: Untyped = importlib.import_module("confluent_kafka")
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic}
    before, after = confluent.Producer(settings), confluent.Producer(settings)
    before.init_transactions(SECONDS)
    before.begin_transaction()
    before.produce(topic, b"zombie")
    before.flush(SECONDS)
    after.init_transactions(SECONDS)
    with pytest.raises(confluent.KafkaException) as failed:
        before.commit_transaction(SECONDS)
    assert failed.value.args[0].fatal()
    after.begin_transaction()
    after.produce(topic, b"after")
    after.commit_transaction(SECONDS)
    assert committed_values(broker, topic, 1) == [b"after"]


def test_kafka_python_commits_and_aborts(broker: ThreadedBroker, topic: str) -> None:
    kafka: Untyped = importlib.import_module("kafka")
    structs: Untyped = importlib.import_module("kafka.structs")
    producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=topic)
    producer.init_transactions()
    for number in range(4):
        producer.begin_transaction()
        producer.send(topic, str(number).encode())
        offsets = {structs.TopicPartition(f"{topic}-in", 0): structs.OffsetAndMetadata(number, "", -1)}
        producer.send_offsets_to_transaction(offsets, topic)
        if number % 2:
            producer.abort_transaction()
        else:
            producer.commit_transaction()
    producer.close()
    assert committed_values(broker, topic, 2) == [b"0", b"2"]
    assert committed_offset(broker, topic, f"{topic}-in") == 2


def test_aiokafka_commits_and_aborts(broker: ThreadedBroker, topic: str) -> None:
    aiokafka: Untyped = importlib.import_module("aiokafka")

    async def produce() -> None:
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=topic)
        await producer.start()
        try:
            for number in range(4):
                await producer.begin_transaction()
                await producer.send_and_wait(topic, str(number).encode())
                place = aiokafka.TopicPartition(f"{topic}-in", 0)
                await producer.send_offsets_to_transaction({place: number}, topic)
                if number % 2:
                    await producer.abort_transaction()
                else:
                    await producer.commit_transaction()
        finally:
            await producer.stop()

    async def consume() -> list[bytes]:
        consumer = aiokafka.AIOKafkaConsumer(
            topic,
            bootstrap_servers=broker.bootstrap_servers,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
        )
        await consumer.start()
        try:
            return [(await asyncio.wait_for(consumer.getone(), SECONDS)).value for _ in range(2)]
        finally:
            await consumer.stop()

    asyncio.run(produce())
    assert asyncio.run(consume()) == [b"0", b"2"]
    assert committed_offset(broker, topic, f"{topic}-in") == 2


@pytest.mark.extended
def test_java_consumes_and_produces(broker: ThreadedBroker, topic: str) -> None:
    """The client of Kafka's own tests of exactly-once, with transactions of three records."""
    tool = "org.apache.kafka.tools.TransactionalMessageCopier"
    topics = ("--input-topic", f"{topic}-in", "--input-partition", "0", "--output-topic", topic)
    who = ("--transactional-id", topic, "--consumer-group", topic, "--transaction-size", "3", "--max-messages", "10")
    command = [*java_command(newest_broker_release(), "512m", ()), tool]
    where = ("--broker-list", broker.bootstrap_servers)
    ended = subprocess.run([*command, *where, *topics, *who], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert committed_values(broker, topic, 10) == [b"%d" % number for number in range(10)]
    assert committed_offset(broker, topic, f"{topic}-in") == 10


@pytest.mark.extended
def test_kafka_transactions_and_our_client_list_describe_and_abort(broker: ThreadedBroker, topic: str) -> None:
    confluent: Untyped = importlib.import_module("confluent_kafka")
    producer = confluent.Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    producer.produce(topic, b"open")
    producer.flush(SECONDS)

    def tool(*arguments: str) -> str:
        where = ("--bootstrap-server", broker.bootstrap_servers)
        return run_tool(newest_broker_release(), "org.apache.kafka.tools.TransactionsCommand", *where, *arguments)

    listed = [row for row in map(str.split, tool("list").splitlines()) if row[:1] == [topic]]
    described = next(line.split() for line in tool("describe", "--transactional-id", topic).splitlines()[1:])
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        ours = admin.describe_transactions([topic]).all()[topic]
        assert {
            (one.transactional_id, one.state.value)
            for one in admin.list_transactions(states=[TransactionState.ONGOING]).all()
        } == {(topic, "Ongoing")}
        assert listed == [[topic, "1", str(ours.producer_id), "Ongoing"]]
        assert described[1:5] == [topic, str(ours.producer_id), str(ours.producer_epoch), "Ongoing"]
        assert described[-1] == f"{topic}-0"
        admin.force_terminate_transaction(topic)
        assert admin.describe_transactions([topic]).all()[topic].state.value == "Empty"
    with pytest.raises(confluent.KafkaException):
        producer.commit_transaction(SECONDS)


@pytest.mark.extended
def test_kafka_dump_log_reads_the_transactions(
    broker: ThreadedBroker, topic: str, data_dir: Path, kafka_dump_log: DumpLog
) -> None:
    confluent: Untyped = importlib.import_module("confluent_kafka")
    producer = confluent.Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    producer.produce(topic, b"1")
    producer.send_offsets_to_transaction(
        [confluent.TopicPartition(f"{topic}-in", 0, 3)],
        confluent_consumer(broker, topic, topic).consumer_group_metadata(),
        SECONDS,
    )
    producer.commit_transaction(SECONDS)
    log = data_dir / f"__transaction_state-{partition_of(topic, 50)}" / "00000000000000000000.log"
    dumped = kafka_dump_log(log, "--transaction-log-decoder")
    records = [line for line in dumped.splitlines() if topic in line and "payload" in line]
    payloads = [json.loads(line.partition(" payload: ")[2]) for line in records]
    states = [each["data"]["transactionStatus"] for each in payloads]
    assert states == ["Empty", "Ongoing", "Ongoing", "PrepareCommit", "CompleteCommit"]
    offsets = data_dir / f"__consumer_offsets-{partition_of(topic, 50)}" / "00000000000000000000.log"
    dumped = kafka_dump_log(offsets, "--offsets-decoder")
    assert "isTransactional: true isControl: false" in dumped
    assert "endTxnMarker: COMMIT coordinatorEpoch: 0" in dumped
