"""Fixtures ``plain_pair``, ``later_pair``, ``secure_pair``, ``policy_pair`` and ``upgrading_pair``: Apache Kafka and
the embedded broker with the same properties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.apache_kafka.broker import Broker, running_broker
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.releases import is_at_least, releases
from tests.apache_kafka.secure_broker import running_secure_broker
from tests.interop.broker.same_answers.embedded_side import embedded_side
from tests.interop.broker.same_answers.scenario import Pair
from tests.interop.broker.same_answers.talk import Side

from kafkawire.broker.served_apis import RELEASE
from kafkawire.model.properties_file import parse_properties
from kafkawire.protocol import CreateTopicsRequest

_POLICIES = Path(__file__).parents[2] / "java" / "policies"
_NEEDS_PORTS_AND_FOLDERS = ("advertised.listeners", "controller.quorum.voters", "listeners", "log.dirs")
_NEEDS_CERTIFICATES = ("ssl.", "listener.name.sasl_ssl.", "listener.name.mutual_tls.")


@pytest.fixture(scope="session")
def plain_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Brokers without any security. No other test has them: quotas and groups that one forgets are no difference."""
    with (
        running_broker(RELEASE, tmp_path_factory.mktemp("plain")) as kafka,
        embedded_side(_properties_of(kafka)) as embedded,
    ):
        yield Pair(Side("Apache Kafka", kafka.host, kafka.port), embedded)


@pytest.fixture(scope="module")
def later_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Brokers of 4.4, with a small limit of groups. Topics have configurations there that the embedded one lacks."""
    release = next(release for release in releases() if is_at_least(release, "4.4"))
    properties = {"broker.session.timeout.ms": "60000", "group.streams.max.size": "3"}
    with (
        running_broker(release, tmp_path_factory.mktemp("later"), properties=properties) as kafka,
        embedded_side(_properties_of(kafka), "4.4") as embedded,
    ):
        yield Pair(Side("Apache Kafka", kafka.host, kafka.port), embedded, (CreateTopicsRequest,))


@pytest.fixture(scope="session")
def secure_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Brokers with an authorizer: their plain listener allows everything, their second one requires a login."""
    with running_secure_broker(RELEASE, tmp_path_factory.mktemp("secure")) as secure:
        kafka = secure.broker
        properties = {
            **_properties_of(kafka),
            "listeners": f"PLAINTEXT://{kafka.host}:0,SASL_PLAINTEXT://{kafka.host}:0",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
            "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        }
        with embedded_side(properties) as embedded:
            yield Pair(Side("Apache Kafka", kafka.host, kafka.port, secure.sasl_plaintext_port), embedded)


@pytest.fixture(scope="session")
def policy_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Brokers with policies and a quota callback, the same in Java and in Python; and with small limits of groups."""
    release, folder = RELEASE, tmp_path_factory.mktemp("policies")
    policies = {
        "create.topic.policy.class.name": "NamesDecide",
        "alter.config.policy.class.name": "ConfigsDecide",
        "client.quota.callback.class": "Doubled",
    }
    groups = {
        "group.consumer.assignment.interval.ms": "0",
        "group.consumer.max.size": "2",
        "group.consumer.migration.policy": "disabled",
        "group.initial.rebalance.delay.ms": "400",
        "group.max.size": "2",
        "group.min.session.timeout.ms": "300",
        "group.share.heartbeat.interval.ms": "500",
        "group.share.max.size": "2",
        "group.share.min.heartbeat.interval.ms": "500",
        "group.share.min.session.timeout.ms": "1000",
        "group.share.session.timeout.ms": "1000",
        "group.streams.heartbeat.interval.ms": "500",
        "group.streams.max.size": "2",
        "group.streams.min.heartbeat.interval.ms": "500",
        "group.streams.min.session.timeout.ms": "1000",
        "group.streams.session.timeout.ms": "1000",
    }
    properties = {"num.partitions": "3", **groups, **{name: f"policies.{policy}" for name, policy in policies.items()}}
    with running_broker(release, folder, properties=properties, plugins=[compiled(release, _POLICIES)]) as kafka:
        own = {name: f"tests.interop.broker.same_answers.policies:{policy}" for name, policy in policies.items()}
        with embedded_side({**_properties_of(kafka), **own}) as embedded:
            yield Pair(Side("Apache Kafka", kafka.host, kafka.port), embedded)


@pytest.fixture(scope="session")
def upgrading_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Brokers where classic groups become consumer groups of two members, and consumer groups stay what they are."""
    properties = {
        "group.consumer.assignment.interval.ms": "0",
        "group.consumer.max.size": "2",
        "group.consumer.migration.policy": "Upgrade",
        "group.initial.rebalance.delay.ms": "400",
    }
    with (
        running_broker(RELEASE, tmp_path_factory.mktemp("upgrading"), properties=properties) as kafka,
        embedded_side(_properties_of(kafka)) as embedded,
    ):
        yield Pair(Side("Apache Kafka", kafka.host, kafka.port), embedded)


def _properties_of(kafka: Broker) -> Mapping[str, str]:
    """The properties of a broker, except those that are its own."""
    written = parse_properties((kafka.output.parent / "server.properties").read_text("utf-8"))
    return {
        name: text
        for name, text in written.items()
        if name not in _NEEDS_PORTS_AND_FOLDERS and not name.startswith(_NEEDS_CERTIFICATES)
    }
