"""The switch that writes expected texts anew."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """``pytest tests/golden --update-golden``; known only if a folder of golden tests is named, hence the default."""
    parser.addoption("--update-golden", action="store_true", help="write the expected texts of golden tests anew")


@pytest.fixture(scope="session")
def update_golden(pytestconfig: pytest.Config) -> bool:
    """Whether expected texts shall be written anew."""
    return bool(pytestconfig.getoption("update_golden", default=False))
