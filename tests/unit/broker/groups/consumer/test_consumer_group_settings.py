"""The properties of consumer groups, those of one group first."""

from __future__ import annotations

from tests.embedded.configurations import configuration_of

from kafkawire.broker.groups.consumer.settings import ConsumerGroupSettings, MigrationPolicy


def settings(**properties: str) -> ConsumerGroupSettings:
    own = {"slow": {"consumer.session.timeout.ms": "60000", "consumer.heartbeat.interval.ms": "7000"}}
    return ConsumerGroupSettings(configuration_of(**properties), lambda group_id: own.get(group_id, {}))


def test_a_group_may_have_its_own_times() -> None:
    assert (settings().session_ms("g"), settings().heartbeat_ms("g")) == (45000, 5000)
    assert settings().assignment_ms("g") == 1000
    assert (settings().session_ms("slow"), settings().heartbeat_ms("slow")) == (60000, 7000)


def test_assignors_in_java_are_left_out() -> None:
    assert settings(group_consumer_assignors="com.example.Mine,range").assignors == ("range",)
    assert settings(group_consumer_assignors="com.example.Mine").assignors == ("uniform", "range")


def test_consumer_groups_can_be_switched_off() -> None:
    assert settings().is_served
    assert not settings(group_coordinator_rebalance_protocols="classic").is_served


def test_the_defaults_are_those_of_apache_kafka() -> None:
    found = settings()
    assert (found.most_members, found.regex_refresh_ms) == (2**31 - 1, 600_000)
    assert (found.assignors, found.migration) == (("uniform", "range"), MigrationPolicy.BIDIRECTIONAL)
