"""The properties of streams groups."""

from __future__ import annotations

import pytest
from tests.embedded.configurations import configuration_of

from kafkawire.broker.groups.share.settings import ShareGroupSettings
from kafkawire.broker.groups.streams.settings import StreamsGroupSettings


def test_the_properties_of_a_group_come_before_those_of_the_broker() -> None:
    of_group = {"g": {"streams.num.standby.replicas": "2", "streams.initial.rebalance.delay.ms": "7"}}
    settings = StreamsGroupSettings(configuration_of(), lambda group: of_group.get(group, {}))
    assert (settings.standby_replicas("g"), settings.initial_delay_ms("g"), settings.session_ms("g")) == (2, 7, 45_000)
    assert (settings.standby_replicas("h"), settings.initial_delay_ms("h")) == (0, 3000)


def test_members_may_take_as_much_memory_as_those_of_other_groups() -> None:
    settings = StreamsGroupSettings(configuration_of(), lambda _: {})
    assert settings.most_bytes == ShareGroupSettings(configuration_of(), lambda _: {}).most_bytes
    assert settings.is_served


@pytest.mark.parametrize(("is_later", "task_offset_ms", "lag"), [(False, 0, -1), (True, 60_000, 10_000)])
def test_the_defaults_are_those_of_apache_kafka(task_offset_ms: int, lag: int, *, is_later: bool) -> None:
    settings = StreamsGroupSettings(configuration_of(), lambda _: {}, is_later=is_later)
    assert (settings.most_members, settings.task_offset_ms, settings.recovery_lag) == (2**31 - 1, task_offset_ms, lag)
    assert [times("g") for times in (settings.session_ms, settings.heartbeat_ms, settings.assignment_ms)] == [
        45_000, 5000, 1000,
    ]  # fmt: skip
    assert not StreamsGroupSettings(configuration_of(), lambda _: {}).is_later
