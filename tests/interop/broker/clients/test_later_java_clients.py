"""Java's clients of later releases than the one of the embedded broker: they begin with newer versions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import is_at_least, releases

from kafkawire.broker import ThreadedBroker
from kafkawire.broker.served_apis import RELEASE

pytestmark = [pytest.mark.interop, pytest.mark.extended]

SOURCES = Path(__file__).parents[2] / "java" / "round_trip"
LATER = [release for release in releases() if release != RELEASE and is_at_least(release, RELEASE)]
TIMEOUTS = {"default.api.timeout.ms": "20000", "request.timeout.ms": "10000"}
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
WITH_LOGINS = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": f'{LOGIN} user_alice="alice-secret";',
}
AS_ALICE = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{LOGIN} username="alice" password="alice-secret";',
}


@pytest.mark.parametrize("release", LATER)
@pytest.mark.parametrize(
    ("broker", "client"), [({}, {}), (WITH_LOGINS, AS_ALICE)], ids=["without a login", "with a login"]
)
def test_a_later_client_finds_the_versions_that_the_broker_has(
    release: str, broker: Mapping[str, str], client: Mapping[str, str], tmp_path: Path
) -> None:
    with ThreadedBroker(broker) as running:
        properties = {"bootstrap.servers": running.bootstrap_servers, **TIMEOUTS, **client}
        file = tmp_path / "client.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()), "utf-8")
        printed = run_tool(release, "RoundTrip", str(file), plugins=[compiled(release, SOURCES)])
        assert printed.splitlines() == ["[orders]", "0", "1", "GroupIdNotFoundException", running.cluster_id]
