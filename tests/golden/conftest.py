"""The switch that writes expected texts anew."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """``pytest tests/golden --update-golden``; given at the start of a run only, hence the guard in the tests."""
    parser.addoption("--update-golden", action="store_true", help="write the expected.txt of golden tests anew")
