"""How often laws are put to the test that would take most of the time of all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

_LAWS = Path(__file__).parent

EXAMPLES = {
    _LAWS / "protocol": 5,  # some 2 600 emitted tests
    _LAWS / "wire" / "test_json_round_trip.py": 40,  # each value has a field of every type and kind
    _LAWS / "wire" / "test_reference_round_trip.py": 40,
}
"""File or folder to the number of examples that its laws are given instead of the usual 100."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give laws fewer examples where there are many laws, or where each example is large.

    Every run draws new ones, and what a profile asks for beyond the usual 100 is asked of them in proportion.
    """
    laws = {item.function: examples_of(item.path) for item in items if isinstance(item, pytest.Function)}
    for law, examples in laws.items():
        if examples is not None and hasattr(law, "hypothesis"):
            settings(max_examples=max(examples, examples * settings().max_examples // 100))(law)


def examples_of(file: Path) -> int | None:
    """The examples of the laws of a file; None where they have as many as usual."""
    return EXAMPLES.get(file, EXAMPLES.get(file.parent))
