"""Other clients at brokers that answer as older releases: each stays within the versions that they offer."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any, TypeAlias

import pytest

from kafkawire.broker import ThreadedBroker
from kafkawire.broker.version_tables import known_releases, version_table
from kafkawire.protocol.api_table import APIS
from kafkawire.rpc import api_of

Untyped: TypeAlias = Any
"""What these clients are made of."""

pytestmark = [
    pytest.mark.interop,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

NO_DELAY = {"group.initial.rebalance.delay.ms": "0"}
SECONDS = 20


def confluent(servers: str) -> bytes:
    kafka: Untyped = importlib.import_module("confluent_kafka")
    producer = kafka.Producer({"bootstrap.servers": servers})
    producer.produce("orders", b"paid")
    producer.flush(SECONDS)
    consumer = kafka.Consumer({"bootstrap.servers": servers, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    message = consumer.poll(SECONDS)
    consumer.close()
    value: bytes = message.value()
    return value


def kafka_python(servers: str) -> bytes:
    kafka: Untyped = importlib.import_module("kafka")
    with kafka.KafkaProducer(bootstrap_servers=servers) as producer:
        producer.send("orders", b"paid").get(SECONDS)
    where = {"bootstrap_servers": servers, "group_id": "g", "auto_offset_reset": "earliest"}
    with contextlib.closing(kafka.KafkaConsumer("orders", **where)) as consumer:
        value: bytes = next(consumer).value
    return value


@pytest.mark.parametrize("through", [confluent, kafka_python])
@pytest.mark.parametrize("release", [known_releases()[0], "3.9"])
def test_a_record_goes_through_a_group(release: str, through: Untyped) -> None:
    with ThreadedBroker(NO_DELAY, topics=["orders"], release=release) as broker:
        assert through(broker.bootstrap_servers) == b"paid"
        table, requests = version_table(release), list(broker.requests)
    assert len(requests) > 5
    for received in requests:
        lowest, highest = table.apis[APIS[api_of(type(received.request)).key].name]
        assert lowest <= received.version <= highest, received
