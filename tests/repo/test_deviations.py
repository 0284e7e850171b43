"""Each deliberate deviation from Apache Kafka is tested under the name of its rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES = re.findall(r"^\| `([a-z0-9-]+)`", (ROOT / "docs" / "deviations.md").read_text(), flags=re.MULTILINE)
TESTS = [
    name
    for kind in ("unit", "laws", "hostile")
    for package in ("wire", "records")
    for file in (ROOT / "tests" / kind / package).rglob("test_*.py")
    for name in re.findall(r"^(?:    )?def (test_\w+)", file.read_text(), flags=re.MULTILINE)
]


def test_there_are_deviations() -> None:
    assert len(RULES) == len(set(RULES)) > 10


@pytest.mark.parametrize("rule", RULES)
def test_a_deviation_has_a_test_named_after_its_rule(rule: str) -> None:
    words = rule.replace("-", "_")
    assert [name for name in TESTS if words in name]
