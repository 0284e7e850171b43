"""One properties file for Kafka's own tools and for the admin client, at a broker with logins and TLS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import pytest
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import newest_broker_release
from tests.apache_kafka.secure_broker import SecureBroker

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.protocol.errors import SaslAuthenticationFailedError

pytestmark = [pytest.mark.interop, pytest.mark.extended]


def written(file: Path, properties: Mapping[str, str]) -> Path:
    file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()), "utf-8")
    return file


def topics_for_java(file: Path, address: str) -> set[str]:
    arguments = ("--bootstrap-server", address, "--command-config", str(file), "--list")
    return set(run_tool(newest_broker_release(), "org.apache.kafka.tools.TopicCommand", *arguments).split())


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "no tls"])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_logins(secure_kafka_broker: SecureBroker, mechanism: str, tls: bool, tmp_path: Path) -> None:
    properties = secure_kafka_broker.java_sasl(mechanism, tls=tls)
    file = written(tmp_path / "client.properties", properties)
    topic = f"properties-{uuid4()}"
    with BlockingAdminClient.from_properties(file) as client:
        client.create_topics([NewTopic(topic, 1, 1)]).all()
        client.wait_for_topics([topic]).all()
        # Other tests share the broker, so the lists may differ in their topics.
        assert topic in client.list_topics()
        assert topic in topics_for_java(file, properties["bootstrap.servers"])


def test_a_certificate_of_the_client(secure_kafka_broker: SecureBroker, tmp_path: Path) -> None:
    properties = secure_kafka_broker.java_mutual_tls()
    file = written(tmp_path / "client.properties", properties)
    with BlockingAdminClient.from_properties(file) as client:
        assert client.describe_cluster().cluster_id == secure_kafka_broker.broker.cluster_id
        assert set(client.list_topics()) <= topics_for_java(file, properties["bootstrap.servers"])


def test_a_wrong_password_is_in_no_error(secure_kafka_broker: SecureBroker, tmp_path: Path) -> None:
    properties = secure_kafka_broker.java_sasl("SCRAM-SHA-512", password="wrong-password")
    file = written(tmp_path / "client.properties", properties)
    with BlockingAdminClient.from_properties(file) as client:
        with pytest.raises(SaslAuthenticationFailedError) as raised:
            client.list_topics()
        assert "wrong-password" not in f"{raised.value!r} {client!r}"
