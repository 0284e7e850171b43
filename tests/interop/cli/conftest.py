"""Real brokers for the commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.java_admin import JavaAdmin, JavaAdminClient
from tests.apache_kafka.releases import broker_releases

from kafkawire.admin import BlockingAdminClient

RowsOf = Callable[[], list[dict[str, object]]]
"""The rows that a command has printed as JSON lines."""


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, kafka_brokers: Brokers) -> Broker:
    return kafka_brokers(request.param)


@pytest.fixture
def servers(broker: Broker) -> list[str]:
    """The option that names the broker."""
    return ["-b", broker.address]


@pytest.fixture
def client(broker: Broker) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(broker.address) as client:
        yield client


@pytest.fixture
def java(broker: Broker, java_admin: JavaAdmin) -> JavaAdminClient:
    return java_admin.client(broker.address)


@pytest.fixture
def rows(capsys: pytest.CaptureFixture[str]) -> RowsOf:
    return lambda: [json.loads(line) for line in capsys.readouterr().out.splitlines()]
