"""Durations are those of ``java.time.Duration.parse`` of Java 17."""

from __future__ import annotations

import pytest

from kafkawire.model.configs.java_durations import java_duration

SECOND = 10**9
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("PT0S", 0),
        ("P2D", 2 * DAY),
        ("PT3H", 3 * HOUR),
        ("PT4M", 4 * MINUTE),
        ("PT5S", 5 * SECOND),
        ("P2DT3H4M5.067S", 2 * DAY + 3 * HOUR + 4 * MINUTE + 5_067_000_000),
        ("pt0.5s", SECOND // 2),
        ("PT1,5S", 3 * SECOND // 2),
        ("PT1.S", SECOND),
        ("PT1.0019999S", 1_001_999_900),
        ("PT0.000000001S", 1),
        ("+P+1DT+1H+1M+1.1S", DAY + HOUR + MINUTE + 1_100_000_000),
        ("PT1H-30M", 30 * MINUTE),
        ("PT-1H", -HOUR),
        ("-PT1H", -HOUR),
        ("-PT-1H", HOUR),
        ("-P-1DT2H", 22 * HOUR),
        ("PT1M-1.5S", 58_500_000_000),
        ("PT-0S", 0),
        ("PT-0.5S", -SECOND // 2),
        ("PT90M", 90 * MINUTE),
        ("P1Dt", DAY),
        ("PT2562047788015215H", 2562047788015215 * HOUR),
        ("P106751991167300DT15H30M7S", ((1 << 63) - 1) * SECOND),
        ("PT9223372036854775807.999999999S", (1 << 63) * SECOND - 1),
        ("PT-9223372036854775808S", -(1 << 63) * SECOND),
    ],
)
def test_durations(text: str, nanoseconds: int) -> None:
    assert java_duration(text) == nanoseconds


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "P",
            "PT",
            "P1DT",
            "p1dT",
            "Pt",
            "P1Y",
            "P1W",
            "1H",
            "PTH",
            "PT.5S",
            "PT1.-5S",
            "PT1.5000000001S",
            "P1H",
            "PT1D",
        ),
        *(" PT1H", "PT1H ", "PT1H\n", "P\u0661D", "PT1S1M", "--PT1H"),
        *("PT2562047788015216H", "P106751991167301D", "P106751991167300DT15H30M8S", "PT153722867280912931M"),
        *("PT9223372036854775808S", "PT-9223372036854775809S", "-PT-9223372036854775808S", "PT-9223372036854775808.1S"),
        "PT1M9223372036854775807S",
    ],
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        java_duration(text)
