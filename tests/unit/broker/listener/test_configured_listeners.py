"""Where a broker listens, by Kafka's properties (KIP-103)."""

from __future__ import annotations

import pytest
from tests.embedded.configurations import configuration_of

from kafkawire.broker.configuration.broker_configuration import ConfigurationError
from kafkawire.broker.listener.configured_listeners import ConfiguredListener, configured_listeners


def listeners(**properties: str) -> tuple[ConfiguredListener, ...]:
    return configured_listeners(configuration_of(**properties), "127.0.0.1", 9092)


def test_without_listeners_there_is_one_at_the_given_address() -> None:
    (only,) = listeners()
    assert only == ConfiguredListener("PLAINTEXT", "PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092)
    assert (only.has_tls, only.has_sasl, only.protocol_code) == (False, False, 0)


def test_each_listener_has_a_name_a_protocol_and_an_address() -> None:
    internal, external = listeners(
        listeners="internal://127.0.0.1:0,EXTERNAL://[::1]:9093",
        listener_security_protocol_map="INTERNAL:plaintext,external:SASL_SSL",
        advertised_listeners="EXTERNAL://kafka.example:443",
    )
    assert internal == ConfiguredListener("INTERNAL", "PLAINTEXT", "127.0.0.1", 0, "127.0.0.1", 0)
    assert external == ConfiguredListener("EXTERNAL", "SASL_SSL", "::1", 9093, "kafka.example", 443)
    assert (external.has_tls, external.has_sasl, external.protocol_code) == (True, True, 3)


def test_protocols_are_names_of_listeners_by_default() -> None:
    found = listeners(listeners="PLAINTEXT://:1,SSL://:2,SASL_PLAINTEXT://:3,SASL_SSL://:4")
    assert [one.protocol for one in found] == [one.name for one in found]
    assert all(one.host == "" and one.advertised_host for one in found)


def test_controller_listeners_are_not_for_clients() -> None:
    (only,) = listeners(listeners="PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0")
    assert only.name == "PLAINTEXT"


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"listeners": "127.0.0.1:9092"}, "NAME://host:port"),
        ({"listeners": "PLAINTEXT://127.0.0.1"}, "NAME://host:port"),
        ({"listeners": "PLAINTEXT://127.0.0.1:99999"}, "NAME://host:port"),
        ({"listeners": "PLAINTEXT://a:1,plaintext://b:2"}, "PLAINTEXT twice"),
        ({"listeners": "INSIDE://127.0.0.1:1"}, "does not have INSIDE"),
        ({"listeners": "CONTROLLER://127.0.0.1:1"}, "none for clients"),
        ({"advertised_listeners": "SSL://a:1"}, "not among listeners"),
        ({"listener_security_protocol_map": "PLAINTEXT"}, "write NAME:PROTOCOL"),
        ({"listener_security_protocol_map": "PLAINTEXT:HTTP"}, "HTTP for PLAINTEXT"),
    ],
)
def test_wrong_listeners_are_reported(properties: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        listeners(**properties)
