"""The properties of share groups, as far as share partitions follow them."""

from __future__ import annotations

import pytest

from kafkawire.broker.shares.settings import duration_ms

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000


@pytest.mark.parametrize(
    ("duration", "ms"),
    [
        ("PT0S", 0),
        ("P2D", 2 * DAY),
        ("PT3H", 3 * HOUR),
        ("PT4M", 4 * MINUTE),
        ("PT5S", 5 * SECOND),
        ("P2DT3H4M5.067S", 2 * DAY + 3 * HOUR + 4 * MINUTE + 5 * SECOND + 67),
        ("pt0.5s", 500),
        ("PT1.0019999S", 1001),
        ("PT1.S", SECOND),
        ("+P+1DT+1H+1M+1.1S", DAY + HOUR + MINUTE + SECOND + 100),
        ("PT90M", 90 * MINUTE),
        ("PT100H", 100 * HOUR),
    ],
)
def test_durations_are_those_of_java(duration: str, ms: int) -> None:
    assert duration_ms(f"by_duration:{duration}") == ms


@pytest.mark.parametrize("reset", ["latest", "by_duration:", "by_duration:P1Y", "by_duration:PT1H ", "PT1H"])
def test_what_is_no_duration_is_refused(reset: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        duration_ms(reset)
