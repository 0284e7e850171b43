"""Clients that want groups of KIP-848: each fails at once with its own message, on the page too."""

from __future__ import annotations

import importlib
import logging
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.apache_kafka.java_admin import JavaAdmin, JavaAdminError
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


def test_librdkafka_wants_a_consumer_group(broker: ThreadedBroker, caplog: pytest.LogCaptureFixture) -> None:
    confluent: Untyped = importlib.import_module("confluent_kafka")
    servers = {"bootstrap.servers": broker.bootstrap_servers, "client.id": "new"}
    consumer = confluent.Consumer({**servers, "group.id": "readers", "group.protocol": "consumer"})
    consumer.subscribe(["orders"])
    with at_once():
        message = consumer.poll(2 * AT_ONCE)
    words = "ConsumerGroupHeartbeat fatal error: Broker: API version not supported"
    assert words in str(message.error())
    consumer.close()
    warned(caplog, "confluent-kafka-python", "a consumer group of KIP-848")
    documented("librdkafka (confluent-kafka), `group.protocol=consumer`", words)


JAVAS_WORDS = "The cluster does not support the new CONSUMER group protocol"


def test_java_wants_a_consumer_group(
    java_admin: JavaAdmin, broker: ThreadedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    admin = java_admin.client(broker.bootstrap_servers)
    failed = pytest.raises(JavaAdminError, match=JAVAS_WORDS)
    with at_once(), failed, admin.member("readers-consumer", ["orders"], "consumer"):
        pass
    warned(caplog, "apache-kafka-java", "a consumer group of KIP-848")
    documented("Java, `group.protocol=consumer`", JAVAS_WORDS)


def test_kafka_console_consumer_wants_a_consumer_group(broker: ThreadedBroker) -> None:
    """It prints the error at once; the code with which it ends is 0 after every error, which no broker can change."""
    tool = "org.apache.kafka.tools.consumer.ConsoleConsumer"
    where = ("--bootstrap-server", broker.bootstrap_servers, "--topic", "orders", "--group", "readers")
    arguments = (*where, "--timeout-ms", "60000", "--command-property", "group.protocol=consumer")
    ended = subprocess.run(
        [*java_command(newest_broker_release(), "512m", ()), tool, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert f"UnsupportedVersionException: {JAVAS_WORDS}" in ended.stderr
    assert (ended.returncode, ended.stdout) == (0, "")
    documented("kafka-console-consumer, `group.protocol=consumer`", "ends with code 0")
