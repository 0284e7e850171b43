"""The demonstration queries a real broker if it is given one, and lets Kafka read what its own broker wrote."""

from __future__ import annotations

import pytest
from tests.apache_kafka.broker import Broker

from kafkawire.cli.app import main

pytestmark = pytest.mark.interop


def test_demo_shows_the_methods_and_the_nodes_of_a_real_broker(
    kafka_broker: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--broker", f"{kafka_broker.host}:{kafka_broker.port}"]) == 0
    shown = capsys.readouterr().out
    assert "ACCESS_CONTROL_ENTRY_RECORD       │ 2011" in shown
    assert "CLIENT_QUOTA_RECORD               │ 2002" in shown
    assert "describe_client_quotas" in shown
    assert f":{kafka_broker.port}" in shown
