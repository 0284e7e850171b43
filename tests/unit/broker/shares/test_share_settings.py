"""The properties of share groups, as far as share partitions follow them."""

from __future__ import annotations

import pytest

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.shares.settings import ShareSettings, duration_ms


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
