"""The properties of share groups."""

from __future__ import annotations

from tests.embedded.configurations import configuration_of

from kafkawire.broker.groups.classic.settings import GroupSettings
from kafkawire.broker.groups.consumer.settings import ConsumerGroupSettings
from kafkawire.broker.groups.share.settings import ShareGroupSettings


def test_members_of_each_kind_of_groups_may_take_as_much_memory() -> None:
    """The deviation ``bounded-members``."""
    configuration = configuration_of()
    share = ShareGroupSettings(configuration, lambda _: {}).most_bytes
    consumer = ConsumerGroupSettings(configuration, lambda _: {}).most_bytes
    assert share == consumer == GroupSettings.of(configuration).most_bytes == 64 * 1024 * 1024


def test_the_defaults_are_those_of_apache_kafka() -> None:
    settings = ShareGroupSettings(configuration_of(), lambda _: {})
    assert (settings.most_members, settings.retry_ms) == (200, 30_000)
    assert [times("g") for times in (settings.session_ms, settings.heartbeat_ms, settings.assignment_ms)] == [
        45_000, 5000, 1000,
    ]  # fmt: skip
