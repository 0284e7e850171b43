"""Brokers of every release that has its tools, with our client and Java's Admin at its plain listener."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.java_admin import JavaAdmin, JavaAdminClient
from tests.apache_kafka.releases import broker_releases
from tests.apache_kafka.secure_broker import SecureBroker

from kafkawire.admin import BlockingAdminClient


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, kafka_brokers: Brokers) -> Broker:
    """A shared broker. Some modules replace it by a secure one, other releases, or a broker of their own."""
    return kafka_brokers(request.param)


@pytest.fixture
def admin(broker: Broker | SecureBroker) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(broker.address) as client:
        yield client


@pytest.fixture
def java(broker: Broker | SecureBroker, java_admin: JavaAdmin) -> JavaAdminClient:
    return java_admin.client(broker.address)
