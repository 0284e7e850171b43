"""Hosts of any length and form; `tests/conformance/admin` compares ranges with Apache Kafka's parser."""

from __future__ import annotations

import pytest

from kafkawire.model.acls.hosts import is_range, is_within, meet

MANY = "9" * 5000
"""More digits than Python makes a number of."""


@pytest.mark.parametrize(
    "host",
    ["", "/", "*", "10.0.0.1", f"::1/{MANY}", f"{MANY}.0.0.1/8", f"10.0.0.0/{MANY}", f"{':' * 5000}/8", "٣.0.0.0/8"],
)
def test_other_texts_are_no_ranges(host: str) -> None:
    assert not is_range(host)
    assert not meet("10.0.0.2", host) or host == "*"


def test_zeros_in_front_count_for_nothing_where_kafka_takes_them() -> None:
    assert is_within("0:0:0:0:0:0:0:2", f"::1/+{'0' * 5000}64")
    assert is_within("10.0.0.2", "010.0.0.000/08")
    assert not is_range("10.0.0.0/008")
