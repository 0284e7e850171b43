"""Apache Kafka's console consumer of share groups: what it accepts, rejects and releases, and who gets it then."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import pytest
from tests.apache_kafka.console_share_consumer import console_share_consumer

from kafkawire.admin import BlockingAdminClient, ConfigChange, ConfigResource, NewTopic, TopicPartition
from kafkawire.broker import ThreadedBroker

Untyped: TypeAlias = Any
"""What the producer's library is made of."""

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

TOPIC, GROUP, RECORDS = "orders", "workers", 40
EACH = list(range(RECORDS))
OFTEN = {"group.share.heartbeat.interval.ms": "100", "group.share.min.heartbeat.interval.ms": "100"}
"""A member gets its partitions with a later heartbeat than the first one."""


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    """A broker with records that the group has yet to read."""
    confluent: Untyped = importlib.import_module("confluent_kafka")
    with ThreadedBroker(OFTEN) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(TOPIC, 1)]).all()
        configure(admin, "share.auto.offset.reset", "earliest")
        producer = confluent.Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0})
        for number in range(RECORDS):
            producer.produce(TOPIC, str(number).encode())
            producer.flush(20)
        yield broker


def configure(admin: BlockingAdminClient, name: str, value: str) -> None:
    admin.incremental_alter_configs({ConfigResource.group(GROUP): [ConfigChange.set(name, value)]}).all()


def read(broker: ThreadedBroker, *options: str, most: int = RECORDS) -> Sequence[int]:
    return console_share_consumer(broker.bootstrap_servers, TOPIC, GROUP, *options, most=most)


def lag(broker: ThreadedBroker) -> int | None:
    """How many records the group has not completed. Its start offset follows with a later change, as in Kafka."""
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        begun = admin.list_share_group_offsets([GROUP]).all()[GROUP].all()[TopicPartition(TOPIC, 0)]
    return None if begun is None else begun.lag


def test_accepted_records_do_not_come_again(broker: ThreadedBroker) -> None:
    first = read(broker, most=RECORDS // 4)
    assert first == EACH[: RECORDS // 4]
    assert lag(broker) == RECORDS - len(first)
    assert read(broker, most=RECORDS - len(first)) == EACH[len(first) :]
    assert lag(broker) == 0


@pytest.mark.extended
def test_rejected_records_do_not_come_again(broker: ThreadedBroker) -> None:
    rejected = read(broker, "--reject", most=RECORDS // 2)
    assert rejected == EACH[: RECORDS // 2]
    assert read(broker, most=RECORDS // 2) == EACH[RECORDS // 2 :]


@pytest.mark.extended
def test_released_records_come_again_until_the_limit_of_deliveries(broker: ThreadedBroker) -> None:
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        configure(admin, "share.delivery.count.limit", "2")
    assert read(broker, "--release", most=RECORDS) == EACH
    assert read(broker, "--release", most=RECORDS) == EACH
    assert read(broker) == []
    assert lag(broker) == 0
