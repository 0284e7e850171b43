"""Which mechanisms a listener offers, by Kafka's properties."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, ConfigurationError
from kafkawire.broker.image.scram_users import ScramImage
from kafkawire.broker.listener.configured_listeners import ConfiguredListener
from kafkawire.broker.listener.sasl.login import OfferedMechanism
from kafkawire.broker.listener.sasl.mechanism import LoginRefusedError
from kafkawire.broker.listener.sasl.offered import Users, offered_mechanisms

ENTRY = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="alice-secret";'
LISTENER = ConfiguredListener("CLIENTS", "SASL_PLAINTEXT", "127.0.0.1", 0, "127.0.0.1", 0)


def offered(properties: Mapping[str, str]) -> Mapping[str, OfferedMechanism]:
    own = BrokerConfiguration(properties).of_listener(LISTENER.name)
    return offered_mechanisms(LISTENER, own, Users(ScramImage(), secret=b"secret"))


def knows_alice(mechanism: OfferedMechanism) -> bool:
    try:
        mechanism.begin().respond(b"\0alice\0alice-secret")
    except LoginRefusedError:
        return False
    return True


@pytest.mark.parametrize(
    "name",
    [
        "listener.name.clients.plain.sasl.jaas.config",
        "plain.sasl.jaas.config",
        "listener.name.clients.sasl.jaas.config",
        "sasl.jaas.config",
    ],
)
def test_passwords_stand_with_the_listener_or_for_all(name: str) -> None:
    assert knows_alice(offered({"sasl.enabled.mechanisms": "PLAIN", name: ENTRY})["PLAIN"])


def test_properties_of_the_listener_override_those_for_all() -> None:
    properties = {
        "sasl.enabled.mechanisms": "GSSAPI",
        "listener.name.clients.sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN,SCRAM-SHA-256",
        "plain.sasl.jaas.config": ENTRY.replace("alice", "bob"),
        "listener.name.clients.plain.sasl.jaas.config": ENTRY,
        "connections.max.reauth.ms": "1000",
        "listener.name.clients.plain.connections.max.reauth.ms": "2000",
        "listener.name.other.connections.max.reauth.ms": "3000",
    }
    found = offered(properties)
    assert list(found) == ["SCRAM-SHA-512", "PLAIN", "SCRAM-SHA-256"]
    assert knows_alice(found["PLAIN"])
    assert {name: one.lifetime_ms for name, one in found.items()} == {
        "SCRAM-SHA-512": 1000,
        "PLAIN": 2000,
        "SCRAM-SHA-256": 1000,
    }


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({}, "GSSAPI for CLIENTS: this broker supports PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"),
        ({"sasl.enabled.mechanisms": "OAUTHBEARER"}, "OAUTHBEARER"),
        ({"sasl.enabled.mechanisms": "PLAIN"}, "plain.sasl.jaas.config is missing"),
        ({"sasl.enabled.mechanisms": "PLAIN", "plain.sasl.jaas.config": "alice-secret"}, "cannot be read"),
        (
            {"sasl.enabled.mechanisms": "SCRAM-SHA-256", "scram-sha-256.sasl.server.callback.handler.class": "x.Y"},
            "callback",
        ),
    ],
)
def test_mechanisms_served_are_few_and_others_are_refused(properties: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason) as raised:
        offered(properties)
    assert "alice-secret" not in str(raised.value)
