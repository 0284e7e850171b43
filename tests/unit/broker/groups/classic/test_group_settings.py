"""The properties of classic groups."""

from __future__ import annotations

import pytest
from tests.embedded.configurations import configuration_of

from kafkawire.broker.groups.classic.settings import GroupSettings


def test_the_defaults_are_those_of_a_broker_without_properties() -> None:
    assert GroupSettings.of(configuration_of()) == GroupSettings()
    assert GroupSettings() == GroupSettings(
        initial_delay_ms=3000,
        session_ms=range(6000, 1_800_000 + 1),
        most_members=2_147_483_647,
        most_record_bytes=1_048_588,
        most_bytes=67_108_864,
        most_pending=10_000,
    )


@pytest.mark.parametrize(("lowest", "highest"), [(6000, 30_000), (7001, 30_001), (9, 9)])
def test_members_may_have_the_shortest_and_the_longest_session(lowest: int, highest: int) -> None:
    properties = {"group_min_session_timeout_ms": str(lowest), "group_max_session_timeout_ms": str(highest)}
    allowed = GroupSettings.of(configuration_of(**properties)).session_ms
    assert [each in allowed for each in (lowest - 1, lowest, highest, highest + 1)] == [False, True, True, False]
