"""The properties of share groups, as far as share partitions follow them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.shares.settings import ShareRules, ShareSettings, duration_ms

DEFAULTS = ShareRules(
    lock_ms=30_000, most_deliveries=5, most_in_flight=2000, renews=True, is_committed=False, reset="latest"
)


def test_the_defaults_are_kafkas() -> None:
    settings = ShareSettings(BrokerConfiguration({}), lambda _: {})
    assert settings.of("g") == ShareRules() == DEFAULTS
    assert settings.most_sessions == 2000


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"share.record.lock.duration.ms": "15000"}, {"lock_ms": 15_000}),
        ({"share.delivery.count.limit": "2"}, {"most_deliveries": 2}),
        ({"share.partition.max.record.locks": "100"}, {"most_in_flight": 100}),
        ({"share.renew.acknowledge.enable": "false"}, {"renews": False}),
        ({"share.renew.acknowledge.enable": " True "}, {"renews": True}),
        ({"share.isolation.level": "read_committed"}, {"is_committed": True}),
        ({"share.auto.offset.reset": "earliest"}, {"reset": "earliest"}),
    ],
)
def test_a_configuration_of_a_group_counts_for_it_alone(own: dict[str, str], expected: dict[str, object]) -> None:
    settings = ShareSettings(BrokerConfiguration({}), lambda group_id: own if group_id == "g" else {})
    assert settings.of("g") == replace(DEFAULTS, **expected)
    assert settings.of("h") == DEFAULTS


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("group.share.record.lock.duration.ms", "15000", {"lock_ms": 15_000}),
        ("group.share.delivery.count.limit", "2", {"most_deliveries": 2}),
        ("group.share.partition.max.record.locks", "100", {"most_in_flight": 100}),
    ],
)
def test_a_property_of_the_broker_counts_for_all_groups(name: str, value: str, expected: dict[str, object]) -> None:
    assert ShareSettings(BrokerConfiguration({name: value}), lambda _: {}).of("g") == replace(DEFAULTS, **expected)


def test_the_broker_has_as_many_sessions_as_its_property_says() -> None:
    assert ShareSettings(BrokerConfiguration({"group.share.max.share.sessions": "7"}), lambda _: {}).most_sessions == 7


@pytest.mark.parametrize(
    ("duration", "ms"),
    [("PT0S", 0), ("P2DT3H4M5.067S", 183_845_067), ("pt0,5s", 500), ("PT1.0019999S", 1001), ("PT1H-30M", 1_800_000)],
)
def test_durations_are_those_of_java_to_the_millisecond(duration: str, ms: int) -> None:
    assert duration_ms(f"by_duration:{duration}") == ms


@pytest.mark.parametrize("reset", ["latest", "by_duration:", "by_duration:P1Y", "by_duration:PT1H "])
def test_what_is_no_duration_is_refused(reset: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        duration_ms(reset)


@pytest.mark.parametrize(
    ("level", "is_committed"),
    [(None, False), ("read_uncommitted", False), ("read_committed", True), ("READ_COMMITTED", True)],
)
def test_members_get_committed_records_only_if_the_group_says_so(level: str | None, *, is_committed: bool) -> None:
    own = {} if level is None else {"share.isolation.level": level}
    assert ShareSettings(BrokerConfiguration({}), lambda _: own).of("g").is_committed is is_committed
