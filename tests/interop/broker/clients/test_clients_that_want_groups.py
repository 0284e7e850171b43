"""Clients that want transactions: each fails at once with its own message, on the page too."""

from __future__ import annotations

import asyncio
import importlib
import logging
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.apache_kafka.java_program import java_command
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.broker import ThreadedBroker

Untyped: TypeAlias = Any
"""What these clients are made of."""

# Their own warnings are none of ours; so they are loaded when a test wants them.
pytestmark = [
    pytest.mark.interop,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "test-with-a-broker.md"
AT_ONCE = 5.0
"""Seconds that nothing takes here, on a slow machine either; clients that try again do so for 10 and more."""


@pytest.fixture(scope="module")
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker() as broker:
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("orders")]).all()
        yield broker


@contextmanager
def at_once() -> Iterator[None]:
    """What happens here waits for nothing."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < AT_ONCE


def documented(client: str, words: str) -> None:
    """The page has a row for the client, with these words."""
    rows = [row for row in PAGE.read_text().splitlines() if row.startswith(f"| {client} |")]
    assert len(rows) == 1, client
    assert words in rows[0]


def warned(caplog: pytest.LogCaptureFixture, software: str, wanted: str) -> None:
    """The broker has named the client, once."""
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len([line for line in lines if f"({software}" in line and f"wants {wanted}." in line]) == 1, lines


def test_aiokafka_wants_transactions(broker: ThreadedBroker, caplog: pytest.LogCaptureFixture) -> None:
    aiokafka: Untyped = importlib.import_module("aiokafka")

    async def begin() -> None:
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id="payments")
        try:
            await producer.start()
        finally:
            await producer.stop()

    with at_once(), pytest.raises(aiokafka.errors.TransactionalIdAuthorizationFailed):
        asyncio.run(begin())
    warned(caplog, "unknown software", "transactions")
    documented("aiokafka, `transactional_id`", "`TransactionalIdAuthorizationFailed`")


def test_kafka_python_wants_transactions(broker: ThreadedBroker, caplog: pytest.LogCaptureFixture) -> None:
    kafka: Untyped = importlib.import_module("kafka")
    producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id="payments")
    with at_once(), pytest.raises(kafka.errors.TransactionalIdAuthorizationFailedError):
        producer.init_transactions()
    producer.close()
    warned(caplog, "kafka-python", "transactions")
    documented("kafka-python, `transactional_id`", "`TransactionalIdAuthorizationFailedError`")


def test_librdkafka_wants_transactions(broker: ThreadedBroker, caplog: pytest.LogCaptureFixture) -> None:
    confluent: Untyped = importlib.import_module("confluent_kafka")
    producer = confluent.Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "payments"})
    with at_once(), pytest.raises(confluent.KafkaException) as failed:
        producer.init_transactions(2 * AT_ONCE)
    assert failed.value.args[0].fatal()
    assert "Transactional Id authorization failed" in str(failed.value)
    warned(caplog, "confluent-kafka-python", "transactions")
    documented("librdkafka (confluent-kafka), `transactional.id`", "Transactional Id authorization failed")


def test_java_wants_transactions(broker: ThreadedBroker, caplog: pytest.LogCaptureFixture) -> None:
    tool = "org.apache.kafka.tools.TransactionalMessageCopier"
    topics = ("--input-topic", "orders", "--input-partition", "0", "--output-topic", "orders")
    who = ("--transactional-id", "payments", "--consumer-group", "readers")
    ended = subprocess.run(
        [
            *java_command(newest_broker_release(), "512m", ()),
            *(tool, "--broker-list", broker.bootstrap_servers, *topics, *who),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    words = "TransactionalIdAuthorizationException: Transactional Id authorization failed."
    assert ended.returncode == 1
    assert words in ended.stderr
    warned(caplog, "apache-kafka-java", "transactions")
    documented("Java, `transactional.id`", f"`{words}`")
