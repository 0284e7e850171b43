"""Each deliberate deviation of the embedded broker is tested under its name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "broker-deviations.md"
ROWS = re.findall(r"^\| `([a-z0-9-]+)`", PAGE.read_text(), flags=re.MULTILINE)
TESTS = [
    name
    for kind in ("unit", "hostile", "interop")
    for file in (ROOT / "tests" / kind / "broker").rglob("test_*.py")
    for name in re.findall(r"^ *(?:async )?def (test_\w+)", file.read_text(), flags=re.MULTILINE)
]


def test_there_are_deviations() -> None:
    assert len(ROWS) == len(set(ROWS)) > 5


@pytest.mark.parametrize("row", ROWS)
def test_a_deviation_has_a_test_named_after_it(row: str) -> None:
    words = row.replace("-", "_")
    assert [name for name in TESTS if words in name]
