"""One browser for all tests of pages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.chromium import Page, browser_program, opened_browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Page]:
    program = browser_program()
    with (
        tempfile.TemporaryDirectory(prefix="kafkawire-chromium-", ignore_cleanup_errors=True) as folder,
        opened_browser(program, Path(folder)) as page,
    ):
        yield page
