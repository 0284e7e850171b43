"""Consumers of other clients that subscribe: they share partitions, take over, and static ones return."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import pytest
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.java_admin import JavaAdmin
from tests.apache_kafka.java_program import java_command
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.protocol import JoinGroupRequest, OffsetCommitRequest

Untyped: TypeAlias = Any
"""What these clients are made of."""

# Their own warnings are none of ours; so they are loaded when a test wants them.
pytestmark = [
    pytest.mark.interop,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

PARTITIONS, RECORDS = 4, 40
SECONDS = 20.0


PROPERTIES = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.initial.rebalance.delay.ms": "0",
}


@pytest.fixture(scope="module")
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker(PROPERTIES) as broker:
        yield broker


@pytest.fixture
def topic(broker: ThreadedBroker, request: pytest.FixtureRequest) -> str:
    """A topic with records in each partition, named after the test; the group has the same name."""
    confluent: Untyped = importlib.import_module("confluent_kafka")
    name = re.sub(r"[^a-z_-]", ".", request.node.name)
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(name, PARTITIONS)]).all()
    producer = confluent.Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(RECORDS):
        producer.produce(name, str(number).encode(), partition=number % PARTITIONS)
    assert producer.flush(SECONDS) == 0
    return name


def confluent_consumer(broker: ThreadedBroker, topic: str, **settings: str | int) -> Untyped:
    confluent: Untyped = importlib.import_module("confluent_kafka")
    servers = {"bootstrap.servers": broker.bootstrap_servers, "group.id": topic, "auto.offset.reset": "earliest"}
    consumer = confluent.Consumer({**servers, "heartbeat.interval.ms": 100, **settings})
    consumer.subscribe([topic])
    return consumer


def consumer_group_member(
    broker: ThreadedBroker, group: str, subscription: str | None = None, *, instance: str | None = None
) -> Untyped:
    confluent: Untyped = importlib.import_module("confluent_kafka")
    servers = {"bootstrap.servers": broker.bootstrap_servers, "group.id": group, "auto.offset.reset": "earliest"}
    static = {} if instance is None else {"group.instance.id": instance}
    consumer = confluent.Consumer({**servers, **static, "group.protocol": "consumer"})
    consumer.subscribe([subscription or group])
    return consumer


def polled(consumers: Sequence[Untyped], done: Callable[[Sequence[bytes]], bool]) -> Sequence[bytes]:
    """The values that consumers get until it is enough."""
    values: list[bytes] = []
    deadline = time.monotonic() + SECONDS
    while not done(values):
        assert time.monotonic() < deadline, [consumer.assignment() for consumer in consumers]
        for consumer in consumers:
            message = consumer.poll(0.02)
            assert message is None or not message.error(), message.error()
            values += [] if message is None else [message.value()]
    return values


def owned(consumer: Untyped) -> set[int]:
    return {each.partition for each in consumer.assignment()}


def is_shared(consumers: Sequence[Untyped]) -> bool:
    """Whether each has something, and no partition has two owners."""
    parts = [owned(consumer) for consumer in consumers]
    return all(parts) and sum(map(len, parts)) == len(set().union(*parts)) == PARTITIONS


def have_read_all(consumers: Sequence[Untyped]) -> bool:
    """Whether they are at the ends of their partitions; one that a partition has moved to may have begun it again."""
    places = [place for consumer in consumers for place in consumer.position(consumer.assignment())]
    read: int = sum(max(place.offset, 0) for place in places)
    return read == RECORDS


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "cooperative-sticky"])
def test_librdkafka_shares_and_takes_over(broker: ThreadedBroker, topic: str, strategy: str) -> None:
    first = confluent_consumer(broker, topic, **{"partition.assignment.strategy": strategy})
    polled([first], lambda values: len(values) == RECORDS)
    first.commit(asynchronous=False)
    second = confluent_consumer(broker, topic, **{"partition.assignment.strategy": strategy})
    again = polled([first, second], lambda _: is_shared([first, second]))
    assert not again, "what was committed is not read again"
    first.close()
    polled([second], lambda _: len(owned(second)) == PARTITIONS)
    second.close()


def test_librdkafka_shares_and_takes_over_in_a_consumer_group(broker: ThreadedBroker, topic: str) -> None:
    """With ``group.protocol=consumer`` the broker assigns (KIP-848)."""
    first = consumer_group_member(broker, topic)
    polled([first], lambda values: len(values) == RECORDS)
    first.commit(asynchronous=False)
    others = [consumer_group_member(broker, topic) for _ in range(2)]
    again = polled([first, *others], lambda _: is_shared([first, *others]))
    assert not again, "what was committed is not read again"
    first.close()
    polled(others, lambda _: is_shared(others))
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        described = eventually(  # the last acknowledgement comes with a heartbeat
            lambda: admin.describe_consumer_groups([topic]).all()[topic], lambda group: group.state == "Stable"
        )
        assert (described.type, len(described.members)) == ("consumer", 2)
    for each in others:
        each.close()


@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
def test_librdkafka_is_upgraded_and_downgraded_one_by_one(broker: ThreadedBroker, topic: str, strategy: str) -> None:
    """A rolling change of ``group.protocol``: the group is shared all the time, and nothing is read again.

    The sticky assignor of librdkafka leaves user data in assignments; Kafka upgrades no such group either.
    """
    settings: dict[str, str | int] = {"partition.assignment.strategy": strategy}
    consumers = [confluent_consumer(broker, topic, **settings) for _ in range(2)]
    polled(consumers, lambda _: is_shared(consumers) and have_read_all(consumers))
    for each in consumers:
        each.commit(asynchronous=False)
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        for number, protocol in enumerate(("consumer", "consumer", "classic", "classic")):
            is_new = protocol == "consumer"
            comes = consumer_group_member(broker, topic) if is_new else confluent_consumer(broker, topic, **settings)
            again = polled([*consumers, comes], lambda _, now=(*consumers, comes): is_shared(now))  # type: ignore[misc]
            assert not again, "what was committed is not read again"
            assert admin.describe_consumer_groups([topic]).all()[topic].type == "consumer"
            consumers.pop(0).close()
            consumers.append(comes)
            assert not polled(consumers, lambda _: is_shared(consumers))
            described = admin.describe_consumer_groups([topic]).all()[topic]
            assert described.type == ("classic" if number == 3 else "consumer")
            assert len(described.members) == 2
    for each in consumers:
        each.close()


def test_librdkafka_subscribes_by_a_regular_expression(broker: ThreadedBroker, topic: str) -> None:
    consumer = consumer_group_member(broker, topic, f"^{topic[:-2]}..$")
    polled([consumer], lambda values: len(values) == RECORDS)
    consumer.close()


def test_librdkafka_static_member_leaves_a_consumer_group_for_a_while(broker: ThreadedBroker, topic: str) -> None:
    first, second = (consumer_group_member(broker, topic, instance=name) for name in ("one", "two"))
    polled([first, second], lambda values: is_shared([first, second]) and len(set(values)) == RECORDS)
    parts = owned(second)
    second.close()
    second = consumer_group_member(broker, topic, instance="two")
    polled([first, second], lambda _: bool(owned(second)))
    assert owned(second) == parts
    second.close()
    first.close()


def test_librdkafka_static_member_returns_without_a_rebalance(broker: ThreadedBroker, topic: str) -> None:
    first, second = (confluent_consumer(broker, topic, **{"group.instance.id": name}) for name in ("one", "two"))
    polled([first, second], lambda values: is_shared([first, second]) and len(set(values)) == RECORDS)
    parts = owned(second)
    second.close()  # a static member does not leave
    broker.requests.clear()
    second = confluent_consumer(broker, topic, **{"group.instance.id": "two"})
    polled([first, second], lambda _: bool(owned(second)))
    assert owned(second) == parts
    assert len([each for each in broker.requests.of(JoinGroupRequest) if each.request.group_id == topic]) == 1
    second.close()
    first.close()


@pytest.mark.extended
def test_a_member_that_is_gone_loses_its_partitions(broker: ThreadedBroker, topic: str) -> None:
    first = confluent_consumer(broker, topic)
    second = confluent_consumer(broker, topic, **{"session.timeout.ms": 6000, "max.poll.interval.ms": 6000})
    polled([first, second], lambda _: is_shared([first, second]))
    polled([first], lambda _: len(owned(first)) == PARTITIONS)  # the second does not poll any more
    first.close()
    second.close()


def test_aiokafka_shares_and_takes_over(broker: ThreadedBroker, topic: str) -> None:
    aiokafka: Untyped = importlib.import_module("aiokafka")

    def made() -> Untyped:
        where = {"bootstrap_servers": broker.bootstrap_servers, "group_id": topic, "auto_offset_reset": "earliest"}
        return aiokafka.AIOKafkaConsumer(topic, **where, heartbeat_interval_ms=100)

    async def until(done: Callable[[], bool]) -> None:
        while not done():  # noqa: ASYNC110 it has no event for this
            await asyncio.sleep(0.05)

    async def share() -> None:
        async with made() as first:
            for _ in range(RECORDS):
                await first.getone()
            await first.commit()
            async with made() as second:
                await until(lambda: len(first.assignment()) == len(second.assignment()) == PARTITIONS // 2)
                assert not first.assignment() & second.assignment()
            await until(lambda: len(first.assignment()) == PARTITIONS)

    asyncio.run(asyncio.wait_for(share(), SECONDS))


def test_kafka_python_shares_and_takes_over(broker: ThreadedBroker, topic: str) -> None:
    """Members poll side by side and long: kafka-python 3.0.12 forgets an assignment that comes between two polls."""
    kafka: Untyped = importlib.import_module("kafka")
    where = {"bootstrap_servers": broker.bootstrap_servers, "group_id": topic, "auto_offset_reset": "earliest"}

    def made() -> contextlib.closing[Untyped]:
        return contextlib.closing(kafka.KafkaConsumer(topic, **where, heartbeat_interval_ms=100))

    def until(done: Callable[[], bool], *consumers: Untyped) -> None:
        deadline = time.monotonic() + SECONDS
        while not done():
            assert time.monotonic() < deadline, [consumer.assignment() for consumer in consumers]
            for polled in [polls.submit(consumer.poll, 2_000) for consumer in consumers]:
                polled.result()

    with ThreadPoolExecutor() as polls, made() as second, made() as first:
        until(lambda: sum(map(first.position, first.assignment())) == RECORDS, first)
        first.commit()
        until(lambda: len(first.assignment()) == len(second.assignment()) == PARTITIONS // 2, first, second)
        assert not first.assignment() & second.assignment()
        first.close()
        until(lambda: len(second.assignment()) == PARTITIONS, second)


def test_java_consumers_are_seen_by_administrators(java_admin: JavaAdmin, broker: ThreadedBroker, topic: str) -> None:
    admin = java_admin.client(broker.bootstrap_servers)
    with admin.member(topic, [topic], "classic"), BlockingAdminClient(broker.bootstrap_servers) as own:
        described = own.describe_classic_groups([topic]).all()[topic]
        assert (described.state, len(described.members)) == ("Stable", 1)


def test_java_members_of_consumer_groups_share(java_admin: JavaAdmin, broker: ThreadedBroker, topic: str) -> None:
    admin = java_admin.client(broker.bootstrap_servers)
    with (
        admin.member(topic, [topic], "consumer"),
        admin.member(topic, [topic], "consumer"),
        BlockingAdminClient(broker.bootstrap_servers) as own,
    ):
        described = eventually(
            lambda: own.describe_consumer_groups([topic]).all()[topic],
            lambda group: group.state == "Stable" and len(group.members) == 2,
        )
        assert sorted(len(member.assignment) for member in described.members) == [PARTITIONS // 2] * 2


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_kafka_console_consumer_reads_and_commits(broker: ThreadedBroker, topic: str, protocol: str) -> None:
    tool = "org.apache.kafka.tools.consumer.ConsoleConsumer"
    where = ("--bootstrap-server", broker.bootstrap_servers, "--topic", topic, "--group", topic, "--from-beginning")
    how = ("--max-messages", str(RECORDS), "--command-property", f"group.protocol={protocol}")
    ended = subprocess.run(
        [*java_command(newest_broker_release(), "512m", ()), tool, *where, *how],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert sorted(map(int, ended.stdout.split())) == list(range(RECORDS))
    assert ended.returncode == 0
    commits = [each for each in broker.requests.of(OffsetCommitRequest) if each.request.group_id == topic]
    assert commits
