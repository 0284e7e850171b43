"""The option that updates expected texts."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """``pytest tests/golden --update-golden``; known only if a folder of golden tests is named, hence the default."""
    parser.addoption("--update-golden", action="store_true", help="update the expected texts of golden tests")


@pytest.fixture(scope="session")
def update_golden(pytestconfig: pytest.Config) -> bool:
    """Whether to update expected texts."""
    return bool(pytestconfig.getoption("update_golden", default=False))
