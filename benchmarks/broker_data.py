"""Records through the embedded broker and through Apache Kafka, with confluent-kafka as the client of both."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from confluent_kafka import Consumer, Producer, TopicPartition
from tests.apache_kafka.node import HOST

from benchmarks.results import KAFKA, OURS, DisagreementError, Measurement, Target
from benchmarks.sampling import Call, Waiting, interleave_waiting
from kafkawire.admin import BlockingAdminClient, NewTopic, TopicPartition as Partition
from kafkawire.broker import StateCopy, ThreadedBroker

KIND: Final = "broker data"
START_KIND: Final = "broker start"
METHOD: Final = """\
confluent-kafka is the client, with its defaults except `linger.ms=5` for many messages. The embedded broker runs as a
program, in memory; Apache Kafka has the records in the page cache. Broker and client share the processors. *The first
message through a group*: a producer sends a message to a topic that exists, and a consumer that subscribes gets it;
both brokers have `group.initial.rebalance.delay.ms=0`, the default of the pytest fixtures. Here the embedded broker is
in the process of the client, and its start counts; Apache Kafka runs already. If the topic does not exist yet,
librdkafka waits 100 ms more."""

NO_DELAY: Final = {"group.initial.rebalance.delay.ms": "0"}
_TARGET_RATE: Final = 50_000
_FIRST_MESSAGE: Final = 0.300
_START: Final = 0.020
_SIZE: Final = 100
_SECONDS: Final = 60.0
_names = itertools.count()


def run(rounds: int, messages: int, our_port: int, kafka_port: int) -> Iterator[Measurement]:
    """Measure records.

    Args:
        rounds: rounds of each measurement.
        messages: how many are produced and fetched.
        our_port, kafka_port: of the programs.

    Raises:
        DisagreementError: a message is lost.
    """
    yield _first_message(rounds, kafka_port)
    target = Target(None, messages / _TARGET_RATE)
    case = f"{messages} messages of {_SIZE} bytes"
    addresses = {OURS: f"{HOST}:{our_port}", KAFKA: f"{HOST}:{kafka_port}"}

    def measured(case: str, seconds: Callable[[str], float]) -> Measurement:
        contenders: dict[str, Call | Waiting] = {
            name: Waiting(partial(seconds, address)) for name, address in addresses.items()
        }
        return Measurement(KIND, case, interleave_waiting(contenders, rounds), (target,))

    yield measured(f"{case}, produced", lambda address: _produced(address, f"p{next(_names)}", messages))
    for address in addresses.values():
        _produced(address, "fetched", messages)
    yield measured(f"{case}, fetched", lambda address: _fetched(address, messages))


def starts(rounds: int, records: int) -> Iterator[Measurement]:
    """Measure starts of a broker in memory, as a fixture of pytest starts it."""
    state = _prepared(records)
    for case, begin in (
        ("in the process of a test, in memory", None),
        (f"the same, from the copy of a state with 120 partitions and {records} records", state),
    ):
        seconds = tuple(_started(begin) for _ in range(rounds + 1))[1:]
        yield Measurement(START_KIND, case, {OURS: seconds}, (Target(None, _START),))


def _prepared(records: int) -> StateCopy:
    topics = [NewTopic(f"t{number}", num_partitions=6) for number in range(20)]
    with ThreadedBroker(topics=topics) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
        for number in range(records):
            producer.produce(f"t{number % len(topics)}", bytes(_SIZE))
        producer.flush(_SECONDS)
        admin.alter_consumer_group_offsets("group", {Partition(topic.name, 0): 0 for topic in topics}).all()
        return broker.copy_state()


def _started(state: StateCopy | None) -> float:
    begin = time.perf_counter()
    with ThreadedBroker(state=state):
        return time.perf_counter() - begin


def _first_message(rounds: int, kafka_port: int) -> Measurement:
    def ours() -> float:
        begin, name = time.perf_counter(), f"first{next(_names)}"
        with ThreadedBroker(NO_DELAY, topics=[name]) as broker:
            return _through_group(broker.bootstrap_servers, name, begin)

    def theirs() -> float:
        address, name = f"{HOST}:{kafka_port}", f"first{next(_names)}"
        with BlockingAdminClient(address) as admin:
            admin.create_topics([NewTopic(name)]).all()
        return _through_group(address, name, time.perf_counter())

    contenders: dict[str, Call | Waiting] = {
        OURS: Waiting(ours),
        KAFKA: Waiting(theirs),
    }
    seconds = interleave_waiting(contenders, rounds)
    return Measurement(KIND, "the first message through a group", seconds, (Target(None, _FIRST_MESSAGE),))


def _through_group(address: str, name: str, begin: float) -> float:
    """Seconds since a moment until a consumer of a new group has the first message of a topic; both have the name."""
    producer = Producer({"bootstrap.servers": address})
    producer.produce(name, bytes(_SIZE))
    producer.flush(_SECONDS)
    consumer = Consumer({"bootstrap.servers": address, "group.id": name, "auto.offset.reset": "earliest"})
    consumer.subscribe([name])
    message = consumer.poll(_SECONDS)
    taken = time.perf_counter() - begin
    consumer.close()
    if message is None or message.error():
        raise DisagreementError(f"{address}: the message did not come")
    return taken


def _produced(address: str, topic: str, count: int) -> float:
    producer = Producer({"bootstrap.servers": address, "linger.ms": 5, "queue.buffering.max.messages": count + 1})
    producer.list_topics(topic, _SECONDS)
    value = bytes(_SIZE)
    begin = time.perf_counter()
    for _ in range(count):
        producer.produce(topic, value, partition=0)
    left = producer.flush(_SECONDS)
    taken = time.perf_counter() - begin
    if left:
        raise DisagreementError(f"{address}: {left} messages were not acknowledged")
    return taken


def _fetched(address: str, count: int) -> float:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "none", "enable.auto.commit": False})
    consumer.list_topics("fetched", _SECONDS)
    begin = time.perf_counter()
    consumer.assign([TopicPartition("fetched", 0, 0)])
    left, deadline = count, begin + _SECONDS
    while left > 0 and time.perf_counter() < deadline:
        left -= len(consumer.consume(min(left, 10_000), 1))
    taken = time.perf_counter() - begin
    consumer.close()
    if left:
        raise DisagreementError(f"{address}: {left} messages did not come")
    return taken
