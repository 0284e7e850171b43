"""How often the emitted laws are put to the test."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

EMITTED = Path(__file__).parent / "protocol"
EXAMPLES = 5


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each emitted test fewer examples than a law written by hand: there are some 2 600 of them.

    Every run draws new ones, and what a profile asks for beyond the usual 100 is asked of them in proportion.
    """
    laws = {item.function for item in items if isinstance(item, pytest.Function) and item.path.parent == EMITTED}
    for law in laws:
        settings(max_examples=max(EXAMPLES, EXAMPLES * settings().max_examples // 100))(law)
